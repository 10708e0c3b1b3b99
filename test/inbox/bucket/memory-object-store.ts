import { onTestFinished } from "vitest";
import type { BucketInbox } from "../../../src/inbox/bucket/bucket-inbox.ts";
import { recordNumber } from "../../../src/inbox/bucket/log.ts";
import {
  type ListedObject,
  type ObjectStore,
  ObjectStoreError,
  type StoredObject,
} from "../../../src/inbox/bucket/object-store.ts";
import { type OpenBucketInboxOptions, openBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { incoming } from "../engine.ts";

/** A request to a {@link MemoryObjectStore}. */
export interface StoreRequest {
  method: "put" | "get" | "list" | "delete";
  key: string;
}

/**
 * What happens to a request. `lost answer`: the request has its effect, but fails. `failed`: the request has no effect, but the caller
 * does not know that. `late`: the request fails, and has its effect when `runLate` is called. `refused`: the store refuses the request.
 * `torn`: the request fails after the first half of the object was stored. `short`: a read returns the first half of the object.
 * `hidden`: a read finds no object. `stale`: a list is that of the last call of `keepView`. `throttled`: the request has no effect, and
 * the store requests a pause of an hour.
 */
export type StoreFault =
  | "lost answer"
  | "failed"
  | "late"
  | "refused"
  | "torn"
  | "short"
  | "hidden"
  | "stale"
  | "throttled";

/** An object store in memory whose requests can fail. Processes that share a store share this object. */
export class MemoryObjectStore implements ObjectStore {
  readonly name: string;
  readonly objects = new Map<string, { body: Uint8Array; storedAt: number }>();
  /** All requests so far. */
  readonly requests: StoreRequest[] = [];
  /** Called before each request. Return a fault to make the request fail. */
  intercept: (request: StoreRequest) => StoreFault | undefined | Promise<StoreFault | undefined> = () => undefined;
  /** Called after an object was stored. */
  onStored: (stored: { key: string; body: Uint8Array; isTorn: boolean }) => void = () => {};
  /** Called after an object was deleted. */
  onDeleted: (key: string) => void = () => {};
  /** Milliseconds since the epoch. */
  now: () => number = Date.now;
  readonly #late: (() => unknown)[] = [];
  #view: readonly ListedObject[] = [];

  constructor(name = "s3://test/inbox") {
    this.name = name;
  }

  async put(key: string, body: Uint8Array, { ifAbsent = false } = {}): Promise<"stored" | "exists"> {
    return this.#request({ method: "put", key }, (fault) => {
      if (ifAbsent && this.objects.has(key)) return "exists";
      const stored = fault === "torn" ? body.slice(0, body.length / 2) : body.slice();
      this.objects.set(key, { body: stored, storedAt: this.now() });
      this.onStored({ key, body, isTorn: fault === "torn" });
      return "stored";
    });
  }

  async get(key: string): Promise<StoredObject | undefined> {
    return this.#request({ method: "get", key }, (fault) => {
      const found = fault === "hidden" ? undefined : this.objects.get(key);
      const end = fault === "short" ? (found?.body.length ?? 0) / 2 : undefined;
      return found && { body: found.body.slice(0, end), ageMs: this.now() - found.storedAt };
    });
  }

  async list(prefix: string, { after = "" } = {}): Promise<ListedObject[]> {
    return this.#request({ method: "list", key: prefix }, (fault) =>
      (fault === "stale" ? this.#view : this.#listAll()).filter(({ key }) => key.startsWith(prefix) && key > after),
    );
  }

  /** Keeps the current list of all objects for stale lists. */
  keepView(): void {
    this.#view = this.#listAll();
  }

  #listAll(): ListedObject[] {
    return [...this.objects]
      .map(([key, { body }]) => ({ key, bytes: body.length }))
      .sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  async delete(key: string): Promise<void> {
    await this.#request({ method: "delete", key }, () => {
      if (this.objects.delete(key)) this.onDeleted(key);
    });
  }

  async wait(): Promise<void> {}

  /** The number of requests whose effect is late. */
  get late(): number {
    return this.#late.length;
  }

  /** Lets one of the late requests have its effect. */
  runLate(index: number): void {
    this.#late.splice(index, 1)[0]?.();
  }

  async #request<Result>(request: StoreRequest, run: (fault: StoreFault | undefined) => Result): Promise<Result> {
    this.requests.push(request);
    const fault = await this.intercept(request);
    if (fault === "failed") throw new ObjectStoreError("The connection was closed.", { isRefused: false });
    if (fault === "throttled") {
      throw new ObjectStoreError("Too many requests.", { isRefused: false, status: 429, retryAfterMs: 3_600_000 });
    }
    if (fault === "refused") throw new ObjectStoreError("Access denied.", { isRefused: true, status: 403 });
    if (fault === "late") {
      this.#late.push(() => run(undefined));
      throw new ObjectStoreError("The request has timed out.", { isRefused: false });
    }
    const result = run(fault);
    if (fault === "lost answer" || fault === "torn")
      throw new ObjectStoreError("The connection was closed.", { isRefused: false });
    return result;
  }
}

