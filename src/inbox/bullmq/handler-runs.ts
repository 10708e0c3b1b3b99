import { WebhookError } from "../../core/errors.ts";
import type { ClaimedDelivery, DeliveryAttempt, EndpointQueue } from "../inbox.ts";
import { inboxClosing, leaseLost, toAttemptError } from "../inbox-errors.ts";

/** The result of one run of a handler. */
export interface HandlerRun {
  /** `unfinished`: the inbox closed, and the handler did not finish within the grace period. */
  outcome: Awaited<ReturnType<EndpointQueue["run"]>> | "unfinished";
  attempt: DeliveryAttempt;
  /** Whether the handler's signal was aborted before the handler finished. */
  isInterrupted: boolean;
  /** Whether the loss of the lease interrupted the run. Another process may then have claimed the delivery. */
  hasLostLease: boolean;
}

/**
 * Runs an endpoint's handler for several deliveries at the same time. Aborts a run when its lease expires or the inbox
 * closes.
 */
export class HandlerRuns {
  readonly #queue: Pick<EndpointQueue, "run">;
  /** Milliseconds since the epoch. */
  readonly #now: () => number;
  /** Contains a job twice if the job was claimed again after its lease had expired. */
  readonly #running = new Set<{ jobId: string; controller: AbortController; giveUp: () => void }>();
  #isClosing = false;
  #isGraceOver = false;

  constructor({ queue, now }: { queue: Pick<EndpointQueue, "run">; now: () => number }) {
    this.#queue = queue;
    this.#now = now;
  }

  async run(jobId: string, claimed: ClaimedDelivery): Promise<HandlerRun> {
    const controller = new AbortController();
    if (this.#isClosing) controller.abort(inboxClosing());
    const unfinished = Promise.withResolvers<"unfinished">();
    const giveUp = () => unfinished.resolve("unfinished");
    if (this.#isGraceOver) giveUp();
    const entry = { jobId, controller, giveUp };
    this.#running.add(entry);
    const startedAt = new Date(this.#now());
    const start = performance.now();
    try {
      const outcome = await Promise.race([this.#queue.run(claimed, controller.signal), unfinished.promise]);
      const isInterrupted = controller.signal.aborted;
      const failure = outcome !== "unfinished" && outcome.status === "failed" ? outcome.error : undefined;
      const attempt: DeliveryAttempt = {
        number: claimed.attempt,
        startedAt,
        durationMs: performance.now() - start,
        outcome: failure ? "failed" : "succeeded",
        ...(failure && { error: toAttemptError(failure) }),
        ...(outcome !== "unfinished" && outcome.details && { details: outcome.details }),
      };
      return { outcome, attempt, isInterrupted, hasLostLease: isLeaseLost(controller.signal.reason) };
    } finally {
      this.#running.delete(entry);
    }
  }

  /** Aborts the runs of jobs whose leases have expired. */
  abortLost(jobIds: readonly string[]): void {
    for (const { jobId, controller } of this.#running) if (jobIds.includes(jobId)) controller.abort(leaseLost());
  }

  /** Aborts all current and future runs because the inbox closes. */
  abortAll(): void {
    this.#isClosing = true;
    for (const { controller } of this.#running) controller.abort(inboxClosing());
  }

  /** Ends all current and future runs as `unfinished`, without waiting for their handlers. */
  giveUp(): void {
    this.#isGraceOver = true;
    for (const { giveUp } of this.#running) giveUp();
  }
}

function isLeaseLost(reason: unknown): boolean {
  return WebhookError.isInstance(reason) && reason.code === "LEASE_LOST";
}
