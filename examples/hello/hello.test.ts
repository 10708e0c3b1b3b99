import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { describe, expect, test, vi } from "vitest";
import { deliveries } from "./deliveries.ts";
import server from "./server.ts";

const secret = "s3cret";
vi.stubEnv("WEBHOOK_SECRET", secret);

describe("The hello server", () => {
  test.each(deliveries)("answers a delivery of $title", async ({ endpoint, payload, answer }) => {
    expect(await server.receive(payload, { endpoint })).toEqual({ status: "succeeded", result: answer });
  });

  test("ignores another ref than the main branch, with a 200", async () => {
    const updatedRefs = [{ ref: "refs/pr/1", oldSha: null, newSha: "575db8b7a51b6f85eb06eee540738584589f131c" }];
    const payload = webhookPayload("repo.content", { updatedRefs });
    const response = await server.request(deliveryRequest({ endpoint: "retrain", payload, secret }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ignored: "no updated ref is refs/heads/main" });
  });
});
