import { WebhookError } from "../../core/errors.ts";
import { type ObjectStore, ObjectStoreError } from "./object-store.ts";

const requests = 8;
const maxChecks = 3;

/**
 * Checks that a store decides atomically between concurrent conditional requests. Without this property, two processes could both
 * own an inbox, and deliveries could be lost.
 *
 * @throws `INBOX_UNUSABLE` if the store does not have this property or refuses a request, {@link ObjectStoreError} if the store
 *   cannot be checked.
 */
export async function checkObjectStore(store: ObjectStore): Promise<void> {
  for (let remaining = maxChecks; ; remaining -= 1) {
    try {
      return await checkOnce(store);
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      if (error.isRefused) throw refused(store, error);
      if (remaining === 1) throw error;
    }
  }
}

async function checkOnce(store: ObjectStore): Promise<void> {
  const key = `check/${crypto.randomUUID()}`;
  const bodies = Array.from({ length: requests }, (_, index) => new TextEncoder().encode(`${index}`));
  try {
    const results = await Promise.all(bodies.map((body) => store.put(key, body, { ifAbsent: true })));
    const winners = bodies.filter((_, index) => results[index] === "stored");
    const stored = await store.get(key);
    const [winner] = winners;
    if (winners.length === 1 && winner && stored && Buffer.compare(winner, stored.body) === 0) return;
    const reason =
      winners.length === 1
        ? "the stored object is not that of the successful request"
        : `${winners.length} of ${requests} concurrent requests for one new object succeeded instead of 1`;
    throw new WebhookError(
      `The store of the inbox ${store.name} does not support conditional writes (If-None-Match): ${reason}. Use a store that supports them, such as a Storage Bucket of the Hub.`,
      { code: "INBOX_UNUSABLE" },
    );
  } finally {
    await store.delete(key).catch(() => {});
  }
}

function refused(store: ObjectStore, cause: ObjectStoreError): WebhookError {
  return new WebhookError(
    `The inbox ${store.name} cannot be used: ${cause.message} Check that the bucket exists, and that the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY can read, write, list, and delete its objects.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}
