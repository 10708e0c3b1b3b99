import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import type { WatchedThing, WebhookDomain } from "../payload/watch.ts";
import type { HubConnection } from "./hub-connection.ts";
import { bringInStep, type RegistrationReport } from "./reconcile.ts";
import { checkSession } from "./session.ts";
import { type FailedRemoval, removeSessions } from "./sessions.ts";
import type { RegistrationSession } from "./state.ts";
import { StateFile } from "./state-file.ts";
import { checkBaseUrl, checkSecret } from "./validate.ts";

export { cleanUpTemporary } from "./sessions.ts";
export type { RegistrationSession } from "./state.ts";

/** An endpoint that is to have a webhook for as long as the session lasts. */
export interface TemporaryEndpoint {
  readonly name: string;
  readonly watched: readonly WatchedThing[];
  readonly domains: readonly WebhookDomain[];
}

/** What the webhooks of a session are to be. */
export interface TemporaryWish {
  endpoints: readonly TemporaryEndpoint[];
  /** The public address of the server. */
  baseUrl: string;
  /** The secret of each webhook; `null` or `undefined` for none. */
  secret: string | null | undefined;
  signal?: AbortSignal | undefined;
}

/** How to make webhooks for a while. */
export interface TemporaryWebhooksOptions {
  hub: HubConnection;
  /** Path of the state file. Default `.hub-webhooks/registrations.json` in the working directory. */
  state?: string | undefined;
  /** Whose webhooks they are: unique to this run. A GET of `alive.url`, on this machine, answers `alive.answer`. */
  session: RegistrationSession;
  /** Told of what was done. Default: nobody is. */
  log?: Logger;
}

/**
 * Webhooks that live as long as a session. Each is noted in the state file before it is made, so that it is found and
 * deleted later on ({@link cleanUpTemporary}) where the session cannot do so any more. Those of the user are not touched.
 *
 * @example
 * ```ts
 * const webhooks = await TemporaryWebhooks.open({ hub, session: { id: randomUUID(), alive } });
 * await webhooks.sync({ endpoints: [{ name: "retrain", watched, domains: ["repo"] }], baseUrl: tunnel.url, secret });
 * await webhooks.close();
 * ```
 */
export class TemporaryWebhooks {
  readonly #hub: HubConnection;
  readonly #state: StateFile;
  readonly #session: RegistrationSession;
  readonly #log: Logger | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor({ hub, state, session, log }: TemporaryWebhooksOptions) {
    this.#hub = hub;
    this.#state = new StateFile({ path: state, hub: hub.endpoint });
    this.#session = checkSession(session);
    this.#log = log;
  }

  /**
   * Begins a session, and finds out whether its webhooks can be noted.
   *
   * @throws `STATE_UNUSABLE`; `OPTION_INVALID`.
   */
  static async open(options: TemporaryWebhooksOptions): Promise<TemporaryWebhooks> {
    const webhooks = new TemporaryWebhooks(options);
    await webhooks.#state.change(() => {});
    return webhooks;
  }

  /**
   * Brings the webhooks of this session in step: makes what is missing, updates what differs, enables what is suspended
   * and deletes what is of an endpoint that is gone. One call is worked on after the other.
   *
   * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` when the webhooks cannot even be listed; `CLOSING` once it is
   * closed; the reason of the signal. What fails for one webhook is in `failed` of the report.
   */
  sync({ endpoints, baseUrl, secret, signal }: TemporaryWish): Promise<RegistrationReport> {
    if (this.#closed) {
      const message = "The webhooks of this session are deleted: open another session.";
      return Promise.reject(new WebhookError(message, { code: "CLOSING" }));
    }
    return this.#inTurn(async () => {
      const report = await bringInStep({
        ...{ hub: this.#hub, state: this.#state, session: this.#session, prune: true, signal },
        endpoints: endpoints.map(({ name, watched, domains }) => ({ name, watch: watched, domains })),
        baseUrl: checkBaseUrl(baseUrl, { hub: this.#hub.endpoint }),
        secret: checkSecret(secret ?? undefined),
        // They belong to the session alone: what it wants is what they have.
        removeSecret: (secret ?? undefined) === undefined,
      });
      for (const { action, endpoint, id } of report.done) this.#log?.info({ endpoint, webhook: id }, action);
      return report;
    });
  }

  /**
   * Deletes the webhooks of this session; safe to call twice.
   *
   * @throws the error of the Hub, once all were tried, when some could not be deleted: they stay noted, for
   * {@link cleanUpTemporary}. `STATE_UNUSABLE`.
   */
  close(): Promise<void> {
    this.#closed ??= this.#inTurn(() => this.#remove());
    return this.#closed;
  }

  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #remove(): Promise<void> {
    const failed: FailedRemoval[] = [];
    const removed = await removeSessions({
      ...{ hub: this.#hub, state: this.#state, ids: new Set([this.#session.id]) },
      onFailed: (failure) => void failed.push(failure),
    });
    for (const { id, endpoint } of removed) this.#log?.info({ endpoint, webhook: id }, "delete");
    const [first] = failed;
    if (first === undefined) return;
    const which = failed.map(({ id }) => id ?? "those under way").join(", ");
    throw new WebhookError(
      `Not every webhook of this session could be deleted (${which}). They are noted, and deleted at the next start of hub-webhooks dev, or by hub-webhooks sync --clean. ${first.error.message}`,
      { code: first.error.code, retryable: first.error.retryable, cause: first.error },
    );
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => {});
    return done;
  }
}
