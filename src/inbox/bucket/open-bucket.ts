import { setTimeout as wait } from "node:timers/promises";
import { readEnvironment } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { Inbox } from "../inbox.ts";
import type { BucketInbox } from "./bucket-inbox.ts";
import { BucketReader } from "./bucket-reader.ts";
import { parseBucketUrl, readBucketCredentials } from "./bucket-url.ts";
import { type ObjectStore, ObjectStoreError } from "./object-store.ts";
import { openBucketInbox } from "./open-bucket-inbox.ts";
import { openS3ObjectStore } from "./s3-object-store.ts";
import { checkObjectStore } from "./store-check.ts";

/** How long an unavailable bucket is retried when the inbox is opened, and the pause between two attempts, in milliseconds. */
const maxOpenMs = 120_000;
const pauseMs = 2_000;

export interface OpenBucketOptions {
  url: string;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Whether to take over the inbox although another process owns it. Default: whether `INBOX_TAKE_OVER` is `1`. */
  takeOver?: boolean;
  /** Reads an environment variable. Default: from the environment of this process. */
  readVariable?: (name: string) => string | undefined;
  /** Stops the retries. */
  signal?: AbortSignal;
  /** Whether to fail if the bucket contains no inbox, instead of creating one. */
  mustExist: boolean;
}

/**
 * Opens the inbox at an `hf://` or `s3://` URL, and takes it over. Retries for 2 minutes while the bucket is unavailable, because a
 * Space whose program exits does not start again by itself.
 *
 * @throws `OPTION_INVALID`, `INBOX_IN_USE`, `INBOX_UNUSABLE`, `AbortError`.
 */
export async function openBucket({
  url,
  log,
  now,
  readVariable = readEnvironment,
  takeOver = readVariable("INBOX_TAKE_OVER") === "1",
  mustExist,
  signal,
}: OpenBucketOptions): Promise<BucketInbox> {
  const store = await openStore(url, readVariable);
  const giveUpAt = performance.now() + maxOpenMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (mustExist) await (await BucketReader.open({ store, log })).close();
      await checkObjectStore(store);
      return await openBucketInbox({ store, spaceId: readVariable("SPACE_ID"), takeOver, log, now });
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      if (error.isRefused || performance.now() >= giveUpAt) throw bucketUnusable(store, error);
      if (isFirst)
        log.warn({ err: error }, "The bucket of the inbox is unavailable. The server retries for 2 minutes.");
    }
    await wait(pauseMs, undefined, { ...(signal && { signal }) });
  }
}

/**
 * Opens the inbox at an `hf://` or `s3://` URL for reading. The process that owns the inbox is not affected.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export async function openBucketForReading({
  url,
  log,
  readVariable = readEnvironment,
}: Pick<OpenBucketOptions, "url" | "log" | "readVariable">): Promise<Inbox> {
  const store = await openStore(url, readVariable);
  try {
    return await BucketReader.open({ store, log });
  } catch (error) {
    throw error instanceof ObjectStoreError ? bucketUnusable(store, error) : error;
  }
}

function openStore(url: string, readVariable: (name: string) => string | undefined): Promise<ObjectStore> {
  const location = parseBucketUrl(url, readVariable);
  return openS3ObjectStore({ location, credentials: readBucketCredentials(location.name, readVariable) });
}

function bucketUnusable({ name }: ObjectStore, cause: ObjectStoreError): WebhookError {
  return new WebhookError(
    `The inbox ${name} cannot be opened: ${cause.message} Check that the bucket exists, and that the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY can read, write, list, and delete its objects.`,
    { code: "INBOX_UNUSABLE", cause },
  );
}
