import { WebhookError } from "../core/errors.ts";

/**
 * The open parts of a session. Parts are closed in reverse order, including parts that finish opening while the session
 * is being closed.
 */
export class OpenParts {
  readonly #closers: (() => Promise<void>)[] = [];
  readonly #opening: Promise<unknown>[] = [];
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** Aborts with an error of code `CLOSING` when the session is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * Adds an open part, or closes it if the session is already closed.
   *
   * @throws `CLOSING` if the session is already closed.
   */
  async add(part: { close(): Promise<void> }): Promise<void> {
    if (this.isClosed) {
      await part.close();
      throw this.signal.reason;
    }
    this.addCloser(() => part.close());
  }

  /** Adds a function that runs before earlier parts are closed. */
  addCloser(closer: () => Promise<void>): void {
    this.#closers.push(closer);
  }

  /** Adds a function that runs after all parts are closed. */
  addFinalCloser(closer: () => Promise<void>): void {
    this.#closers.unshift(closer);
  }

  /** Makes {@link close} wait for a promise that opens parts. */
  track<Result>(opening: Promise<Result>): Promise<Result> {
    this.#opening.push(opening);
    return opening;
  }

  /** Aborts {@link signal} and closes all parts. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort(new WebhookError("The session was closed while it started.", { code: "CLOSING" }));
    await this.#closeOpened();
    await Promise.allSettled(this.#opening);
    // Close again, because parts that were still opening may have added closers.
    await this.#closeOpened();
  }

  async #closeOpened(): Promise<void> {
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) await closer();
  }
}
