import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { describe, expect, test, vi } from "vitest";
import { createTrainingServer } from "./server.ts";

const secret = "s3cret";
vi.stubEnv("WEBHOOK_SECRET", secret);

const oldSha = "ce9a4674fa833a68d5a73ec355f0ea95eedd60b7";
const newSha = "575db8b7a51b6f85eb06eee540738584589f131c";

describe("The training server", () => {
  test("starts a training when a dataset is updated", async () => {
    const startTraining = vi.fn();
    const server = createTrainingServer(startTraining);
    const payload = webhookPayload("repo.content", { updatedRefs: [{ ref: "refs/heads/main", oldSha, newSha }] });

    const response = await server.request(deliveryRequest({ endpoint: "trigger_training", payload, secret }));

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ started: true, dataset: "acme/data", revision: newSha });
    expect(startTraining.mock.calls).toEqual([[{ dataset: "acme/data", revision: newSha }, expect.anything()]]);
  });

  test.each([
    ["a model", webhookPayload("repo.content", { repo: { type: "model", name: "acme/net" } })],
    ["a pull request", webhookPayload("repo.content", { updatedRefs: [{ ref: "refs/pr/1", oldSha: null, newSha }] })],
    ["another scope", webhookPayload("repo.config")],
  ])("ignores %s", async (_what, payload) => {
    const startTraining = vi.fn();
    const outcome = await createTrainingServer(startTraining).receive(payload);
    expect(outcome.status).toBe("ignored");
    expect(startTraining).not.toHaveBeenCalled();
  });

  test("starts no training on a deleted branch", async () => {
    const startTraining = vi.fn();
    const updatedRefs = [{ ref: "refs/heads/main", oldSha, newSha: null }];
    const outcome = await createTrainingServer(startTraining).receive(webhookPayload("repo.content", { updatedRefs }));
    expect(outcome).toMatchObject({ status: "succeeded", result: { started: false } });
    expect(startTraining).not.toHaveBeenCalled();
  });

  test("answers 500 when a training could not be started, so that the Hub retries", async () => {
    const server = createTrainingServer(() => Promise.reject(new Error("no machine is free")));
    const outcome = await server.receive(webhookPayload("repo.content"));
    expect(outcome).toMatchObject({ status: "failed", error: { status: 500 } });
  });
});
