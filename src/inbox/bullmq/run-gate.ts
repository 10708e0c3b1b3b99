import { maxHoldMs as defaultMaxHoldMs } from "../crash-policy.ts";

/** Permission to run a handler. */
export interface RunPermit {
  /** Whether no other handler runs in this process. */
  readonly isAlone: boolean;
  /** Call it when the handler has ended. */
  leave(): void;
}

interface Waiter {
  /** Aborted when the waiter gives up. */
  signal: AbortSignal;
  admit: (permit: RunPermit) => void;
}

interface SuspectWaiter extends Waiter {
  /** Called when other deliveries start while the suspect runs. */
  onShared: () => void;
}

/**
 * Runs a suspect only while no other delivery runs in this process: if it crashes the process again, it is the cause.
 *
 * One suspect runs at a time. Other deliveries that wait start between two suspects. A suspect holds back the others for at most
 * a minute, and shares the process after that. SQLite has a gate of its own (`SuspectGate`): its workers decide when they claim,
 * whereas BullMQ hands over deliveries that are already claimed.
 */
export class RunGate {
  readonly #maxHoldMs: number;
  /** The number of running deliveries, without the suspect. */
  #running = 0;
  #hasSuspect = false;
  /** Whether a suspect holds back other deliveries. */
  #isHeld = false;
  #holdTimer: NodeJS.Timeout | undefined;
  /** The suspect that waits for running deliveries to end. */
  #next: SuspectWaiter | undefined;
  readonly #suspects: SuspectWaiter[] = [];
  readonly #others: Waiter[] = [];

  /** @param maxHoldMs how long a suspect holds back others while it waits, and again while it runs, in milliseconds. */
  constructor(maxHoldMs = defaultMaxHoldMs) {
    this.#maxHoldMs = maxHoldMs;
  }

  /** Returns a permit for a delivery that is not a suspect; `undefined` if it must wait. */
  tryEnter(): RunPermit | undefined {
    return this.#isHeld ? undefined : this.#admitOther();
  }

  /** Waits for a permit. Resolves with `undefined` if the signal is aborted first. */
  enter(signal: AbortSignal): Promise<RunPermit | undefined> {
    const permit = this.tryEnter();
    return permit ? Promise.resolve(permit) : this.#waitIn(this.#others, signal, {});
  }

  /**
   * Waits until a suspect may run. Resolves with `undefined` if the signal is aborted first.
   *
   * @param onShared called when other deliveries start while the suspect runs.
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

  /** Starts the next suspect if possible; otherwise, holds back others until it can start. */
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

  #hold(onTimeout: () => void): void {
    clearTimeout(this.#holdTimer);
    this.#isHeld = true;
    this.#holdTimer = setTimeout(onTimeout, this.#maxHoldMs).unref();
  }

  /** Admits all waiting deliveries that are not suspects. */
  #release(): void {
    clearTimeout(this.#holdTimer);
    this.#isHeld = false;
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
      admit: (permit: RunPermit) => {
        signal.removeEventListener("abort", giveUp);
        resolve(permit);
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
