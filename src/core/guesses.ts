const windowMs = 60_000;

/** Limits wrong guesses of a secret. Correct values are never limited, so that an attacker cannot lock out others. */
export class GuessLimiter {
  readonly #now: () => number;
  readonly #maxGuesses: number;
  #guesses = 0;
  #windowEndsAt = 0;

  /** @param now returns milliseconds since the epoch. `maxGuesses`: the wrong guesses that are allowed per minute. */
  constructor(now: () => number, { maxGuesses = 100 }: { maxGuesses?: number } = {}) {
    this.#now = now;
    this.#maxGuesses = maxGuesses;
  }

  /** The number of seconds until the limit resets, or `undefined` if another wrong guess is allowed. */
  get waitSeconds(): number | undefined {
    if (this.#guesses < this.#maxGuesses || this.#isOver()) return undefined;
    return Math.max(1, Math.ceil((this.#windowEndsAt - this.#now()) / 1000));
  }

  /** Counts a wrong guess. After too many wrong guesses, returns the number of seconds until the limit resets. */
  countWrong(): number | undefined {
    const { waitSeconds } = this;
    if (this.#isOver()) {
      this.#guesses = 0;
      this.#windowEndsAt = this.#now() + windowMs;
    }
    this.#guesses += 1;
    return waitSeconds;
  }

  #isOver(): boolean {
    const now = this.#now();
    // The second condition is true if the clock was set back.
    return now >= this.#windowEndsAt || now < this.#windowEndsAt - windowMs;
  }
}

/** An owner mistypes a password a few times at most. */
const maxWrongPasswords = 20;
/** The time between two checks during the limit. */
const turnMs = 500;
/** The checks that wait for their turn. More would wait for longer than clients do. */
const maxWaiting = 20;

/**
 * Limits guesses of a password. After too many wrong guesses in a minute, all checks wait for their turn, so that many connections
 * guess no faster than one. The right password waits too: if it did not, a guess without a wait would be the right one.
 */
export class PasswordGuesses {
  readonly #limiter: GuessLimiter;
  readonly #wait: (milliseconds: number) => Promise<unknown>;
  #waiting = 0;
  #lastTurn: Promise<unknown> = Promise.resolve();

  /** @param now returns milliseconds since the epoch. `wait`: resolves after a delay. */
  constructor(
    now: () => number,
    {
      wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    }: { wait?: (ms: number) => Promise<unknown> } = {},
  ) {
    this.#limiter = new GuessLimiter(now, { maxGuesses: maxWrongPasswords });
    this.#wait = wait;
  }

  /**
   * Checks a password. Returns `"right"`, `"wrong"`, or, during the limit, the seconds until the limit resets: for a wrong
   * password, and for any password if too many checks are waiting or `mayWait` is `false`.
   */
  async check(
    isRight: () => boolean,
    { mayWait = true }: { mayWait?: boolean } = {},
  ): Promise<"right" | "wrong" | number> {
    const { waitSeconds } = this.#limiter;
    if (waitSeconds !== undefined) {
      if (!mayWait || this.#waiting >= maxWaiting) return waitSeconds;
      await this.#takeTurn();
    }
    return isRight() ? "right" : this.countWrong();
  }

  /** Counts a wrong guess that was checked without a limit, because it cannot be guessed. */
  countWrong(): "wrong" | number {
    return this.#limiter.countWrong() ?? "wrong";
  }

  async #takeTurn(): Promise<void> {
    this.#waiting += 1;
    this.#lastTurn = this.#lastTurn.then(() => this.#wait(turnMs));
    await this.#lastTurn;
    this.#waiting -= 1;
  }
}

/**
 * Compares two texts in a time that depends only on `secret`. `node:crypto` is not available in every runtime, and hashing
 * both texts would take longer than validating a payload.
 */
export function equalInConstantTime(presented: string, secret: string): boolean {
  if (presented.length === 0) return false;
  let difference = presented.length ^ secret.length;
  for (let index = 0; index < secret.length; index += 1) {
    difference |= presented.charCodeAt(index % presented.length) ^ secret.charCodeAt(index);
  }
  return difference === 0;
}
