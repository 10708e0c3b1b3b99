import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";
import type { HubClient } from "../hub/client.ts";
import type { FieldChange, RegistrationReport, RegistrationStep } from "../registration/report.ts";
import { deleteStaleWebhooks } from "../registration/stale-webhooks.ts";
import { type TemporaryEndpoint, TemporaryWebhooks } from "../registration/temporary-webhooks.ts";
import { formatWatched } from "../registration/webhook-fields.ts";

/** The webhooks that a session needs. */
export interface DesiredWebhooks {
  endpoints: readonly TemporaryEndpoint[];
  /** The public address of the server, without a trailing slash. */
  baseUrl: string;
  /** `null` if the server requires no secret. */
  secret: string | null;
}

/** Receives what happens to the webhooks of a session. */
export interface WebhookListeners {
  /** Receives the completed steps as text. */
  onSteps: (steps: readonly string[]) => void;
  /** Receives each failure, and each skipped webhook once. */
  onProblem: (problem: { code: string; message: string }) => void;
}

/** Keeps the webhooks of a session in sync, and retries if the Hub fails. */
export class WebhookReconciler {
  readonly #webhooks: TemporaryWebhooks;
  readonly #listeners: WebhookListeners;
  readonly #retryDelaysMs: readonly number[];
  readonly #closing = new AbortController();
  readonly #reportedSkips = new Set<string>();
  #desired: DesiredWebhooks | undefined;
  #retrying: Promise<void> | undefined;

  /** @param options `retryDelaysMs` are the delays before retries; the last one repeats. */
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
   * Creates the webhooks. Unlike later changes, this is not reported as steps.
   *
   * @throws `HubError` if the Hub is not reachable, or rejects every webhook. If it rejects only some, they are reported.
   */
  async start(desired: DesiredWebhooks): Promise<void> {
    this.#desired = desired;
    const { failed, skipped } = await this.#webhooks.sync({ ...desired, signal: this.#closing.signal });
    const [first] = failed;
    if (first && failed.length === desired.endpoints.length) throw first.error;
    this.#report({ done: [], failed, skipped });
    if (failed.some(({ error }) => error.retryable)) this.#retryLater();
  }

  /** Updates the webhooks. Failures are reported and retried in the background. */
  async update(desired: DesiredWebhooks): Promise<void> {
    this.#desired = desired;
    await this.repair();
  }

  /** Reverts changes that others made to the webhooks. */
  async repair(): Promise<void> {
    if (this.#closing.signal.aborted || (await this.#sync())) return;
    this.#retryLater();
  }

  /** Deletes the webhooks. The next session deletes those that cannot be deleted now. */
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
      if (this.#closing.signal.aborted || (await this.#sync())) return;
    }
  }

  /** Returns whether a retry is unnecessary. */
  async #sync(): Promise<boolean> {
    if (!this.#desired) return true;
    try {
      const report = await this.#webhooks.sync({ ...this.#desired, signal: this.#closing.signal });
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
 * Opens the temporary webhooks of a session, and returns the function that releases their state file. On the real Hub, it
 * first deletes webhooks that earlier sessions have left behind. A local Hub ends with the session, so its state file is
 * temporary too.
 *
 * @throws `STATE_UNUSABLE`, and the reason of the signal.
 */
export async function openSessionWebhooks({
  hub,
  isReal,
  state,
  alive,
  signal,
  onSteps,
  onProblem,
}: WebhookListeners & {
  hub: HubClient;
  /** Whether the Hub outlives the session. */
  isReal: boolean;
  state: string | undefined;
  /** How other sessions check whether this one is running. */
  alive: { url: string; answer: string };
  signal: AbortSignal;
}): Promise<{ webhooks: TemporaryWebhooks; release(): Promise<void> }> {
  const session = { id: randomUUID(), alive };
  if (!isReal) {
    const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-dev-"));
    const webhooks = await TemporaryWebhooks.open({ hub, state: join(folder, "registrations.json"), session });
    return { webhooks, release: () => rm(folder, { recursive: true, force: true }) };
  }
  const deleted = await deleteStaleWebhooks({ hub, state, signal, onFailed: ({ error }) => onProblem(error) });
  if (deleted.length > 0) {
    onSteps(deleted.map(({ id, endpoint }) => `deleted webhook ${id} of ${endpoint}, left by an earlier session`));
  }
  return { webhooks: await TemporaryWebhooks.open({ hub, state, session }), release: async () => {} };
}

/** Formats a completed step on one line: `created webhook … for retrain: dataset:me/data (repo) to …`. */
function formatStep(step: RegistrationStep): string {
  const { endpoint, id } = step;
  switch (step.action) {
    case "create": {
      const watched = formatWatched(step.watched).join(", ");
      return `created webhook ${id ?? ""} for ${endpoint}: ${watched} (${step.domains.join(", ")}) to ${step.url}`;
    }
    case "update":
      return `${step.isAdopted ? "adopted" : "updated"} webhook ${id} of ${endpoint}: ${formatChanges(step.changes)}`;
    case "enable":
      return `enabled webhook ${id} of ${endpoint}: ${step.reason}`;
    case "re-enable":
      return `re-enabled webhook ${id} of ${endpoint}: ${step.reason}. ${step.remedy ?? ""}`.trimEnd();
    case "delete":
      return `deleted webhook ${id} of ${endpoint}: ${step.reason}`;
  }
}

function formatChanges(changes: readonly FieldChange[]): string {
  const texts = changes.map((change) =>
    change.field === "secret" ? `secret ${change.change}` : `${change.field} ${change.before} -> ${change.after}`,
  );
  return texts.length === 0 ? "unchanged" : texts.join("; ");
}

function toWebhookError(error: unknown): WebhookError {
  if (WebhookError.isInstance(error)) return error;
  const message = `The webhooks of this session cannot be updated (${messageOf(error)}). Restart the session.`;
  return new WebhookError(message, { code: "INTERNAL", cause: error });
}
