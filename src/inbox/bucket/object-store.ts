import { WebhookError } from "../../core/errors.ts";
import { readJson } from "../../core/text.ts";
import type { BucketCredentials, BucketLocation } from "./bucket-url.ts";

/** Objects below a prefix of a bucket. Keys are relative to the prefix. */
export interface ObjectStore {
  /** The URL of the inbox without credentials and without its query, for messages. */
  readonly name: string;
  /** The options with which a thread can open the same store. Missing if the store exists only in this thread. */
  readonly connection?: StoreConnection;
  /**
   * With `ifAbsent`, the store decides atomically: of several concurrent requests for a key, only one resolves with `stored`.
   *
   * @throws {@link ObjectStoreError} if the object was not stored, or if it is unknown whether it was stored.
   */
  put(key: string, body: Uint8Array, options?: { ifAbsent?: boolean }): Promise<"stored" | "exists">;
  /** Returns `undefined` if no object has this key. @throws {@link ObjectStoreError} */
  get(key: string): Promise<StoredObject | undefined>;
  /** Lists all objects whose keys start with a prefix, after the key `after`, sorted by key. @throws {@link ObjectStoreError} */
  list(prefix: string, options?: { after?: string }): Promise<readonly ListedObject[]>;
  /** A missing object is no error. @throws {@link ObjectStoreError} */
  delete(key: string): Promise<void>;
  wait(ms: number): Promise<void>;
}

export interface StoreConnection {
  location: BucketLocation;
  credentials: BucketCredentials;
  /** The timeout of each request. Large transfers may take longer. Default `10_000`. */
  timeoutMs?: number;
}

export interface StoredObject {
  body: Uint8Array;
  /** The time since the object was stored, by the clock of the store. */
  ageMs: number;
}

export interface ListedObject {
  key: string;
  bytes: number;
}

export const accessHint =
  "Check that the bucket exists, and that the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY can read, write, list, and delete its objects.";

/** A failed request to an object store. The message contains no keys or signatures. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  /**
   * Whether the request had no effect, and fails again, such as for a wrong access key. Otherwise, it is unknown whether it had an
   * effect.
   */
  readonly isRefused: boolean;
  readonly status: number | undefined;
  readonly s3Code: string | undefined;
  /** How long to wait before the next request, if the store requested a wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, response: Partial<Omit<ObjectStoreError, keyof Error>> = {}) {
    super(message);
    this.isRefused = response.isRefused ?? false;
    this.status = response.status;
    this.s3Code = response.s3Code;
    this.retryAfterMs = response.retryAfterMs;
  }
}

const readPausesMs = [100, 300, 1_000, 2_500];

export interface ReadOptions<Content> {
  /** Returns the content, or `undefined` if the body is not complete and correct. */
  decode: (body: Uint8Array, ageMs: number) => Content | undefined | Promise<Content | undefined>;
  bytes?: number | undefined;
  /** Whether the first read decides that the object is missing. */
  isOptional?: boolean;
  /** Called after each unsuccessful read. Returns whether the object is no longer needed, so that it can have been deleted. */
  isObsolete?: () => Promise<boolean>;
}

export type ReadObject<Content> =
  | { state: "readable"; content: Content }
  | { state: "unreadable"; body: Uint8Array }
  | { state: "missing" | "obsolete" };

/**
 * Reads an object until its content is correct. One read proves nothing: a store can return a part of an object, a changed object, or
 * no object although there is one. An object counts as missing or unreadable only if several reads have the same result, and a list
 * does not contradict. Otherwise, throws {@link ObjectStoreError}.
 */
export async function readObject<Content>(
  store: ObjectStore,
  key: string,
  { decode, bytes, isOptional = false, isObsolete = async () => false }: ReadOptions<Content>,
): Promise<ReadObject<Content>> {
  const bodies: (Uint8Array | undefined)[] = [];
  for (const pauseMs of [...readPausesMs, undefined]) {
    const stored = await store.get(key);
    const content = stored && (await decode(stored.body, stored.ageMs));
    if (content !== undefined) return { state: "readable", content };
    if (stored === undefined && isOptional && bodies.length === 0) return { state: "missing" };
    if (await isObsolete()) return { state: "obsolete" };
    bodies.push(stored?.body);
    if (pauseMs !== undefined) await store.wait(pauseMs);
  }
  const [body] = bodies;
  const isCertain = bodies.every((other) => isSameBody(body, other)) && (bytes === undefined || bytes === body?.length);
  if (!isCertain) throw new ObjectStoreError("The bucket does not return the whole content of an object.");
  return body === undefined ? { state: "missing" } : { state: "unreadable", body };
}

