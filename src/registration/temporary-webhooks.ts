import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { HubConnection } from "./hub-connection.ts";
import { type ReconcileOptions, reconcileWebhooks } from "./reconcile-webhooks.ts";
import { RegistrationFile, type RegistrationSession } from "./registration-file.ts";
import { validateSession } from "./registration-session.ts";
import type { RegistrationReport } from "./report.ts";
import { deleteSessionWebhooks, type FailedDeletion } from "./session-webhooks.ts";
import { validatePublicUrl, validateSecret } from "./validate.ts";

export interface TemporaryWebhooksOptions {
  client: HubConnection;
  /** The path of the state file. Default `.hub-webhooks/registrations.json` in the working directory. */
  state?: string | undefined;
  /** The session that owns the webhooks, with an ID that is unique to this run. */
  session: RegistrationSession;
  /** Logs each step. */
  log?: Logger;
}

/** The desired state of the webhooks of a server. */
export interface ReconcileInput {
  /** The endpoints of the server. An endpoint with an empty `watch` has no webhook. */
  endpoints: ReconcileOptions["endpoints"];
  /** The public URL of the server. */
  publicUrl: string;
  /** The secret of all webhooks, or `null` for no secret. */
  secret: string | null;
}

/**
 * Webhooks that exist only while a session is running. The state file records each webhook before its creation, so that
 * `deleteStaleWebhooks` can delete the webhook after a crash of the session. The user's other webhooks are not
 * changed.
 *
 * @example
 * ```ts
 * const webhooks = await TemporaryWebhooks.open({ client, session: { id: randomUUID(), alive } });
 * await webhooks.reconcile({ endpoints: [{ name: "retrain", watch, domains: ["repo"] }], publicUrl: tunnel.url, secret });
 * await webhooks.close();
 * ```
 */
export class TemporaryWebhooks {
  readonly #client: HubConnection;
  readonly #file: RegistrationFile;
  readonly #session: RegistrationSession;
  readonly #log: Logger | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor({ client, state, session, log }: TemporaryWebhooksOptions) {
    this.#client = client;
    this.#file = new RegistrationFile({ path: state, hubUrl: client.hubUrl });
    this.#session = validateSession(session);
    this.#log = log;
  }

  /**
   * Starts a session, and checks that the state file is writable.
   *
   * @throws `STATE_UNUSABLE`; `OPTION_INVALID`.
   */
  static async open(options: TemporaryWebhooksOptions): Promise<TemporaryWebhooks> {
    const webhooks = new TemporaryWebhooks(options);
    await webhooks.#file.change(() => {});
    return webhooks;
  }

  /**
   * Reconciles the webhooks of this session: creates, updates, and enables webhooks, and deletes the webhooks of
   * removed endpoints. Concurrent calls run one after the other.
   *
   * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` if the webhooks cannot be listed; `CLOSING` after {@link
   * close} was called; the signal's abort reason. Failures of single webhooks are in `failed` of the report.
   */
  reconcile({
    endpoints,
    publicUrl,
    secret,
    signal,
  }: ReconcileInput & { signal?: AbortSignal | undefined }): Promise<RegistrationReport> {
    if (this.#closed) {
      const message = "The webhooks of this session were deleted. Start a new session.";
      return Promise.reject(new WebhookError(message, { code: "CLOSING" }));
    }
    return this.#enqueue(async () => {
      const report = await reconcileWebhooks({
        client: this.#client,
        file: this.#file,
        session: this.#session,
        prune: true,
        signal,
        endpoints,
        publicUrl: validatePublicUrl(publicUrl, { hubUrl: this.#client.hubUrl }),
        // `null` removes existing secrets, because users do not set secrets of temporary webhooks on the Hub.
        secret: secret === null ? null : validateSecret(secret),
      });
      for (const { action, endpoint, id } of report.done) this.#log?.info({ endpoint, webhook: id }, action);
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

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #deleteAll(): Promise<void> {
    const failed: FailedDeletion[] = [];
    const deleted = await deleteSessionWebhooks({
      client: this.#client,
      file: this.#file,
      sessionIds: new Set([this.#session.id]),
      onFailed: (failure) => void failed.push(failure),
    });
    for (const { id, endpoint } of deleted) this.#log?.info({ endpoint, webhook: id }, "delete");
    const [first] = failed;
    if (first === undefined) return;
    const ids = failed.map(({ id }) => id ?? "webhooks that are being created").join(", ");
    throw new WebhookError(
      `Some webhooks of this session could not be deleted (${ids}). The next session of hub-webhooks dev deletes these webhooks. To delete them now, run hub-webhooks sync --clean. ${first.error.message}`,
      { code: first.error.code, retryable: first.error.retryable, cause: first.error },
    );
  }

  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }
}
