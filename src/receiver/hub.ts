import { readField } from "../core/describe.ts";
import { readEnvironment } from "../core/environment.ts";
import type { Logger } from "../core/log.ts";
import { optionError } from "../core/options.ts";
import { loadOnce, untilAborted } from "../core/time.ts";
import type { Whoami } from "../hub/account.ts";
import type { HubClient, HubClientOptions } from "../hub/client.ts";
import { findHubUrl } from "../hub/hub-url.ts";
import { type MadeChange, type ObservedAction, observeActions } from "../hub/repositories/action-observer.ts";
import type { RepoRef } from "../hub/schemas.ts";
import type { OwnActions } from "../inbox/inbox.ts";

/**
 * Creates a client that loads the real client at the first call of a method, because handlers read `context.hub` synchronously.
 *
 * The results of all methods are promises that can also be iterated: the real result is either a promise or an async iterable, but
 * which of the two is unknown before the client is loaded. Only `repo()` returns an object without waiting.
 *
 * @param options.load is called for each call, so it must return the same client each time.
 */
export function createDeferredClient({
  load,
  hubUrl,
}: {
  load: () => Promise<HubClient>;
  hubUrl: () => string;
}): HubClient {
  const deferRepository = (...args: readonly unknown[]) =>
    defer(
      async () => call(await load(), "repo", args),
      (key) => (key === "ref" ? { type: readField(args[0], "type"), name: readField(args[0], "name") } : undefined),
    );
  return defer(load, (key) => {
    if (key === "hubUrl") return hubUrl();
    return key === "repo" ? deferRepository : undefined;
  });
}

/** Defers the methods of the object that `load` returns. `known` returns properties that are known before. */
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
      isReadable(name) ? deferMember(async () => readField(await load(), key), name) : undefined,
  });
}

/** Whether a key can be a method or resource. `await` reads `then`, and inspection reads symbols. */
function isReadable(key: string | symbol): key is string {
  return typeof key === "string" && key !== "then";
}

function call(owner: unknown, key: string, args: readonly unknown[]): unknown {
  const method = readField(owner, key);
  if (typeof method !== "function") throw new TypeError(`The Hub client has no method "${key}".`);
  return Reflect.apply(method, owner, args);
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

/**
 * The `hub` option of a server: the options of a client, or a client. The type of a client contains only the method that the server
 * calls, so that TypeScript infers the parameters of a `fetch` function in the options.
 */
export type HubOption = HubClientOptions | Pick<HubClient, typeof observeActions>;

const maxSignatureChars = 200;

export type ServerHub = ReturnType<typeof createServerHub>;

/**
 * The Hub client of a server, which is loaded when it is first used: it would double the size of a bundle.
 *
 * @throws `OPTION_INVALID` if the signature is invalid.
 */
export function createServerHub(
  { hub, hubSignature }: { hub?: HubOption; hubSignature?: string },
  parts: { background: OpenedInbox; log: Logger; loadClient: () => Promise<typeof import("../hub/client.ts")> },
) {
  const { background, log, loadClient } = parts;
  const ownChanges = createOwnChanges(background, log);
  const signature = checkSignature(hubSignature) ?? readEnvironment("SPACE_ID") ?? "server";
  const observing = { observer: ownChanges, signature };
  let client: HubClient | undefined;
  const load = loadOnce(async () => {
    const { createObservedClient } = await loadClient();
    client = createObservedClient({ logger: log, ...hub }, observing);
    return client;
  });
  const create = () =>
    hub && observeActions in hub
      ? hub[observeActions](observing)
      : createDeferredClient({ load, hubUrl: () => findHubUrl(hub?.hubUrl) });
  const getClient = () => {
    client ??= create();
    return client;
  };
  const readAccount = loadOnce(() => getClient().whoami());
  return {
    /** The name of this server in its markers. */
    signature,
    ownChanges,
    /** The client. Before the client is loaded, a client that loads it when one of its methods is called. */
    get client() {
      return getClient();
    },
    /** Returns the account of the token. Requests it only once, also for callers whose signal aborts. */
    account: (signal: AbortSignal): Promise<Whoami> => untilAborted(readAccount(), signal),
  };
}

function checkSignature(signature: string | undefined): string | undefined {
  if (signature === undefined) return undefined;
  const isText = typeof signature === "string" && signature !== "" && signature.length <= maxSignatureChars;
  if (isText && signature.isWellFormed()) return signature;
  throw optionError({
    option: "hubSignature",
    value: signature,
    expected: `a text of 1 to ${maxSignatureChars} characters`,
  });
}

/** The inbox that stores the changes. `undefined` while no inbox is open. */
export interface OpenedInbox {
  readonly opened: Promise<{ readonly ownActions?: OwnActions | undefined }> | undefined;
}

/** The maximum number of keys in memory. The inbox keeps more. */
const maxRemembered = 10_000;

/**
 * The changes that this server made on the Hub, in memory and in the inbox. Other servers that share the inbox find them too, also
 * after a restart. Changes in progress are only known in this process.
 */
export function createOwnChanges(background: OpenedInbox, log: Logger) {
  const remembered = new Set<string>();
  const inProgress = new Map<string, Set<Promise<void>>>();

  /** Never rejects, because the change was made in any case. */
  const add = async (keys: readonly string[]): Promise<void> => {
    if (keys.length === 0) return;
    for (const key of keys) remembered.add(key);
    for (const key of remembered) {
      if (remembered.size <= maxRemembered) break;
      remembered.delete(key);
    }
    try {
      await (await background.opened)?.ownActions?.add(keys);
    } catch (error) {
      log.warn(
        { err: error },
        "The inbox could not store a change of this server. After a restart, the server recognizes it by its marker only.",
      );
    }
  };

  return {
    begin(repo: RepoRef): ObservedAction {
      const name = repoKey(repo);
      const { promise, resolve } = Promise.withResolvers<void>();
      const pending = inProgress.get(name) ?? new Set();
      inProgress.set(name, pending.add(promise));
      return {
        done: async (made) => {
          try {
            await add(made.map((change) => changeKey(repo, change)));
          } finally {
            pending.delete(promise);
            if (pending.size === 0 && inProgress.get(name) === pending) inProgress.delete(name);
            resolve();
          }
        },
      };
    },
    /** Resolves when the changes to a repository that are now in progress are done. Rejects if the signal aborts before. */
    async waitFor(repo: RepoRef, signal: AbortSignal): Promise<void> {
      const pending = [...(inProgress.get(repoKey(repo)) ?? [])];
      if (pending.length > 0) await untilAborted(Promise.all(pending), signal);
    },
    /** Returns the keys that belong to changes of this server. Reads the inbox only for keys that are not in memory. */
    async find(keys: readonly string[]): Promise<ReadonlySet<string>> {
      const unknown = keys.filter((key) => !remembered.has(key));
      let stored: ReadonlySet<string> | undefined;
      try {
        if (unknown.length > 0) stored = await (await background.opened)?.ownActions?.find(unknown);
      } catch (error) {
        log.warn(
          { err: error },
          "The inbox could not read the changes of this server, so events that the server caused might be delivered to handlers.",
        );
      }
      return new Set(keys.filter((key) => remembered.has(key) || stored?.has(key)));
    },
  };
}

/** Returns the key of a change. Only the numbers of discussions need the repository. */
export function changeKey(repo: RepoRef, { kind, id }: MadeChange): string {
  return kind === "discussion" ? `${kind} ${repoKey(repo)}#${id}` : `${kind} ${id}`;
}

function repoKey({ type, name }: RepoRef): string {
  return `${type}:${name}`;
}
