import { defaultInboxUrl } from "../core/defaults.ts";
import type { Logger } from "../core/logger.ts";
import { optionError } from "../core/option-error.ts";
import type { Inbox } from "./inbox.ts";
import type { CompactedInbox } from "./sqlite/compact-inbox.ts";

export interface OpenInboxOptions {
  /**
   * `sqlite:PATH` or `sqlite::memory:`. Default `sqlite:./.hub-webhooks/inbox.db`. Append `?unsafe-file-system=allow` to allow
   * a file on a network file system or on FUSE, with a warning. To share the inbox between several machines, use a `redis://`,
   * `rediss://`, `postgres://`, or `postgresql://` URL with the host, user, and password.
   */
  url: string | undefined;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
}

/**
 * Opens the inbox at a URL.
 *
 * @throws `OPTION_INVALID` if the URL is not supported, `INBOX_UNUSABLE` if the inbox cannot be opened.
 */
export async function openInbox({
  url = defaultInboxUrl,
  log,
  now,
  mustExist = false,
}: OpenInboxOptions): Promise<Inbox> {
  if (isServerUrl(url)) {
    const { openBullmqInbox } = await import("./bullmq/open-bullmq-inbox.ts");
    return openBullmqInbox({ url, log, now, mustExist });
  }
  const { file, unsafeFileSystem } = parseSqliteUrl(url);
  if (file === ":memory:" && !mustExist) {
    log.warn(
      "The inbox is in memory, so deliveries are lost when this process exits. To keep deliveries, set INBOX_URL to a file, such as sqlite:./data/inbox.db.",
    );
  }
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
  if (isServerUrl(url)) {
    throw optionError(
      "Only an inbox in a SQLite file can be compacted. Redis and PostgreSQL reclaim unused space automatically.",
    );
  }
  const { file } = parseSqliteUrl(url);
  const { compactInboxFile } = await import("./sqlite/compact-inbox.ts");
  return compactInboxFile(file);
}

/**
 * Whether the URL points to a file on a local disk. Returns `false` for URLs with `?unsafe-file-system=allow`, because such files
 * are usually on a mounted bucket.
 *
 * @throws `OPTION_INVALID` if the URL is not supported.
 */
export function isOnLocalDisk(url: string = defaultInboxUrl): boolean {
  if (isServerUrl(url)) return false;
  const { file, unsafeFileSystem } = parseSqliteUrl(url);
  return file !== ":memory:" && unsafeFileSystem === "refuse";
}

function isServerUrl(url: string): boolean {
  return /^(?:rediss?|postgres(?:ql)?):\/\//.test(url);
}

function parseSqliteUrl(url: string): { file: string; unsafeFileSystem: "refuse" | "allow" } {
  const [, file, unsafe] = /^sqlite:(?:\/\/)?(.+?)(\?unsafe-file-system=allow)?$/s.exec(url) ?? [];
  if (file !== undefined) return { file, unsafeFileSystem: unsafe === undefined ? "refuse" : "allow" };
  // The message does not quote the URL, because the URL may contain a password.
  throw optionError(
    'Unsupported inbox URL. Set INBOX_URL (or the "inbox" option) to a file, such as sqlite:./data/inbox.db, or to a redis://, rediss://, postgres://, or postgresql:// URL.',
  );
}
