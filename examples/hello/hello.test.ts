import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { deliver, registerWebhooks } from "./deliver.ts";
import { events } from "./events.ts";
import server from "./server.ts";

const secret = "s3cret";
vi.stubEnv("WEBHOOK_SECRET", secret);
vi.stubEnv("LOG_LEVEL", "silent");

describe("The hello server, registered on a local Hub", () => {
  let hub: LocalHub;
  let endpoints: ReadonlyMap<string, string>;

  beforeAll(async () => {
    hub = await LocalHub.launch();
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    endpoints = await registerWebhooks(new HubClient({ hubUrl: hub.url, token: "hf_local" }), { url, secret });
  });

  afterAll(async () => {
    await Promise.all([hub.close(), server.close()]);
  });

  test.each(events)(
    "answers $event.event.scope $event.event.action on $event.repo.name",
    async ({ event, answers }) => {
      const delivered = await deliver(hub, event, endpoints);
      expect(Object.fromEntries(delivered.map(({ endpoint, answer }) => [endpoint, answer]))).toEqual(answers);
      expect(delivered.map(({ status }) => status)).toEqual(delivered.map(() => 200));
    },
  );
});

describe("The hello server", () => {
  test("answers 200 to a push to another branch, and ignores it", async () => {
    const updatedRefs = [{ ref: "refs/pr/1", oldSha: null, newSha: "575db8b7a51b6f85eb06eee540738584589f131c" }];
    const payload = webhookPayload("repo.content", { updatedRefs });
    const response = await server.request(deliveryRequest({ endpoint: "retrain", payload, secret }));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ignored: "no updated ref is refs/heads/main" });
  });
});
