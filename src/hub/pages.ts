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

/** Matches a link and its parameters. Quoted values can contain any character. */
const links = /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g;
const parameter = /;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/g;

/** Returns the query of the next page from a `Link` header (RFC 8288), or `undefined` if there is no next page. */
export function nextQuery(link: string | null): URLSearchParams | undefined {
  for (const [, target = "", parameters = ""] of (link ?? "").matchAll(links)) {
    const [, , quoted, plain = ""] =
      [...parameters.matchAll(parameter)].find(([, name]) => /^rel$/i.test(name ?? "")) ?? [];
    if (!(quoted ?? plain).toLowerCase().split(/\s+/).includes("next")) continue;
    // Only the query is used, so that the token is never sent to another host.
    return URL.parse(target, "http://hub.invalid")?.searchParams;
  }
  return undefined;
}
