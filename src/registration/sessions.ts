import { HubError } from "../core/errors.ts";
import type { HubConnection } from "./hub-connection.ts";
import { noteResolved, resolvePending } from "./pending.ts";
import { isAlive } from "./session.ts";
import type { KnownWebhook, PendingWebhook, RegistrationSession } from "./state.ts";
import { StateFile } from "./state-file.ts";
import { deleteWebhook } from "./step-runner.ts";

/** A webhook that was deleted. */
export interface RemovedWebhook {
  readonly id: string;
  /** Name of the endpoint that it was made for. */
  readonly endpoint: string;
  readonly url: string;
}

/** A webhook that could not be deleted, or, without an id, those of which the Hub did not tell. It stays noted. */
export interface FailedRemoval {
  readonly id?: string;
  readonly error: HubError;
}

/** What {@link cleanUpTemporary} needs. */
export interface CleanUpOptions {
  hub: HubConnection;
  /** Path of the state file. Default `.hub-webhooks/registrations.json` in the working directory. */
  state?: string | undefined;
  /** Deletes also those of sessions that still run. Default `false`. */
  force?: boolean;
  /** Only tells which would be deleted. Default `false`. */
  dryRun?: boolean;
  /** Told of each that could not be deleted. Default: nobody is. */
  onFailed?: (failed: FailedRemoval) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Deletes the webhooks that sessions have made for themselves and left behind, on this Hub. Those of a session that still
 * runs stay, and so do those on other Hubs; what cannot be deleted is kept for the next time.
 *
 * @throws `STATE_UNUSABLE`, and the reason of the signal.
 * @example
 * ```ts
 * const removed = await cleanUpTemporary({ hub: new HubClient() });
 * ```
 */
export async function cleanUpTemporary(options: CleanUpOptions): Promise<RemovedWebhook[]> {
  const { hub, force = false } = options;
  const state = new StateFile({ path: options.state, hub: hub.endpoint });
  const { webhooks, pending } = state.read();
  const sessions = new Map<string, RegistrationSession>();
  for (const { session } of [...webhooks, ...pending]) if (session) sessions.set(session.id, session);
  const over = await Promise.all(
    [...sessions.values()].map(async (session) => (force || !(await isAlive(session)) ? [session.id] : [])),
  );
  options.signal?.throwIfAborted();
  return removeSessions({ ...options, state, ids: new Set(over.flat()) });
}

/** Deletes the webhooks of these sessions, also those that were about to be made. */
export async function removeSessions({
  hub,
  state,
  ids,
  dryRun = false,
  onFailed,
  signal,
}: Omit<CleanUpOptions, "state" | "force"> & { state: StateFile; ids: ReadonlySet<string> }): Promise<
  RemovedWebhook[]
> {
  const isOver = ({ session }: KnownWebhook | PendingWebhook) => session !== undefined && ids.has(session.id);
  const noted = state.read();
  const pending = noted.pending.filter(isOver);
  if (pending.length > 0) {
    const listed = await hub.webhooks.list({ signal }).catch((error: unknown) => {
      const failed = { error: hubErrorIn(error) };
      onFailed?.(failed);
    });
    const resolved = listed ? resolvePending({ pending, state: noted, listed, now: Date.now() }) : [];
    noteResolved(noted, resolved);
    if (!dryRun && resolved.length > 0) await state.change((noting) => noteResolved(noting, resolved));
  }
  const removed = await Promise.all(
    noted.webhooks.filter(isOver).map(async ({ id, endpoint, answered, written }) => {
      const webhook = { id, endpoint, url: answered?.url ?? written?.url ?? "" };
      try {
        if (!dryRun) await deleteWebhook({ hub, state, signal }, id);
        return [webhook];
      } catch (error) {
        const failed = { id, error: hubErrorIn(error) };
        onFailed?.(failed);
        return [];
      }
    }),
  );
  return removed.flat();
}

/** @throws every other error, such as the reason of the signal. Not within `onFailed?.(…)`, which may not evaluate it. */
function hubErrorIn(error: unknown): HubError {
  if (HubError.isInstance(error)) return error;
  throw error;
}