/** Returns the view of one process, whose requests call `intercept` before they reach the store. */
export function viewOf(
  store: MemoryObjectStore,
  intercept: (request: StoreRequest) => StoreFault | undefined | Promise<StoreFault | undefined>,
): MemoryObjectStore {
  return new Proxy(store, {
    get(target, name: keyof MemoryObjectStore) {
      if (name !== "put" && name !== "get" && name !== "list" && name !== "delete") return target[name];
      return async (key: string, ...rest: never[]) => {
        const fault = await intercept({ method: name, key });
        if (fault !== undefined) target.intercept = () => fault;
        const method: (key: string, ...rest: never[]) => Promise<unknown> = target[name];
        const result = method.call(target, key, ...rest);
        if (fault !== undefined) target.intercept = () => undefined;
        return result;
      };
    },
  });
}

/** Opens an inbox in a store and closes it after the test. Processes of the same Space can take over from each other. */
export async function openMemoryInbox(
  store: MemoryObjectStore,
  options: Partial<OpenBucketInboxOptions> = {},
): Promise<{ inbox: BucketInbox; logger: MemoryLogger }> {
  const logger = createMemoryLogger();
  const inbox = await openBucketInbox({
    store,
    spaceId: "acme/receiver",
    takeOver: false,
    log: logger,
    now: Date.now,
    pollMs: 20,
    ...options,
  });
  onTestFinished(async () => {
    store.intercept = () => undefined;
    await inbox.close(0);
  });
  return { inbox, logger };
}

/** Returns the IDs of all deliveries, oldest first. */
export async function listIds(inbox: Inbox): Promise<string[]> {
  return (await inbox.list({ limit: 1_000 })).deliveries.map(({ id }) => id).reverse();
}

export function storesRecord({ method, key }: StoreRequest): boolean {
  return method === "put" && recordNumber(key) !== undefined;
}

export function lastRecord(store: MemoryObjectStore): number {
  return Math.max(0, ...[...store.objects.keys()].map((key) => recordNumber(key) ?? 0));
}

/** Returns the keys of the manifests of all complete snapshots. */
export function manifests(store: MemoryObjectStore): string[] {
  return [...store.objects.keys()].filter((key) => key.endsWith("/manifest")).sort();
}

/** Stores deliveries, each in its own record, until the owner has stored a number of new snapshots. Adds their IDs. */
export async function storeSnapshots(
  inbox: Inbox,
  store: MemoryObjectStore,
  { count, ids }: { count: number; ids: string[] },
): Promise<void> {
  for (let stored = 0; stored < count; stored += 1) {
    const newest = manifests(store).at(-1);
    while (manifests(store).at(-1) === newest) {
      await acceptNext(inbox, ids);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** Stores one more delivery in a record of its own. */
export async function acceptNext(inbox: Inbox, ids: string[]): Promise<void> {
  const id = `d${ids.length}`;
  await inbox.accept(incoming(id));
  ids.push(id);
}
