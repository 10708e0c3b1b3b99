import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { expect, test, vi } from "vitest";
import server from "./server.ts";

vi.stubEnv("WEBHOOK_SECRET", "s3cret");

const newSha = "575db8b7a51b6f85eb06eee540738584589f131c";
const updatedRefs = [{ ref: "refs/heads/main", oldSha: null, newSha }];

test("on_new_data sees a new revision of a dataset", async () => {
  const payload = webhookPayload("repo.content", { repo: { type: "dataset", name: "acme/data" }, updatedRefs });
  const outcome = await server.receive(payload, { endpoint: "on_new_data" });
  expect(outcome).toEqual({ status: "succeeded", result: { seen: "acme/data", revision: newSha } });
});

test("on_new_data ignores a model", async () => {
  const payload = webhookPayload("repo.content", { repo: { type: "model", name: "acme/net" }, updatedRefs });
  const outcome = await server.receive(payload, { endpoint: "on_new_data" });
  expect(outcome.status).toBe("ignored");
});

test("a delivery without the secret is rejected", async () => {
  const payload = webhookPayload("repo.content");
  const refused = await server.request(deliveryRequest({ endpoint: "on_new_data", payload }));
  expect(refused.status).toBe(401);
  const answered = await server.request(deliveryRequest({ endpoint: "on_new_data", payload, secret: "s3cret" }));
  expect(answered.status).toBe(200);
});
