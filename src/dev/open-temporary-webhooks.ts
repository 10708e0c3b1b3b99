import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HubClient } from "../hub/client.ts";
import { deleteStaleWebhooks } from "../registration/stale-webhooks.ts";
import { TemporaryWebhooks } from "../registration/temporary-webhooks.ts";
import type { WebhookListeners } from "./session-webhooks.ts";

/**
 * Opens the temporary webhooks of a session, and returns the function that releases their state file. On the real Hub,
 * first deletes the webhooks that earlier sessions have left behind. A local Hub stops with the session, so its state file
 * is temporary too.
 *
 * @throws `STATE_UNUSABLE`, and the reason of the signal.
 */
export async function openTemporaryWebhooks({
  hub,
  isReal,
  state,
  alive,
  signal,
  onSteps,
  onProblem,
}: WebhookListeners & {
  hub: HubClient;
  /** Whether the Hub outlives the session. */
  isReal: boolean;
  state: string | undefined;
  /** How other sessions check whether this one is running. */
  alive: { url: string; answer: string };
  signal: AbortSignal;
}): Promise<{ webhooks: TemporaryWebhooks; release(): Promise<void> }> {
  const session = { id: randomUUID(), alive };
  if (!isReal) {
    const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-dev-"));
    const webhooks = await TemporaryWebhooks.open({ hub, state: join(folder, "registrations.json"), session });
    return { webhooks, release: () => rm(folder, { recursive: true, force: true }) };
  }
  const deleted = await deleteStaleWebhooks({ hub, state, signal, onFailed: ({ error }) => onProblem(error) });
  if (deleted.length > 0) {
    onSteps(deleted.map(({ id, endpoint }) => `deleted webhook ${id} of ${endpoint}, left by an earlier session`));
  }
  return { webhooks: await TemporaryWebhooks.open({ hub, state, session }), release: async () => {} };
}
