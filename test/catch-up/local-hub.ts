import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished } from "vitest";
import { HubClient } from "../../src/client.ts";
import { openInbox } from "../../src/inbox/open-inbox.ts";
import { LocalHub } from "../../src/local-hub.ts";
import { serverControl } from "../../src/receiver/control.ts";
import type { WebhooksServer } from "../../src/receiver/server.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

export const secret = "a-secret-of-the-test";
export let hub: LocalHub;
export let client: HubClient;
/** The URL of an inbox in a file, which is empty at first. */
export let inbox: string;

/** Gives each test a local Hub and an inbox. */
export function useLocalHub(prepare: () => unknown): void {
  beforeEach(async () => {
    hub = await LocalHub.launch();
    client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    inbox = `sqlite:${join(createFolder(), "inbox.db")}`;
    await prepare();
  });
  afterEach(() => hub.close());
}

export async function hubCall(method: "POST" | "PUT" | "DELETE", path: string, body: object = {}): Promise<void> {
  const response = await client.fetch(path, { method, body: JSON.stringify(body) });
  await response.body?.cancel();
}

/** Opens the inbox of the test, and closes it after the test. */
export async function openOwnInbox(now = Date.now) {
  const opened = await openInbox({ url: inbox, log: createMemoryLogger(), now });
  onTestFinished(async () => void (await opened.close(0)));
  const { cursors } = opened;
  if (!cursors) throw new Error("The inbox keeps no cursors.");
  return { opened, cursors };
}

/** Delivers a payload to the endpoint `bot`. */
export function deliver(server: WebhooksServer, payload: object, id: string): Promise<Response> {
  const headers = { "content-type": "application/json", "x-webhook-secret": secret, "webhook-id": id };
  return server.request("/webhooks/bot", { method: "POST", headers, body: JSON.stringify(payload) });
}

/** Waits until the handler of `bot` has run for everything in the inbox. */
export async function settled(server: WebhooksServer): Promise<void> {
  await waitFor(
    async () => {
      const { bot } = await server.inbox.counts();
      expect((bot?.queued ?? 0) + (bot?.running ?? 0)).toBe(0);
    },
    { interval: 5 },
  );
}

/** Compares once, and waits until the handler has run for everything that was derived. */
export async function catchUp(server: WebhooksServer, options: { dryRun?: boolean; since?: Date | "all" } = {}) {
  const reports = await server[serverControl].catchUp({ signal: AbortSignal.timeout(20_000), ...options });
  const report = reports.get("bot");
  if (!report) throw new Error("The endpoint was not compared.");
  await settled(server);
  return report;
}
