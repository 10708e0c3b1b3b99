interface CachedReadOptions<Value> {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The maximum time that a caller waits. */
  timeoutMs: number;
  /** The value that callers receive after the timeout. */
  fallback: Value;
}

/** How long a value is reused before it is read again. */
const freshMs = 1_000;

/**
 * Limits reads of a value that is expensive to read and that unauthenticated clients can request. The value is read at most
 * once a second, and only one read is in progress at a time.
 */
export class CachedRead<Value> {
  readonly #options: CachedReadOptions<Value>;
  #source: object | undefined;
  #value: Promise<Value> | undefined;
  #readAt = 0;
  #isPending = false;

  constructor(options: CachedReadOptions<Value>) {
    this.#options = options;
  }

  /** Returns the value that `read` reads from `source`, or the fallback after the timeout. `read` must not reject. */
  async get<Source extends object>(source: Source, read: (source: Source) => Promise<Value>): Promise<Value> {
    const { timeoutMs, fallback } = this.#options;
    const waited = Promise.withResolvers<Value>();
    const timer = setTimeout(() => waited.resolve(fallback), timeoutMs);
    try {
      return await Promise.race([this.#shared(source, read), waited.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #shared<Source extends object>(source: Source, read: (source: Source) => Promise<Value>): Promise<Value> {
    const now = this.#options.now();
    const age = now - this.#readAt;
    // The age is negative if the clock was set back.
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
