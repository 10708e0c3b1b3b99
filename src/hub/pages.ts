/**
 * A paginated list. `for await` iterates over all items, and requests each page only when the page is needed.
 *
 * @example
 * ```ts
 * for await (const { user, role } of hub.organizations.members("acme")) console.log(user, role);
 * ```
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: () => AsyncGenerator<Item[], void, undefined>;
  readonly #signal: AbortSignal | undefined;

  /** @internal */
  constructor(read: () => AsyncGenerator<Item[], void, undefined>, { signal }: { signal: AbortSignal | undefined }) {
    this.#read = read;
    this.#signal = signal;
  }

  /** Iterates over the items of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.#read()) {
      for (const item of page) {
        yield item;
        this.#signal?.throwIfAborted();
      }
    }
  }

  /** Iterates over the pages. Each page is an array of items. */
  pages(): AsyncGenerator<Item[], void, undefined> {
    return this.#read();
  }
}