const maxAheadBytes = 16 * 2 ** 20;

/** Reads up to `maxReads` objects at the same time, and yields the results in order. An error is thrown when its result is due. */
export async function* readAhead<Item, Result>(
  items: Iterable<Item>,
  options: { maxReads: number; bytesOf: (item: Item) => number; read: (item: Item) => Promise<Result> },
): AsyncGenerator<Result> {
  const reads: { reading: Promise<Result>; bytes: number }[] = [];
  let ahead = 0;
  for (const item of items) {
    const reading = options.read(item);
    reading.catch(() => {});
    const bytes = options.bytesOf(item);
    reads.push({ reading, bytes });
    ahead += bytes;
    while (reads.length >= options.maxReads || ahead > maxAheadBytes) {
      const next = reads.shift();
      if (next === undefined) break;
      ahead -= next.bytes;
      yield await next.reading;
    }
  }
  for (const { reading } of reads) yield await reading;
}

export function isSameBody(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}

export function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

export function parseJson(bytes: Uint8Array): unknown {
  return readJson(new TextDecoder().decode(bytes));
}

export const checkPrefix = "check/";

const requests = 8;
const maxAttempts = 3;
/** A store is unsupported only if so many checks in a row prove it, because a single response can be wrong. */
const maxViolations = 3;
/** A check reads its object so often before another one counts as stored, because a read can be short or damaged. */
const maxReads = 4;

/**
 * Checks that a store decides atomically between concurrent conditional requests. Otherwise, two processes could both own an inbox.
 *
 * @throws `INBOX_UNUSABLE` if it does not, {@link ObjectStoreError} if the store cannot be checked, such as during an outage.
 */
export async function checkObjectStore(store: ObjectStore): Promise<void> {
  for (let violations = 1; ; violations += 1) {
    const reason = await findViolation(store);
    if (reason === undefined) return;
    if (violations === maxViolations) throw unsupported(store, reason);
    await store.wait(200);
  }
}

async function findViolation(store: ObjectStore): Promise<string | undefined> {
  const key = `${checkPrefix}${crypto.randomUUID()}`;
  const bodies = Array.from({ length: requests }, (_, index) => new TextEncoder().encode(`${index}`));
  try {
    const puts = bodies.map((body) => putRepeatedly(store, key, body));
    // Waits for all requests, so that none of them stores the object after it was deleted.
    await Promise.allSettled(puts);
    const results = await Promise.all(puts);
    const winners = bodies.filter((_, index) => results[index] === "stored");
    if (winners.length > 1) {
      return `${winners.length} of ${requests} concurrent requests for one new object succeeded instead of 1`;
    }
    const candidates = winners.length === 1 ? winners : bodies.filter((_, index) => results[index] === "unknown");
    if (candidates.length === 0) {
      // The response to the successful one can be wrong.
      throw new ObjectStoreError("The bucket has rejected all of several concurrent requests for a new object.");
    }
    for (let read = 1; read <= maxReads; read += 1) {
      const stored = await store.get(key);
      if (candidates.some((body) => isSameBody(body, stored?.body))) return undefined;
      if (read < maxReads) await store.wait(200);
    }
    return "the stored object is not that of the successful request";
  } catch (error) {
    if (error instanceof ObjectStoreError && error.status === 501) {
      throw unsupported(store, "the request is not implemented", error);
    }
    throw error;
  } finally {
    // A start does not wait for the removal.
    void store.delete(key).catch(() => {});
  }
}

/**
 * Stores may respond with an error, such as 409, to some of several concurrent requests for a key. `unknown`: the object existed when the
 * request was repeated, so the first request can have stored it.
 */
async function putRepeatedly(
  store: ObjectStore,
  key: string,
  body: Uint8Array,
): Promise<"stored" | "exists" | "unknown"> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await store.put(key, body, { ifAbsent: true });
      return result === "exists" && attempt > 1 ? "unknown" : result;
    } catch (error) {
      if (!(error instanceof ObjectStoreError) || error.isRefused || attempt === maxAttempts) throw error;
      await store.wait(attempt * 200);
    }
  }
}

function unsupported({ name }: ObjectStore, reason: string, cause?: ObjectStoreError): WebhookError {
  return new WebhookError(
    `The store of the inbox ${name} does not support conditional writes (If-None-Match): ${reason}. Use a store that supports them, such as a Storage Bucket of the Hub.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}
