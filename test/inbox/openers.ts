import { join } from "node:path";
import { parseBucketUrl, readBucketCredentials } from "../../src/inbox/bucket/bucket-url.ts";
import type { ObjectStore } from "../../src/inbox/bucket/object-store.ts";
import type { RetryPolicy } from "../../src/inbox/retry.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import type { EngineOptions } from "./engine.ts";

/**
 * Functions that open an inbox, by engine name. This file does not import vitest, because processes started by tests
 * use it. Each engine loads its own packages only.
 */
export const openers = {
  SQLite: ({ store, ...options }: EngineOptions) =>
    new SqliteInbox({ now: Date.now, pollMs: 20, ...options, file: join(store, "inbox.db") }),
  Bucket: async ({ store, leaseMs: _unused, ...options }: EngineOptions) => {
    const { openBucketInbox } = await import("../../src/inbox/bucket/open-bucket.ts");
    return openBucketInbox({
      store: await openTestBucket(store),
      spaceId: "acme/receiver",
      takeOver: false,
      now: Date.now,
      pollMs: 20,
      ...options,
    });
  },
  PostgreSQL: openServer,
  Redis: openServer,
};

/** Opens the bucket that the environment variables in a JSON text describe. */
export async function openTestBucket(json: string): Promise<ObjectStore> {
  const variables: Record<string, string> = JSON.parse(json);
  const read = (name: string) => variables[name];
  const { openS3ObjectStore } = await import("../../src/inbox/bucket/s3.ts");
  const location = parseBucketUrl(read("INBOX_URL") ?? "", read);
  return openS3ObjectStore({ location, credentials: readBucketCredentials(location.name, read) });
}

async function openServer({ store, ...options }: EngineOptions) {
  const { openBullmqInbox } = await import("../../src/inbox/bullmq/bullmq-inbox.ts");
  return openBullmqInbox({ url: store, now: Date.now, ...options });
}

/** Two attempts with a wait that is short enough for tests. */
export const crashPolicy: RetryPolicy = { maxAttempts: 2, waitAfter: () => 1, totalWaitMs: 0 };
