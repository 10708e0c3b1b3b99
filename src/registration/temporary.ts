import { HubError, WebhookError } from "../core/errors.ts";
import { directFetch } from "../core/fetch.ts";
import { optionError } from "../core/options.ts";
import { isLoopbackHost } from "../core/urls.ts";
import { deleteWebhook, type ReconcileOptions, reconcileWebhooks } from "./reconcile.ts";
import type { RegistrationReport } from "./report.ts";
import {
  type ManagedWebhook,
  type PendingWebhook,
  RegistrationFile,
  type RegistrationSession,
  recordResolved,
  resolvePending,
} from "./state.ts";
import { type HubConnection, validatePublicUrl, validateSecret } from "./webhook.ts";

const aliveTimeoutMs = 5_000;

/**
 * Whether a session is still running. The URL of the session must return an unguessable answer, because another process
 * could use the same port.
 */
async function isRunning({ alive: { url, answer } }: RegistrationSession): Promise<boolean> {
  // Never send requests to other machines, because another user may have written the state file.
  if (!isOnThisMachine(url)) return false;
  const signal = AbortSignal.timeout(aliveTimeoutMs);
  try {
    const response = await directFetch(url, { redirect: "manual", signal });
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

interface StateFileOption {
  /** The path of the state file. Default `.hub-webhooks/registrations.json` in the working directory. */
  state?: string | undefined;
}

interface DeletedWebhook {
  readonly id: string;
  readonly endpoint: string;
  readonly url: string;
}

/** A webhook that could not be deleted. Its entry stays in the state file. */
export interface FailedDeletion {
  /** The ID of the webhook. Absent if the webhooks could not be listed. */
  readonly id?: string;
  readonly error: HubError;
}

interface DeleteOptions {
  client: HubConnection;
  /** Reports the webhooks without deleting them. Default `false`. */
  dryRun?: boolean;
  onFailed?: (failed: FailedDeletion) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Deletes the webhooks of the given sessions, including webhooks whose creation was interrupted. Webhooks that cannot
 * be deleted stay in the state file.
 *
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 */
async function deleteSessionWebhooks({
  client,
  file,
  sessionIds,
  dryRun = false,
  onFailed,
  signal,
}: DeleteOptions & { file: RegistrationFile; sessionIds: ReadonlySet<string> }): Promise<DeletedWebhook[]> {
  const isSelected = ({ session }: ManagedWebhook | PendingWebhook) =>
    session !== undefined && sessionIds.has(session.id);
  const recorded = file.read();
  const pending = recorded.pending.filter(isSelected);
  if (pending.length > 0) {
    const listed = await client.webhooks.list({ signal }).catch((error: unknown) => {
      requireHubError(error);
      onFailed?.({ error });
    });
    const resolved = listed ? resolvePending(pending, { state: recorded, listed, now: Date.now() }) : [];
    recordResolved(recorded, resolved);
    if (!dryRun && resolved.length > 0) await file.change((draft) => recordResolved(draft, resolved));
  }
  const deleted = await Promise.all(
    recorded.webhooks.filter(isSelected).map(async ({ id, endpoint, returned, written }) => {
      const webhook = { id, endpoint, url: returned?.url ?? written?.url ?? "" };
      try {
        if (!dryRun) await deleteWebhook(id, { client, file, signal });
        return [webhook];
      } catch (error) {
        requireHubError(error);
        onFailed?.({ id, error });
        return [];
      }
    }),
  );
  return deleted.flat();
}

/** @throws every error except a `HubError`, such as the signal's abort reason. */
function requireHubError(error: unknown): asserts error is HubError {
  if (!HubError.isInstance(error)) throw error;
}

/**
 * Deletes the temporary webhooks that ended sessions left behind on this Hub. Keeps webhooks of running sessions and
 * webhooks on other Hubs. Webhooks that cannot be deleted stay in the state file, and a later call can delete them.
 *
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 */
export async function deleteStaleWebhooks({
  state,
  ...options
}: DeleteOptions & StateFileOption): Promise<DeletedWebhook[]> {
  const file = new RegistrationFile({ path: state, hubUrl: options.client.hubUrl });
  const { webhooks, pending } = file.read();
  const sessions = new Map<string, RegistrationSession>();
  for (const { session } of [...webhooks, ...pending]) if (session) sessions.set(session.id, session);
  const stale = await Promise.all(
    [...sessions.values()].map(async (session) => ((await isRunning(session)) ? [] : [session.id])),
  );
  options.signal?.throwIfAborted();
  return deleteSessionWebhooks({ ...options, file, sessionIds: new Set(stale.flat()) });
}

/** The desired state of the webhooks of a server. An endpoint with an empty `watch` has no webhook. */
export interface ReconcileInput extends Pick<ReconcileOptions, "endpoints" | "publicUrl" | "signal"> {
  /** The secret of all webhooks, or `null` for no secret. */
  secret: string | null;
}

interface SessionContext extends Pick<ReconcileOptions, "client" | "file"> {
  session: RegistrationSession;
}

/**
 * Webhooks that exist only while a session is running. The state file records each webhook before its creation, so that
 * `deleteStaleWebhooks` can delete the webhook after a crash of the session. The user's other webhooks are not
 * changed.
 */
export class TemporaryWebhooks {
  readonly #context: SessionContext;
  /** The recorded webhooks, because the user can delete the state file. */
  #recorded: readonly ManagedWebhook[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor(context: SessionContext) {
    this.#context = context;
  }

  /**
   * Starts a session with an ID that is unique to this run, and checks that the state file is writable.
   *
   * @throws `STATE_UNUSABLE`; `OPTION_INVALID` if `alive.url` is not on this machine.
   */
  static async open({
    client,
    state,
    session: { id, alive },
  }: StateFileOption & { client: HubConnection; session: RegistrationSession }): Promise<TemporaryWebhooks> {
    if (id === "" || alive.answer === "" || !isOnThisMachine(alive.url)) {
      throw optionError(
        'The session is invalid. Set "id", and set "alive" to a URL on this machine and the expected response, such as { url: "http://127.0.0.1:7860/alive", answer: "…" }.',
      );
    }
    const file = new RegistrationFile({ path: state, hubUrl: client.hubUrl });
    await file.change(() => {});
    return new TemporaryWebhooks({ client, file, session: { id, alive } });
  }

  /**
   * Reconciles the webhooks of this session: creates, updates, and enables webhooks, and deletes the webhooks of
   * removed endpoints. Concurrent calls run one after the other.
   *
   * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` if the webhooks cannot be listed; `CLOSING` after {@link
   * close} was called; the signal's abort reason. Failures of single webhooks are in `failed` of the report.
   */
  reconcile({ endpoints, publicUrl, secret, signal }: ReconcileInput): Promise<RegistrationReport> {
    if (this.#closed) {
      const message = "The webhooks of this session were deleted. Start a new session.";
      return Promise.reject(new WebhookError(message, { code: "CLOSING" }));
    }
    const { client, file, session } = this.#context;
    return this.#enqueue(async () => {
      await this.#restoreFile();
      const report = await reconcileWebhooks({
        ...this.#context,
        prune: true,
        signal,
        endpoints,
        publicUrl: validatePublicUrl(publicUrl, { hubUrl: client.hubUrl }),
        // `null` removes existing secrets, because users do not set secrets of temporary webhooks on the Hub.
        secret: secret === null ? null : validateSecret(secret),
      });
      this.#recorded = file.read().webhooks.filter((webhook) => webhook.session?.id === session.id);
      return report;
    });
  }

  /**
   * Deletes the webhooks of this session. Safe to call twice.
   *
   * @throws `STATE_UNUSABLE`; an error with the code of the first `HubError` if some webhooks could not be deleted. All
   * deletions are tried first. The remaining webhooks stay in the state file.
   */
  close(): Promise<void> {
    this.#closed ??= this.#enqueue(() => this.#deleteAll());
    return this.#closed;
  }

  async #restoreFile(): Promise<void> {
    const { file } = this.#context;
    const { webhooks } = file.read();
    const missing = this.#recorded.filter((known) => !webhooks.some(({ id }) => id === known.id));
    if (missing.length > 0) await file.change((draft) => void draft.webhooks.push(...missing));
  }

  async #deleteAll(): Promise<void> {
    await this.#restoreFile();
    const { client, file, session } = this.#context;
    const failed: FailedDeletion[] = [];
    await deleteSessionWebhooks({
      client,
      file,
      sessionIds: new Set([session.id]),
      onFailed: (failure) => void failed.push(failure),
    });
    const [first] = failed;
    if (first === undefined) return;
    const ids = failed.map(({ id }) => id ?? "webhooks that are being created").join(", ");
    throw new WebhookError(
      `Some webhooks of this session could not be deleted (${ids}). The next session of hub-webhooks dev deletes these webhooks. To delete them now, run hub-webhooks sync --clean. ${first.error.message}`,
      { code: first.error.code, retryable: first.error.retryable, cause: first.error },
    );
  }

  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
