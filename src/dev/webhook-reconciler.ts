import { setTimeout } from "node:timers/promises";
import { messageOf } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { shareRun } from "../core/time.ts";
import { formatStep, type RegistrationReport } from "../registration/report.ts";
import type { ReconcileInput, TemporaryWebhooks } from "../registration/temporary.ts";

export interface WebhookListeners {
  onSteps: (steps: readonly string[]) => void;
  /** Called for each failure, and once for each different message about a skipped webhook. */
  onProblem: (problem: { code: string; message: string }) => void;
}

/** The last delay repeats. */
const retryDelaysMs = [2_000, 5_000, 15_000, 30_000];

/** Reconciles a session's webhooks with its endpoints, and retries after retryable failures. */
export class WebhookReconciler {
  readonly #webhooks: TemporaryWebhooks;
  readonly #listeners: WebhookListeners;
  readonly #wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly #closing = new AbortController();
  readonly #reportedSkips = new Set<string>();
  /** Starts to retry in the background, unless retries are already running. */
  readonly #retryLater = shareRun(() => this.#retry());
  #input: ReconcileInput | undefined;

  constructor({
    webhooks,
    wait = (delayMs, signal) => setTimeout(delayMs, undefined, { signal }),
    ...listeners
  }: WebhookListeners & {
    webhooks: TemporaryWebhooks;
    /** Waits before a retry, in tests. */
    wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
  }) {
    this.#webhooks = webhooks;
    this.#listeners = listeners;
    this.#wait = wait;
  }

  /**
   * Creates the webhooks, without passing them to `onSteps`. If only some webhooks fail, passes the failures to `onProblem`
   * and retries retryable failures in the background.
   *
   * @throws `HubError` if the webhooks cannot be listed or every webhook fails; `STATE_UNUSABLE`.
   */
  async start(input: ReconcileInput): Promise<void> {
    this.#input = input;
    const { failed, skipped } = await this.#webhooks.reconcile({ ...input, signal: this.#closing.signal });
    const [first] = failed;
    if (first && failed.length === input.endpoints.length) throw first.error;
    this.#report({ done: [], failed, skipped });
    if (failed.some(({ error }) => error.retryable)) void this.#retryLater();
  }

  /** Never rejects: passes failures to `onProblem`, and retries retryable failures in the background. */
  async update(input: ReconcileInput): Promise<void> {
    this.#input = input;
    await this.repair();
  }

  /** Reverts changes that others made to the webhooks. Handles failures like {@link update}. */
  async repair(): Promise<void> {
    if (this.#closing.signal.aborted || (await this.#reconcile())) return;
    void this.#retryLater();
  }

  /**
   * Deletes the webhooks, and passes a failure to `onProblem`. On the real Hub, the next session with the same state file
   * deletes webhooks that could not be deleted.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.#webhooks.close();
    } catch (error) {
      this.#listeners.onProblem(toWebhookError(error));
    }
  }

  async #retry(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const delayMs = retryDelaysMs[Math.min(attempt, retryDelaysMs.length - 1)] ?? 0;
      await this.#wait(delayMs, this.#closing.signal).catch(() => {});
      if (this.#closing.signal.aborted || (await this.#reconcile())) return;
    }
  }

  /** Resolves with `false` if a retry can succeed after a failure. */
  async #reconcile(): Promise<boolean> {
    if (!this.#input) return true;
    try {
      const report = await this.#webhooks.reconcile({ ...this.#input, signal: this.#closing.signal });
      this.#report(report);
      return !report.failed.some(({ error }) => error.retryable);
    } catch (error) {
      if (this.#closing.signal.aborted) return true;
      const problem = toWebhookError(error);
      this.#listeners.onProblem(problem);
      return !problem.retryable;
    }
  }

  #report({ done, failed, skipped }: Pick<RegistrationReport, "done" | "failed" | "skipped">): void {
    const { onSteps, onProblem } = this.#listeners;
    if (done.length > 0) onSteps(done.map(formatStep));
    for (const { error } of failed) onProblem(error);
    for (const { reason, message } of skipped) {
      if (this.#reportedSkips.has(message)) continue;
      this.#reportedSkips.add(message);
      onProblem({ code: reason, message });
    }
  }
}

function toWebhookError(error: unknown): WebhookError {
  if (WebhookError.isInstance(error)) return error;
  const message = `The webhooks of this session could not be changed (${messageOf(error)}). Restart the session.`;
  return new WebhookError(message, { code: "INTERNAL", cause: error });
}
