import { HubError } from "../core/errors.ts";
import { isLoopbackHost } from "../core/loopback.ts";
import { optionError } from "../core/option-error.ts";
import { deleteWebhook } from "./apply.ts";
import { recordResolved, resolvePending } from "./pending.ts";
import type { HubConnection } from "./register-options.ts";
import {
  type ManagedWebhook,
  type PendingWebhook,
  RegistrationFile,
  type RegistrationSession,
} from "./registration-file.ts";

/** How long a running session, which is on this machine, may take to answer, in milliseconds. */
const aliveTimeoutMs = 5_000;

/** A webhook that was deleted. */
export interface DeletedWebhook {
  readonly id: string;
  /** The name of the webhook's endpoint. */
  readonly endpoint: string;
  readonly url: string;
}

/** A webhook that could not be deleted. Its entry stays in the state file. */
export interface FailedDeletion {
  /** The ID of the webhook. Absent if the webhooks could not be listed. */
  readonly id?: string;
  readonly error: HubError;
}

export interface DeleteStaleOptions {
  client: HubConnection;
  /** Path of the state file. Default `.hub-webhooks/registrations.json` in the working directory. */
  state?: string | undefined;
  /** Also deletes the webhooks of running sessions. Default `false`. */
  force?: boolean;
  /** Reports the webhooks without deleting them. Default `false`. */
  dryRun?: boolean;
  /** Receives each webhook that could not be deleted. */
  onFailed?: (failed: FailedDeletion) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Deletes the temporary webhooks that sessions have left behind on this Hub. Keeps webhooks of running sessions and
 * webhooks on other Hubs. Webhooks that cannot be deleted stay in the state file, so that a later call can delete them.
 *
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 * @example
 * ```ts
 * const deleted = await deleteStaleWebhooks({ hub: new HubClient() });
 * ```
 */
export async function deleteStaleWebhooks(options: DeleteStaleOptions): Promise<DeletedWebhook[]> {
  const { client, force = false } = options;
  const state = new RegistrationFile({ path: options.state, hubUrl: client.hubUrl });
  const { webhooks, pending } = state.read();
  const sessions = new Map<string, RegistrationSession>();
  for (const { session } of [...webhooks, ...pending]) if (session) sessions.set(session.id, session);
  const stale = await Promise.all(
    [...sessions.values()].map(async (session) => (force || !(await isRunning(session)) ? [session.id] : [])),
  );
  options.signal?.throwIfAborted();
  return deleteSessionWebhooks({ ...options, state, sessionIds: new Set(stale.flat()) });
}

/** Deletes the webhooks of these sessions, including those whose creation was interrupted. */
export async function deleteSessionWebhooks({
  client,
  state,
  sessionIds,
  dryRun = false,
  onFailed,
  signal,
}: Omit<DeleteStaleOptions, "state" | "force"> & { state: RegistrationFile; sessionIds: ReadonlySet<string> }): Promise<
  DeletedWebhook[]
> {
  const isSelected = ({ session }: ManagedWebhook | PendingWebhook) =>
    session !== undefined && sessionIds.has(session.id);
  const recorded = state.read();
  const pending = recorded.pending.filter(isSelected);
  if (pending.length > 0) {
    const listed = await client.webhooks.list({ signal }).catch((error: unknown) => {
      // Not inside `onFailed?.(…)`, whose argument is not evaluated without a listener.
      const failed = { error: requireHubError(error) };
      onFailed?.(failed);
    });
    const resolved = listed ? resolvePending({ pending, state: recorded, listed, now: Date.now() }) : [];
    recordResolved(recorded, resolved);
    if (!dryRun && resolved.length > 0) await state.change((draft) => recordResolved(draft, resolved));
  }
  const deleted = await Promise.all(
    recorded.webhooks.filter(isSelected).map(async ({ id, endpoint, returned, written }) => {
      const webhook = { id, endpoint, url: returned?.url ?? written?.url ?? "" };
      try {
        if (!dryRun) await deleteWebhook(id, { client, state, signal });
        return [webhook];
      } catch (error) {
        const failed = { id, error: requireHubError(error) };
        onFailed?.(failed);
        return [];
      }
    }),
  );
  return deleted.flat();
}

/** Returns a `HubError`, and throws every other error, such as the signal's abort reason. */
function requireHubError(error: unknown): HubError {
  if (HubError.isInstance(error)) return error;
  throw error;
}

/**
 * Validates a session before it is recorded.
 *
 * @throws `OPTION_INVALID` if its `alive.url` is not on this machine.
 */
export function validateSession({ id, alive }: RegistrationSession): RegistrationSession {
  if (id !== "" && alive.answer !== "" && isOnThisMachine(alive.url)) return { id, alive };
  throw optionError(
    'The session is invalid. Set its "id", and set "alive" to a URL on this machine and the expected response, such as { url: "http://127.0.0.1:7860/alive", answer: "…" }.',
  );
}

/**
 * Whether a session is still running. The URL of the session must return its unguessable answer, because another
 * process may have taken over the process ID or the port.
 */
async function isRunning({ alive: { url, answer } }: RegistrationSession): Promise<boolean> {
  // Another user may have written the state file, so it must not cause requests to other machines.
  if (!isOnThisMachine(url)) return false;
  const signal = AbortSignal.timeout(aliveTimeoutMs);
  try {
    const response = await fetch(url, { redirect: "manual", signal });
    return response.ok && (await hasBody(response, answer));
  } catch {
    return false;
  }
}

/** Whether a body consists of this text. Reads no more than necessary. */
async function hasBody({ body }: Response, text: string): Promise<boolean> {
  const expected = Buffer.from(text);
  let read = Buffer.alloc(0);
  for await (const chunk of body ?? []) {
    read = Buffer.concat([read, chunk]);
    if (read.length > expected.length) return false;
  }
  return read.equals(expected);
}

function isOnThisMachine(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && url.protocol === "http:" && isLoopbackHost(url.hostname);
}
