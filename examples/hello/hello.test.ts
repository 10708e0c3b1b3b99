import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { deliver, registerWebhooks } from "./deliver.ts";
import { events } from "./events.ts";
import { cards, commitCard, createDataset } from "./review.ts";
import server from "./server.ts";

const secret = "s3cret";
vi.stubEnv("WEBHOOK_SECRET", secret);
vi.stubEnv("LOG_LEVEL", "silent");

describe("The hello server, registered on a local Hub", () => {
  let hub: LocalHub;
  let client: HubClient;
  let endpoints: ReadonlyMap<string, string>;

  beforeAll(async () => {
    hub = await LocalHub.launch();
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    // Not stubbed, because stubs end before each test, and the bot reads these at its first call.
    Object.assign(process.env, { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });
    endpoints = await registerWebhooks(client, { url, secret });
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

  test("reviews each card in one discussion, and closes it when the card has a license", async () => {
    await createDataset(hub);
    for (const { commit, expected } of cards) {
      expect(await commitCard(hub, client, commit)).toEqual([{ num: 1, title: "Card review", ...expected }]);
    }
  });
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
