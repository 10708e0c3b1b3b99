const windowMs = 60_000;

/** Limits wrong guesses of a secret or password. Correct values are never limited, so that an attacker cannot lock out others. */
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

  /** Counts a wrong guess. After too many wrong guesses, returns the number of seconds until the limit resets. */
  countWrong(): number | undefined {
    const now = this.#now();
    // The second condition is true if the clock was set back.
    if (now >= this.#windowEndsAt || now < this.#windowEndsAt - windowMs) {
      this.#guesses = 0;
      this.#windowEndsAt = now + windowMs;
    }
    this.#guesses += 1;
    if (this.#guesses <= this.#maxGuesses) return undefined;
    return Math.max(1, Math.ceil((this.#windowEndsAt - now) / 1000));
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
