import { maxHoldMs as defaultMaxHoldMs } from "../crash-policy.ts";

/** Permission to run a handler. */
export interface RunPermit {
  /** Whether nothing else runs in this process. */
  readonly isAlone: boolean;
  /** Ends the turn. */
  leave(): void;
}

interface Waiter {
  /** Aborted when it waits no longer. */
  signal: AbortSignal;
  admit: (turn: RunPermit) => void;
}

interface SuspectWaiter extends Waiter {
  /** Called when others start beside it after all. */
  onShared: () => void;
}

/**
 * Keeps deliveries that may crash the process apart from all others of the process: one such suspect runs at a time,
 * and nothing beside it. Between two suspects, whatever else has been waiting starts. No wait is endless: a suspect
 * holds others back for a minute at most, and shares the process after that.
 */
export class RunGate {
  readonly #maxHoldMs: number;
  #running = 0;
  #hasSuspect = false;
  /** Whether a suspect keeps others from starting. */
  #hasLease = false;
  #holdTimer: NodeJS.Timeout | undefined;
  /** The suspect that waits for those that run. */
  #next: SuspectWaiter | undefined;
  readonly #suspects: SuspectWaiter[] = [];
  readonly #others: Waiter[] = [];

  /**
   * @param maxHoldMs how long a suspect keeps others from starting while it waits for those that run, and again while it
   *   runs, in milliseconds.
   */
  constructor(maxHoldMs = defaultMaxHoldMs) {
    this.#maxHoldMs = maxHoldMs;
  }

  /** Lets a delivery that is no suspect in where it need not wait. */
  tryEnter(): RunPermit | undefined {
    return this.#hasLease ? undefined : this.#admitOther();
  }

  /** Waits for a turn beside others. Resolves to `undefined` when the signal is aborted before. */
  enter(signal: AbortSignal): Promise<RunPermit | undefined> {
    const turn = this.tryEnter();
    return turn ? Promise.resolve(turn) : this.#waitIn(this.#others, signal, {});
  }

  /**
   * Waits for the process to itself. Resolves to `undefined` when the signal is aborted before.
   *
   * @param onShared called when others start beside it after all.
   */
  enterAlone(signal: AbortSignal, onShared: () => void): Promise<RunPermit | undefined> {
    const waiting = this.#waitIn(this.#suspects, signal, { onShared });
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

  /** Gives the next suspect its turn, where none has it. */
  #advance(): void {
    if (this.#hasSuspect) return;
    const suspect = this.#suspects[0];
    if (suspect !== this.#next) {
      this.#release();
      this.#next = suspect;
      if (suspect) this.#hold(() => this.#admitSuspect(suspect, { isAlone: false }));
    }
    if (suspect && this.#running === 0) this.#admitSuspect(suspect, { isAlone: true });
  }

  #admitSuspect(suspect: SuspectWaiter, { isAlone }: { isAlone: boolean }): void {
    this.#suspects.shift();
    this.#next = undefined;
    this.#hasSuspect = true;
    if (isAlone) {
      this.#hold(() => {
        suspect.onShared();
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

  #hold(onEnd: () => void): void {
    clearTimeout(this.#holdTimer);
    this.#hasLease = true;
    this.#holdTimer = setTimeout(onEnd, this.#maxHoldMs).unref();
  }

  /** Lets in whatever has been waiting. */
  #release(): void {
    clearTimeout(this.#holdTimer);
    this.#hasLease = false;
    for (const { signal, admit } of this.#others.splice(0)) if (!signal.aborted) admit(this.#admitOther());
  }

  #waitIn<Extra extends object>(
    queue: (Waiter & Extra)[],
    signal: AbortSignal,
    extra: Extra,
  ): Promise<RunPermit | undefined> {
    const { promise, resolve } = Promise.withResolvers<RunPermit | undefined>();
    const giveUp = () => {
      const place = queue.indexOf(waiter);
      if (place >= 0) queue.splice(place, 1);
      resolve(undefined);
      this.#advance();
    };
    const waiter = {
      ...extra,
      signal,
      admit: (turn: RunPermit) => {
        signal.removeEventListener("abort", giveUp);
        resolve(turn);
      },
    };
    if (signal.aborted) resolve(undefined);
    else {
      signal.addEventListener("abort", giveUp, { once: true });
      queue.push(waiter);
    }
    return promise;
  }
}
