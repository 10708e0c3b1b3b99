import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import type { RegistrationReport } from "../registration/reconcile.ts";
import { stepText } from "../registration/step-text.ts";
import type { TemporaryEndpoint, TemporaryWebhooks } from "../registration/temporary-webhooks.ts";

/** What the webhooks of a session are to be. */
export interface WantedWebhooks {
  endpoints: readonly TemporaryEndpoint[];
  /** Where they deliver to, without a trailing slash. */
  baseUrl: string;
  /** `null`: the server asks for none. */
  secret: string | null;
}

/** What a {@link WebhookKeeper} needs. */
export interface WebhookKeeperOptions {
  webhooks: TemporaryWebhooks;
  /** Told of what was done, in words. */
  onSteps: (steps: readonly string[]) => void;
  /** Told of what fails, and, once, of what stands in the way. */
  onProblem: (problem: { code: string; message: string }) => void;
  /** The waits between tries, in milliseconds; the last one for good. Default 2, 5, 15 and 30 seconds. */
  retryAfterMs?: readonly number[];
}

/** Keeps the webhooks of a session as they are to be, and tries again where the Hub does not let it. */
export class WebhookKeeper {
  readonly #options: WebhookKeeperOptions;
  readonly #closing = new AbortController();
  readonly #toldLeft = new Set<string>();
  #wanted: WantedWebhooks | undefined;
  #retrying: Promise<void> | undefined;

  constructor(options: WebhookKeeperOptions) {
    this.#options = options;
  }

  /**
   * Brings the webhooks in step for the first time. What was done is not told: all of it is new.
   *
   * @throws `HubError` when the Hub cannot be asked, or refuses every one of them; what it refuses of several is told.
   */
  async begin(wanted: WantedWebhooks): Promise<void> {
    this.#wanted = wanted;
    const { failed, left } = await this.#options.webhooks.sync({ ...wanted, signal: this.#closing.signal });
    const [first] = failed;
    if (first && failed.length === wanted.endpoints.length) throw first.error;
    this.#tell({ done: [], failed, left });
    if (failed.some(({ error }) => error.retryable)) this.#retryLater();
  }

  /** Brings the webhooks in step. What fails is told, and tried again in the background. */
  async keep(wanted: WantedWebhooks): Promise<void> {
    this.#wanted = wanted;
    await this.repair();
  }

  /** Looks whether the webhooks are still what they are to be, and mends them. */
  async repair(): Promise<void> {
    if (this.#closing.signal.aborted || (await this.#sync())) return;
    this.#retryLater();
  }

  /** Deletes the webhooks of the session. Those that cannot be deleted now are at the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#retrying;
    try {
      await this.#options.webhooks.close();
    } catch (error) {
      this.#options.onProblem(asWebhookError(error));
    }
  }

  #retryLater(): void {
    this.#retrying ??= this.#retry().finally(() => {
      this.#retrying = undefined;
    });
  }

  async #retry(): Promise<void> {
    const { retryAfterMs = [2_000, 5_000, 15_000, 30_000] } = this.#options;
    for (let tries = 0; ; tries += 1) {
      const ms = retryAfterMs[Math.min(tries, retryAfterMs.length - 1)];
      await wait(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
      if (this.#closing.signal.aborted || (await this.#sync())) return;
    }
  }

  /** Whether all of it is as wanted now. */
  async #sync(): Promise<boolean> {
    if (!this.#wanted) return true;
    try {
      const report = await this.#options.webhooks.sync({ ...this.#wanted, signal: this.#closing.signal });
      this.#tell(report);
      return !report.failed.some(({ error }) => error.retryable);
    } catch (error) {
      const problem = asWebhookError(error);
      // Closed meanwhile: there is nothing left to keep.
      if (this.#closing.signal.aborted) return true;
      this.#options.onProblem(problem);
      return !problem.retryable;
    }
  }

  #tell({ done, failed, left }: Pick<RegistrationReport, "done" | "failed" | "left">): void {
    const { onSteps, onProblem } = this.#options;
    if (done.length > 0) onSteps(done.map(stepText));
    for (const { error } of failed) onProblem(error);
    for (const { reason, message } of left) {
      if (this.#toldLeft.has(message)) continue;
      this.#toldLeft.add(message);
      onProblem({ code: reason, message });
    }
  }
}

function asWebhookError(error: unknown): WebhookError {
  if (WebhookError.isInstance(error)) return error;
  const reason = messageOf(error);
  return new WebhookError(`The webhooks of this session cannot be looked after (${reason}): start the session again.`, {
    code: "INTERNAL",
    cause: error,
  });
}
