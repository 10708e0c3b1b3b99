import type { HubConnection } from "./hub-connection.ts";
import { RegistrationFile, type RegistrationSession } from "./registration-file.ts";
import { isRunning } from "./registration-session.ts";
import { type DeletedWebhook, deleteSessionWebhooks, type FailedDeletion } from "./session-webhooks.ts";

export interface DeleteStaleOptions {
  client: HubConnection;
  /** The path of the state file. Default `.hub-webhooks/registrations.json` in the working directory. */
  state?: string | undefined;
  /** Also deletes the webhooks of running sessions. Default `false`. */
  force?: boolean;
  /** Reports the webhooks without deleting them. Default `false`. */
  dryRun?: boolean;
  /** Called for each webhook that could not be deleted. */
  onFailed?: (failed: FailedDeletion) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Deletes the temporary webhooks that ended sessions left behind on this Hub. Keeps webhooks of running sessions and
 * webhooks on other Hubs. Webhooks that cannot be deleted stay in the state file, and a later call can delete them.
 *
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 * @example
 * ```ts
 * const deleted = await deleteStaleWebhooks({ client: new HubClient() });
 * ```
 */
export async function deleteStaleWebhooks(options: DeleteStaleOptions): Promise<DeletedWebhook[]> {
  const { client, force = false } = options;
  const file = new RegistrationFile({ path: options.state, hubUrl: client.hubUrl });
  const { webhooks, pending } = file.read();
  const sessions = new Map<string, RegistrationSession>();
  for (const { session } of [...webhooks, ...pending]) if (session) sessions.set(session.id, session);
  const stale = await Promise.all(
    [...sessions.values()].map(async (session) => (force || !(await isRunning(session)) ? [session.id] : [])),
  );
  options.signal?.throwIfAborted();
  return deleteSessionWebhooks({ ...options, file, sessionIds: new Set(stale.flat()) });
}
