import type { CallOptions } from "./operation.ts";

/**
 * A paginated list. `for await` iterates over all items, and requests each page only when the page is needed.
 *
 * @example
 * ```ts
 * for await (const { user, role } of hub.organizations.members("acme")) console.log(user, role);
 * ```
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #open: () => ItemPages<Item> | Promise<ItemPages<Item>>;
  readonly #signal: AbortSignal | undefined;

  /** @internal */
  constructor(open: () => ItemPages<Item> | Promise<ItemPages<Item>>, { signal }: CallOptions = {}) {
    this.#open = open;
    this.#signal = signal;
  }

  /** Iterates over the items of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) {
      for (const item of page) {
        yield item;
        this.#signal?.throwIfAborted();
      }
    }
  }

  /** Iterates over the pages. Each page is an array of items. */
  async *pages(): AsyncGenerator<Item[], void, undefined> {
    yield* await this.#open();
  }
}

type ItemPages<Item> = AsyncGenerator<Item[], void, undefined>;

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
