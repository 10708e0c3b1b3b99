import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HubClient } from "../hub/client.ts";
import { deleteStaleWebhooks, TemporaryWebhooks } from "../registration/temporary.ts";
import type { WebhookListeners } from "./webhook-reconciler.ts";

/**
 * Opens the state file for a session's temporary webhooks, without creating webhooks. On the real Hub, first deletes
 * webhooks that earlier sessions left behind. With a local Hub, which stops with the session, the state file is in a
 * temporary folder. `release` deletes this folder.
 *
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 */
export async function openWebhookState({
  client,
  isReal,
  state,
  alive,
  signal,
  onSteps,
  onProblem,
}: WebhookListeners & {
  client: HubClient;
  /** Whether the webhooks are on the real Hub, which keeps them after the session. */
  isReal: boolean;
  state: string | undefined;
  /** The URL that other sessions request to check whether this session is running, and the expected response. */
  alive: { url: string; answer: string };
  signal: AbortSignal;
}): Promise<{ webhooks: TemporaryWebhooks; release(): Promise<void> }> {
  const session = { id: randomUUID(), alive };
  if (!isReal) {
    const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-dev-"));
    const webhooks = await TemporaryWebhooks.open({ client, state: join(folder, "registrations.json"), session });
    return { webhooks, release: () => rm(folder, { recursive: true, force: true }) };
  }
  const deleted = await deleteStaleWebhooks({ client, state, signal, onFailed: ({ error }) => onProblem(error) });
  if (deleted.length > 0) {
    onSteps(deleted.map(({ id, endpoint }) => `deleted webhook ${id} of ${endpoint}, left by an earlier session`));
  }
  return { webhooks: await TemporaryWebhooks.open({ client, state, session }), release: async () => {} };
}
