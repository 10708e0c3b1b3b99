import { isTestRun, readEnvironment } from "../core/environment.ts";
import type { Logger } from "../core/log.ts";
import { optionError } from "../core/options.ts";
import { defaultInboxUrl, maskUrl } from "../core/urls.ts";
// Not from the engines: the declarations of the package would import node:sqlite.
import type { CompactedInbox, Inbox, RepairedGap } from "./inbox.ts";

/**
 * Parses the URL of an inbox as far as necessary to choose the engine. `file`: the path of the file, or `:memory:`.
 *
 * @throws `OPTION_INVALID` if the URL is not supported.
 */
export function parseInboxUrl(url: string) {
  if (/^(?:hf|s3):\/\//.test(url)) return { engine: "bucket" } as const;
  if (/^rediss?:\/\//.test(url)) return { engine: "redis" } as const;
  if (/^postgres(?:ql)?:\/\//.test(url)) return { engine: "postgres" } as const;
  const [, file, unsafe] = /^sqlite:(?:\/\/)?(.+?)(\?unsafe-file-system=allow)?$/s.exec(url) ?? [];
  if (file !== undefined) {
    return { engine: "sqlite", file, unsafeFileSystem: unsafe === undefined ? "refuse" : "allow" } as const;
  }
  // The message does not quote the URL, because the URL may contain a password.
  throw optionError(
    'Unsupported inbox URL. Set INBOX_URL (or the "inbox" option) to a file, such as sqlite:./data/inbox.db, to a bucket, such as hf://buckets/me/inbox, or to a redis://, rediss://, postgres://, or postgresql:// URL.',
  );
}

export const memoryWarning =
  "The inbox is in memory, so deliveries are lost when this process exits. To keep deliveries, set INBOX_URL to a file, such as sqlite:./data/inbox.db.";

export interface OpenInboxOptions {
  /**
   * `sqlite:PATH` or `sqlite::memory:`. Default `sqlite:./.hub-webhooks/inbox.db`. Append `?unsafe-file-system=allow` to allow
   * a file on a network file system or on FUSE, with a warning. If the local disk does not survive a restart, such as in a Space,
   * use a bucket: `hf://buckets/NAMESPACE/BUCKET` or `s3://BUCKET/PREFIX?endpoint=URL&region=REGION`. To share the inbox between several machines, use a `redis://`,
   * `rediss://`, `postgres://`, or `postgresql://` URL with the host, user, and password.
   */
  url: string | undefined;
  log: Logger;
  now: () => number;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
  /** `read`: only for reading. A process that owns an inbox in a bucket is then not affected. Default `"write"`. */
  access?: "read" | "write";
  /** Whether to take over an inbox in a bucket that another process owns. Default: whether `INBOX_TAKE_OVER` is `1`. */
  takeOver?: boolean;
  /** Reads an environment variable, such as the access key of a bucket. Default: from the environment of this process. */
  readVariable?: (name: string) => string | undefined;
  /** Stops the retries while a bucket is unavailable. */
  signal?: AbortSignal;
  /**
   * For servers. An inbox in a bucket can then be returned before it is open: it rejects deliveries while the bucket is unavailable, or
   * another process owns the inbox. Called if it later finds that it cannot be opened.
   */
  onFailure?: (error: unknown) => void;
}

/**
 * Opens the inbox at a URL.
 *
 * @throws `OPTION_INVALID` if the URL is not supported, `INBOX_UNUSABLE` if the inbox cannot be opened, `INBOX_IN_USE` if another
 *   process owns an inbox in a bucket.
 */
export async function openInbox({
  url = defaultInboxUrl,
  log,
  now,
  mustExist = false,
  access = "write",
  ...options
}: OpenInboxOptions): Promise<Inbox> {
  const parsed = parseInboxUrl(url);
  if (parsed.engine === "bucket") {
    const { openBucket, openBucketForReading } = await import("./bucket/open-bucket.ts");
    return access === "read"
      ? openBucketForReading({ url, log, ...options })
      : openBucket({ url, log, now, mustExist, ...options });
  }
  if (parsed.engine !== "sqlite") {
    const { openBullmqInbox } = await import("./bullmq/bullmq-inbox.ts");
    return openBullmqInbox({ url, log, now, mustExist });
  }
  const { file, unsafeFileSystem } = parsed;
  if (file === ":memory:" && !mustExist) log.warn(memoryWarning);
  const { SqliteInbox } = await import("./sqlite/sqlite-inbox.ts");
  return new SqliteInbox({ file, unsafeFileSystem, log, now, mustExist });
}

/**
 * Returns the unused space of an inbox in a SQLite file to the disk. Stop all processes that use the inbox first.
 *
 * @throws `OPTION_INVALID` if the URL does not point to a SQLite file, `INBOX_IN_USE` if a process has the file open,
 *   `INBOX_UNUSABLE` if the inbox cannot be opened or compacted.
 */
export async function compactInbox(url: string = defaultInboxUrl): Promise<CompactedInbox> {
  const parsed = parseInboxUrl(url);
  if (parsed.engine !== "sqlite") {
    throw optionError(
      "Only an inbox in a SQLite file can be compacted. Redis, PostgreSQL, and buckets reclaim unused space automatically.",
    );
  }
  const { compactInboxFile } = await import("./sqlite/inbox-file.ts");
  return compactInboxFile(parsed.file);
}

/**
 * Whether the URL points to a file on a local disk. Returns `false` for URLs with `?unsafe-file-system=allow`, because such files
 * are usually on a mounted bucket.
 *
 * @throws `OPTION_INVALID` if the URL is not supported.
 */
export function isOnLocalDisk(url: string = defaultInboxUrl): boolean {
  const parsed = parseInboxUrl(url);
  return parsed.engine === "sqlite" && parsed.file !== ":memory:" && parsed.unsafeFileSystem === "refuse";
}

/**
 * Repairs an inbox in a bucket: queues the deliveries of damaged records that are readable now.
 *
 * @throws `OPTION_INVALID` if the URL does not point to a bucket, `INBOX_IN_USE` if another process owns the inbox, `INBOX_UNUSABLE`
 *   if the inbox cannot be opened, `INBOX_UNAVAILABLE` if the changes cannot be stored.
 */
export async function repairInbox(
  url: string,
  options: Pick<OpenInboxOptions, "log" | "now" | "takeOver" | "readVariable">,
): Promise<RepairedGap[]> {
  if (parseInboxUrl(url).engine !== "bucket") {
    throw optionError("Only an inbox in a bucket (hf:// or s3://) can be repaired by this command.");
  }
  const { openBucket } = await import("./bucket/open-bucket.ts");
  const inbox = await openBucket({ url, mustExist: true, ...options });
  try {
    return await inbox.repair();
  } finally {
    await inbox.close(0);
  }
}

interface ConfiguredInboxOptions extends Required<Pick<OpenInboxOptions, "log" | "now" | "signal" | "onFailure">> {
  /** The URL of the inbox (see {@link configuredUrl}), or an `Inbox` object in place of the inbox of a session. */
  inbox: string | Inbox | undefined;
}

/** Limits the wait before retries, so that tests do not wait for the default backoff of seconds to hours. */
const maxTestRetryWaitMs = 50;

/** Returns the URL of a server's inbox: the given one, `INBOX_URL`, or the default. Returns `undefined` for memory, under a test runner. */
export function configuredUrl(url: string | undefined): string | undefined {
  return url ?? readEnvironment("INBOX_URL") ?? (isTestRun() ? undefined : defaultInboxUrl);
}

/**
 * Opens the inbox of a server with background endpoints. Returns an `Inbox` object with a warning, because the session cannot
 * replace it. `maxRetryWaitMs`: limits the wait before retries, if there is a limit.
 *
 * @throws `OPTION_INVALID`, `INBOX_UNUSABLE`.
 */
export async function openConfiguredInbox({
  inbox,
  ...options
}: ConfiguredInboxOptions): Promise<{ inbox: Inbox; maxRetryWaitMs?: number }> {
  const { log, now } = options;
  if (typeof inbox === "object") {
    log.warn(
      "The server uses its own Inbox object, not the inbox of this session, and runs the deliveries in it. To keep the session separate, pass a URL to new WebhooksServer({ inbox }) instead.",
    );
    return { inbox };
  }
  const url = configuredUrl(inbox);
  if (url === undefined) {
    // A file would be shared with a server in the same folder.
    log.info(
      'The inbox is in memory, because a test runner is active. Set INBOX_URL or the "inbox" option to use another inbox.',
    );
    const { SqliteInbox } = await import("./sqlite/sqlite-inbox.ts");
    return { inbox: new SqliteInbox({ file: ":memory:", log, now }), maxRetryWaitMs: maxTestRetryWaitMs };
  }
  const opened = await openInbox({ url, ...options });
  // A bucket can be unavailable at the start. Its inbox logs when it is open.
  if (parseInboxUrl(url).engine !== "bucket") {
    log.info({ inbox: maskUrl(url) }, "Opened the inbox for background deliveries.");
  }
  return { inbox: opened };
}

export const spaceDiskWarning =
  "The inbox is on the disk of this Space. Every restart erases the disk, including queued deliveries. Set INBOX_URL (Settings, Variables and secrets) to a Storage Bucket, such as hf://buckets/me/inbox, and AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to its S3 credentials. Redis and PostgreSQL servers need port 80, 443, or 8080, because a Space cannot connect to other ports.";
