/** What a {@link ThrottledRead} is made from. */
export interface ThrottledReadOptions<Value> {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How long a caller waits at most, in milliseconds. */
  timeoutMs: number;
  /** What a caller gets that has waited for so long. */
  late: Value;
}

/** For how many milliseconds a value is given again: anyone may ask, and each read costs something. */
const freshMs = 1_000;

/**
 * Reads a value for callers that anyone can be: at most once a second, and never a second time while the first read is
 * not answered.
 */
export class ThrottledRead<Value> {
  readonly #options: ThrottledReadOptions<Value>;
  #source: object | undefined;
  #value: Promise<Value> | undefined;
  #readAt = 0;
  #isPending = false;

  constructor(options: ThrottledReadOptions<Value>) {
    this.#options = options;
  }

  /** The value of `source`; `read` must not reject. A value of another source is not given again. */
  async of<Source extends object>(source: Source, read: (source: Source) => Promise<Value>): Promise<Value> {
    const { timeoutMs, late } = this.#options;
    const waited = Promise.withResolvers<Value>();
    const timer = setTimeout(() => waited.resolve(late), timeoutMs);
    try {
      return await Promise.race([this.#shared(source, read), waited.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #shared<Source extends object>(source: Source, read: (source: Source) => Promise<Value>): Promise<Value> {
    const now = this.#options.now();
    const age = now - this.#readAt;
    // An age below zero: the clock was set back.
    const isUsable = this.#isPending || (age >= 0 && age < freshMs);
    if (this.#value && this.#source === source && isUsable) return this.#value;
    const value = read(source).finally(() => {
      if (this.#value === value) this.#isPending = false;
    });
    this.#source = source;
    this.#readAt = now;
    this.#isPending = true;
    this.#value = value;
    return value;
  }
}
