import { attemptOutcome, inboxClosing, leaseLost } from "../errors.ts";
import type { ClaimedDelivery, DeliveryAttempt, EndpointQueue } from "../inbox.ts";
import { maxHoldMs as defaultMaxHoldMs } from "../retry.ts";

export interface RunPermit {
  /** Whether no other delivery is running in this process when the delivery starts. */
  readonly isAlone: boolean;
  leave(): void;
}

interface Waiter {
  signal: AbortSignal;
  admit: (permit: RunPermit) => void;
  /** Called when the suspect no longer holds back other deliveries, although it is still running. */
  onShared?: () => void;
}

/**
 * Grants permits to run deliveries, so that suspects run alone if possible. See `retry.ts` for the terms "suspect" and
 * "alone".
 *
 * Only one suspect runs at a time. Other deliveries can start between two suspects. A suspect holds back other deliveries for up to
 * a minute while it waits, and for up to another minute while it runs. After that, the other deliveries run at the same time. The
 * SQLite inbox has a `ClaimGate` instead, because its workers check the gate before they claim deliveries. BullMQ claims a delivery
 * before the worker can check the gate.
 */
export class RunGate {
  readonly #maxHoldMs: number;
  /** The number of running deliveries, not counting a suspect. */
  #running = 0;
  #hasSuspect = false;
  #isHeld = false;
  #holdTimer: NodeJS.Timeout | undefined;
  /** The first waiting suspect, which holds back other deliveries until all running deliveries end. */
  #next: Waiter | undefined;
  readonly #suspects = new Set<Waiter>();
  readonly #others = new Set<Waiter>();

  /** @param maxHoldMs how long a suspect holds back other deliveries while it waits, and again while it runs. */
  constructor(maxHoldMs = defaultMaxHoldMs) {
    this.#maxHoldMs = maxHoldMs;
  }

  /** Returns a permit for a delivery that is not a suspect, or `undefined` if the delivery must wait. */
  tryEnter(): RunPermit | undefined {
    return this.#isHeld ? undefined : this.#admitOther();
  }

  /** Waits for a permit for a delivery that is not a suspect. Resolves with `undefined` if the signal is aborted first. */
  enter(signal: AbortSignal): Promise<RunPermit | undefined> {
    const permit = this.tryEnter();
    return permit ? Promise.resolve(permit) : this.#waitIn(this.#others, { signal });
  }

  /** Waits for a permit for a suspect. Resolves with `undefined` if the signal is aborted first. */
  enterAlone(signal: AbortSignal, onShared: () => void): Promise<RunPermit | undefined> {
    const waiting = this.#waitIn(this.#suspects, { signal, onShared });
    this.#advance();
    return waiting;
  }

  #admitOther(): RunPermit {
    this.#running += 1;
    return {
      isAlone: false,
      leave: () => {
        this.#running -= 1;
        this.#advance();
      },
    };
  }

  /** Grants a permit to the next suspect if possible. Otherwise, holds back other deliveries until the suspect can run. */
  #advance(): void {
    if (this.#hasSuspect) return;
    const [suspect] = this.#suspects;
    if (suspect !== this.#next) {
      this.#release();
      this.#next = suspect;
      if (suspect) this.#hold(() => this.#admitSuspect(suspect, { isAlone: false }));
    }
    if (suspect && this.#running === 0) this.#admitSuspect(suspect, { isAlone: true });
  }

  #admitSuspect(suspect: Waiter, { isAlone }: { isAlone: boolean }): void {
    this.#suspects.delete(suspect);
    this.#next = undefined;
    this.#hasSuspect = true;
    if (isAlone) {
      this.#hold(() => {
        suspect.onShared?.();
        this.#release();
      });
    } else {
      this.#release();
    }
    suspect.admit({
      isAlone,
      leave: () => {
        this.#hasSuspect = false;
        this.#release();
        this.#advance();
      },
    });
  }

  #hold(onTimeout: () => void): void {
    clearTimeout(this.#holdTimer);
    this.#isHeld = true;
    this.#holdTimer = setTimeout(onTimeout, this.#maxHoldMs).unref();
  }

  #release(): void {
    clearTimeout(this.#holdTimer);
    this.#isHeld = false;
    const others = [...this.#others];
    this.#others.clear();
    for (const { signal, admit } of others) if (!signal.aborted) admit(this.#admitOther());
  }

  #waitIn(queue: Set<Waiter>, options: Omit<Waiter, "admit">): Promise<RunPermit | undefined> {
    const { signal } = options;
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const giveUp = () => {
        queue.delete(waiter);
        resolve(undefined);
        this.#advance();
      };
      const admit = (permit: RunPermit) => {
        signal.removeEventListener("abort", giveUp);
        resolve(permit);
      };
      const waiter = { ...options, admit };
      signal.addEventListener("abort", giveUp, { once: true });
      queue.add(waiter);
    });
  }
}

export interface HandlerRun {
  /** `unfinished`: the inbox closed, and the handler did not finish within the grace period. */
  outcome: Awaited<ReturnType<EndpointQueue["run"]>> | "unfinished";
  attempt: DeliveryAttempt;
  /** Whether the handler's signal was aborted before the handler finished. */
  isInterrupted: boolean;
  /** Whether the loss of the lease interrupted the run. Another process may then have claimed the delivery. */
  hasLostLease: boolean;
}

/** Runs an endpoint's handler. Aborts a run when its lease expires or the inbox closes. */
export class HandlerRuns {
  readonly #queue: Pick<EndpointQueue, "run">;
  readonly #now: () => number;
  /** Contains a job twice if the job was claimed again after its lease had expired. */
  readonly #running = new Set<{ jobId: string; controller: AbortController; giveUp: () => void }>();
  #isClosing = false;
  #isGraceOver = false;

  constructor(queue: Pick<EndpointQueue, "run">, now: () => number) {
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
      const attempt: DeliveryAttempt = {
        number: claimed.attempt,
        startedAt,
        durationMs: performance.now() - start,
        ...(outcome === "unfinished"
          ? { outcome: "abandoned" }
          : { ...attemptOutcome(outcome), details: outcome.details }),
      };
      return { outcome, attempt, isInterrupted, hasLostLease: controller.signal.reason?.code === "LEASE_LOST" };
    } finally {
      this.#running.delete(entry);
    }
  }

  abortLost(lostId: string): void {
    for (const { jobId, controller } of this.#running) if (jobId === lostId) controller.abort(leaseLost());
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
