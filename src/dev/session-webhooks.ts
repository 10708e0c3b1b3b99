import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HubClient } from "../hub/client.ts";
import { cleanUpTemporary, TemporaryWebhooks } from "../registration/temporary-webhooks.ts";

/** What {@link openSessionWebhooks} needs. */
export interface SessionWebhooksOptions {
  hub: HubClient;
  /** Whether the Hub outlives the session, and with it what the session leaves behind. */
  isReal: boolean;
  state: string | undefined;
  /** How others find out whether the session still runs. */
  alive: { url: string; answer: string };
  signal: AbortSignal;
  /** Told, in words, of what earlier sessions had left behind and is deleted now. */
  onSteps: (steps: readonly string[]) => void;
  onProblem: (problem: { code: string; message: string }) => void;
}

/** The webhooks of a session, with the way to let go of the file in which they are noted. */
export interface SessionWebhooks {
  webhooks: TemporaryWebhooks;
  release(): Promise<void>;
}

/**
 * Begins to keep the webhooks of a session. On the real Hub what earlier ones have left behind is deleted first; of a Hub
 * that ends with the session nothing needs to be known later on, so that it is noted in a passing file.
 *
 * @throws `STATE_UNUSABLE`, and the reason of the signal.
 */
export async function openSessionWebhooks(options: SessionWebhooksOptions): Promise<SessionWebhooks> {
  const { hub, isReal, state, alive, signal, onSteps, onProblem } = options;
  const session = { id: randomUUID(), alive };
  if (!isReal) {
    const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-dev-"));
    const webhooks = await TemporaryWebhooks.open({ hub, state: join(folder, "registrations.json"), session });
    return { webhooks, release: () => rm(folder, { recursive: true, force: true }) };
  }
  const removed = await cleanUpTemporary({ hub, state, signal, onFailed: ({ error }) => onProblem(error) });
  if (removed.length > 0) {
    onSteps(removed.map(({ id, endpoint }) => `deleted webhook ${id} of ${endpoint}, left by an earlier session`));
  }
  return { webhooks: await TemporaryWebhooks.open({ hub, state, session }), release: async () => {} };
}
