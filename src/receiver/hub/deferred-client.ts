import type { HubClient } from "../../hub/client.ts";

interface DeferredClientOptions {
  /** Loads the client. Called for each call, so it must return the same client each time. */
  load: () => Promise<HubClient>;
  /** The value of `hubUrl`, which is available before the client is loaded. */
  hubUrl: () => string;
}

/**
 * Creates a client that loads the real client at the first call of a method, because handlers read `context.hub` synchronously.
 *
 * The results of all methods are promises that can also be iterated: the real result is either a promise or an async iterable, but
 * which of the two is unknown before the client is loaded. Only `repo()` returns an object without waiting.
 */
export function createDeferredClient({ load, hubUrl }: DeferredClientOptions): HubClient {
  return defer(load, (key) => {
    if (key === "hubUrl") return hubUrl();
    if (key === "repo") return (...args: unknown[]) => deferRepository(load, args);
    return undefined;
  });
}

function deferRepository(load: () => Promise<HubClient>, args: readonly unknown[]) {
  const [repo] = args;
  return defer(
    async () => call(await load(), "repo", args),
    (key) => (key === "ref" ? { type: readProperty(repo, "type"), name: readProperty(repo, "name") } : undefined),
  );
}

/** Creates an object whose methods call the methods of the object that `load` returns. `known` returns properties that are known before. */
function defer(load: () => Promise<unknown>, known: (key: string) => unknown) {
  // The target has no type, because the proxy never reads it.
  return new Proxy(Object.create(null), {
    get: (_target, key) => (isReadable(key) ? (known(key) ?? deferMember(load, key)) : undefined),
  });
}

/** Creates a value that is both a method and a resource: `hub.whoami()` calls it, and `hub.jobs.run()` reads its property. */
function deferMember(load: () => Promise<unknown>, key: string): unknown {
  return new Proxy(() => {}, {
    apply: (_target, _self, args: readonly unknown[]) => toIterable(load().then((owner) => call(owner, key, args))),
    get: (_target, name) =>
      isReadable(name) ? deferMember(async () => readProperty(await load(), key), name) : undefined,
  });
}

/** Whether a key can be a method or resource. `await` reads `then`, and inspection reads symbols. */
function isReadable(key: string | symbol): key is string {
  return typeof key === "string" && key !== "then";
}

function call(owner: unknown, key: string, args: readonly unknown[]): unknown {
  const method = readProperty(owner, key);
  if (typeof method !== "function") throw new TypeError(`The Hub client has no method "${key}".`);
  return Reflect.apply(method, owner, args);
}

function readProperty(owner: unknown, key: string): unknown {
  return typeof owner === "object" && owner !== null ? Reflect.get(owner, key) : undefined;
}

/** Adds the methods of `Pages` to a promise of a result. */
function toIterable(result: Promise<unknown>) {
  const iterate = async function* (source: Promise<unknown>) {
    const found = await source;
    if (!isAsyncIterable(found)) throw new TypeError("The result of this method is not a list. Use await.");
    yield* found;
  };
  return Object.assign(result, {
    pages: () => iterate(result.then((pages) => call(pages, "pages", []))),
    [Symbol.asyncIterator]: () => iterate(result),
  });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
