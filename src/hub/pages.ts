/**
 * A list that the Hub gives in pages: `for await` goes through all of it and asks for each page when it gets there.
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

  /** The items, one by one, from the first page on. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.#read()) {
      for (const item of page) {
        yield item;
        this.#signal?.throwIfAborted();
      }
    }
  }

  /** The pages, each as an array, from the first on. */
  pages(): AsyncGenerator<Item[], void, undefined> {
    return this.#read();
  }
}

/** A link and its parameters, of which what is quoted may hold anything. */
const links = /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g;
const parameter = /;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/g;

/** The query of the next page, as a `Link` header names it (RFC 8288); `undefined` after the last one. */
export function nextQuery(link: string | null): URLSearchParams | undefined {
  for (const [, target = "", parameters = ""] of (link ?? "").matchAll(links)) {
    const [, , quoted, plain = ""] =
      [...parameters.matchAll(parameter)].find(([, name]) => /^rel$/i.test(name ?? "")) ?? [];
    if (!(quoted ?? plain).toLowerCase().split(/\s+/).includes("next")) continue;
    // Of the address only the query is taken: the token goes nowhere but to the Hub that was asked.
    return URL.parse(target, "http://hub.invalid")?.searchParams;
  }
  return undefined;
}
