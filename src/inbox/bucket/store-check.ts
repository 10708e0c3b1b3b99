import { setTimeout as delay } from "node:timers/promises";
import { WebhookError } from "../../core/errors.ts";
import { type ObjectStore, ObjectStoreError } from "./object-store.ts";

const requests = 8;
const maxAttempts = 3;

export interface StoreCheckOptions {
  /** Waits before a request is repeated. Default: a timer. */
  wait?: (ms: number) => Promise<void>;
}

/**
 * Checks that a store decides atomically between concurrent conditional requests. Without this property, two processes could both
 * own an inbox, and deliveries could be lost.
 *
 * @throws `INBOX_UNUSABLE` if the store does not have this property or refuses a request, {@link ObjectStoreError} if the store
 *   cannot be checked, such as during an outage.
 * @example
 * ```ts
 * const store = await openS3ObjectStore({ location, credentials });
 * await checkObjectStore(store);
 * ```
 */
export async function checkObjectStore(
  store: ObjectStore,
  { wait = (ms) => delay(ms) }: StoreCheckOptions = {},
): Promise<void> {
  const key = `check/${crypto.randomUUID()}`;
  const bodies = Array.from({ length: requests }, (_, index) => new TextEncoder().encode(`${index}`));
  try {
    // Waits for all requests, so that none of them stores the object after it was deleted.
    const settled = await Promise.allSettled(bodies.map((body) => putRepeatedly(store, { key, body, wait })));
    const results = settled.map((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    });
    const stored = await store.get(key);
    const reason = findViolation({ bodies, results, stored: stored?.body });
    if (reason !== undefined) throw unsupported(store, reason);
  } catch (error) {
    throw error instanceof ObjectStoreError && error.isRefused ? refused(store, error) : error;
  } finally {
    await store.delete(key).catch(() => {});
  }
}

/** The result of a request. `unknown`: the object existed when the request was repeated, so the first request can have stored it. */
type PutResult = "stored" | "exists" | "unknown";

/** Stores may respond with an error to some of several concurrent requests for a key, such as 409. */
async function putRepeatedly(
  store: ObjectStore,
  { key, body, wait }: { key: string; body: Uint8Array } & Required<StoreCheckOptions>,
): Promise<PutResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await store.put(key, body, { ifAbsent: true });
      return result === "exists" && attempt > 1 ? "unknown" : result;
    } catch (error) {
      if (!(error instanceof ObjectStoreError) || error.isRefused || attempt === maxAttempts) throw error;
      await wait(attempt * 200);
    }
  }
}

/** Returns the reason why the results are wrong, or `undefined` if exactly one request has stored its object. */
function findViolation({
  bodies,
  results,
  stored,
}: {
  bodies: readonly Uint8Array[];
  results: readonly PutResult[];
  stored: Uint8Array | undefined;
}): string | undefined {
  const winners = bodies.filter((_, index) => results[index] === "stored");
  const candidates = winners.length > 0 ? winners : bodies.filter((_, index) => results[index] === "unknown");
  if (winners.length > 1 || candidates.length === 0) {
    return `${winners.length} of ${requests} concurrent requests for one new object succeeded instead of 1`;
  }
  const isWinner = stored !== undefined && candidates.some((body) => Buffer.compare(body, stored) === 0);
  return isWinner ? undefined : "the stored object is not that of the successful request";
}

function unsupported({ name }: ObjectStore, reason: string, cause?: ObjectStoreError): WebhookError {
  return new WebhookError(
    `The store of the inbox ${name} does not support conditional writes (If-None-Match): ${reason}. Use a store that supports them, such as a Storage Bucket of the Hub.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}

function refused(store: ObjectStore, cause: ObjectStoreError): WebhookError {
  if (cause.status === 501) return unsupported(store, "the request is not implemented", cause);
  return new WebhookError(
    `The inbox ${store.name} cannot be used: ${cause.message} Check that the bucket exists, and that the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY can read, write, list, and delete its objects.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}
