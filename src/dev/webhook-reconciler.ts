import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import type { HubClient } from "../hub/client.ts";
import type { RegistrationReport } from "../registration/report.ts";
import { deleteStaleWebhooks } from "../registration/stale-webhooks.ts";
import { formatStep } from "../registration/step-text.ts";
import { type ReconcileInput, TemporaryWebhooks } from "../registration/temporary-webhooks.ts";

/** Listeners for changes to the webhooks of a session, and for failures. */
export interface WebhookListeners {
  /** Called with the completed steps as text. */
  onSteps: (steps: readonly string[]) => void;
  /** Called for each failure, and once for each skipped webhook. */
  onProblem: (problem: { code: string; message: string }) => void;
}

/** Reconciles the webhooks of a session with its endpoints, and retries if the Hub fails. */
export class WebhookReconciler {
  readonly #webhooks: TemporaryWebhooks;
  readonly #listeners: WebhookListeners;
  readonly #retryDelaysMs: readonly number[];
  readonly #closing = new AbortController();
  readonly #reportedSkips = new Set<string>();
  #input: ReconcileInput | undefined;
  #retrying: Promise<void> | undefined;

  /** @param options `retryDelaysMs` are the delays before retries. The last delay repeats. */
  constructor({
    webhooks,
    retryDelaysMs = [2_000, 5_000, 15_000, 30_000],
    ...listeners
  }: WebhookListeners & { webhooks: TemporaryWebhooks; retryDelaysMs?: readonly number[] }) {
    this.#webhooks = webhooks;
    this.#listeners = listeners;
    this.#retryDelaysMs = retryDelaysMs;
  }

  /**
   * Creates the webhooks. Does not report the creation as steps.
   *
   * @throws `HubError` if the Hub is not reachable or rejects every webhook. If the Hub rejects only some webhooks, the
   * failures are reported.
   */
  async start(input: ReconcileInput): Promise<void> {
    this.#input = input;
    const { failed, skipped } = await this.#webhooks.reconcile({ ...input, signal: this.#closing.signal });
    const [first] = failed;
    if (first && failed.length === input.endpoints.length) throw first.error;
    this.#report({ done: [], failed, skipped });
    if (failed.some(({ error }) => error.retryable)) this.#retryLater();
  }

  /** Updates the webhooks. Failures are reported and retried in the background. */
  async update(input: ReconcileInput): Promise<void> {
    this.#input = input;
    await this.repair();
  }

  /** Reverts changes to the webhooks that were not made by the session. */
  async repair(): Promise<void> {
    if (this.#closing.signal.aborted || (await this.#reconcile())) return;
    this.#retryLater();
  }

  /** Deletes the webhooks. Webhooks that cannot be deleted are deleted by the next session. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#retrying;
    try {
      await this.#webhooks.close();
    } catch (error) {
      this.#listeners.onProblem(toWebhookError(error));
    }
  }

  #retryLater(): void {
    this.#retrying ??= this.#retry().finally(() => {
      this.#retrying = undefined;
    });
  }

  async #retry(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const delayMs = this.#retryDelaysMs[Math.min(attempt, this.#retryDelaysMs.length - 1)];
      await wait(delayMs, undefined, { signal: this.#closing.signal }).catch(() => {});
      if (this.#closing.signal.aborted || (await this.#reconcile())) return;
    }
  }

  /** Reconciles the webhooks. Resolves with `true` if no retry is necessary. */
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

/**
 * Opens the state file of the temporary webhooks of a session, without creating a webhook. Returns the webhooks, and the
 * function that releases the state file. On the real Hub, deletes the webhooks that earlier sessions left behind. On a
 * local Hub, which stops with the session, the state file is temporary.
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
  /** A request that other sessions send to check whether this session is running. */
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

function toWebhookError(error: unknown): WebhookError {
  if (WebhookError.isInstance(error)) return error;
  const message = `The webhooks of this session cannot be updated (${messageOf(error)}). Restart the session.`;
  return new WebhookError(message, { code: "INTERNAL", cause: error });
}
