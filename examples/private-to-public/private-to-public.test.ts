import type { Logger } from "hub-webhooks";
import { HubClient } from "hub-webhooks/client";
import { LocalHub } from "hub-webhooks/local-hub";
import { settled } from "hub-webhooks/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createServer, type OpenDiscussion } from "./server.ts";

const logged: unknown[] = [];
const record = (...line: unknown[]) => void logged.push(line.at(-1));
const logger: Logger = { debug: record, info: record, warn: record, error: record, child: () => logger };

const data = { type: "dataset", name: "acme/data" } as const;
const openDiscussion = vi.fn<OpenDiscussion>();
const secret = "s3cret";
const server = createServer(openDiscussion, { secret, logger });

let hub: LocalHub;
let client: HubClient;

beforeAll(async () => {
  hub = await LocalHub.launch();
  client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
  const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
  await client.webhooks.create({
    ...{ url: `${url}/webhooks/private_to_public`, secret },
    ...{ watched: [{ type: "org", name: "acme" }], domains: ["repo", "discussion"] },
  });
});
afterAll(() => Promise.all([hub.close(), server.close()]));
beforeEach(() => {
  logged.length = 0;
  openDiscussion.mockReset().mockResolvedValue();
});

function configure(updatedConfig: Record<string, unknown>, repo: { type: "dataset" | "model"; name: string } = data) {
  return hub.trigger({ repo, event: { scope: "repo.config", action: "update" }, updatedConfig });
}

describe("private-to-public", () => {
  test("posts a checklist when a repository becomes public", async () => {
    const [delivery] = await configure({ private: false });
    await settled(server);
    expect(delivery?.status).toBe(202);
    expect(openDiscussion.mock.calls).toEqual([
      [
        data,
        {
          title: "This repository is public now",
          text: expect.stringContaining("- [ ] The data contains no personal data"),
        },
        expect.anything(),
      ],
    ]);
  });

  test("has an item about the sources of a model", async () => {
    await configure({ private: false }, { type: "model", name: "acme/net" });
    await settled(server);
    expect(openDiscussion.mock.calls[0]?.[1].text).toContain("- [ ] The licenses of the sources");
  });

  test.each([
    ["made private", { private: true }],
    ["changed without details", {}],
    ["changed in another way", { gated: false }],
  ])("skips a repository that was %s", async (_change, updatedConfig) => {
    const [delivery] = await configure(updatedConfig);
    await settled(server);
    expect(logged).toContain("Skipped: not made public.");
    expect(delivery?.status).toBe(202);
    expect(openDiscussion).not.toHaveBeenCalled();
  });

  test.each([
    ["a push", { scope: "repo.content", action: "update" }],
    ["a new repository", { scope: "repo", action: "create" }],
    ["a discussion", { scope: "discussion", action: "create" }],
  ])("ignores %s", async (_event, event) => {
    const [delivery] = await hub.trigger({ repo: data, event });
    expect(delivery?.status).toBe(200);
    expect(delivery?.answer).toContain("ignored");
    expect(openDiscussion).not.toHaveBeenCalled();
  });

  test("posts once when the Hub sends a delivery again", async () => {
    const [delivery] = await configure({ private: false });
    await settled(server);
    await client.webhooks.replay(delivery?.webhookId ?? "", delivery?.logId ?? "");
    await settled(server);
    const [again] = hub.deliveries(delivery?.webhookId ?? "");
    expect(again?.response?.body).toContain('"duplicate":true');
    expect(openDiscussion).toHaveBeenCalledOnce();
  });

  test("retries a checklist that could not be posted", async () => {
    openDiscussion.mockRejectedValueOnce(new Error("503"));
    const [delivery] = await configure({ private: false });
    await settled(server);
    expect(openDiscussion).toHaveBeenCalledTimes(2);
    const stored = await server.inbox.get(delivery?.deliveryId ?? "");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
  });
});
