import type { Logger } from "../core/logger.ts";
import { optionError } from "../core/option-error.ts";
import type { Inbox } from "./inbox.ts";
import type { CompactedInbox } from "./sqlite/compact.ts";

/** Where the inbox is, unless it is said. */
export const defaultInboxUrl = "sqlite:./.hub-webhooks/inbox.db";

/** What {@link openInbox} needs. */
export interface OpenInboxOptions {
  /**
   * `sqlite:PATH`, or `sqlite::memory:`. Default `sqlite:./.hub-webhooks/inbox.db`. With `?unsafe-file-system=allow`
   * behind it, a file on a network file system or on FUSE is warned of instead of refused. Or a server, for several
   * receivers: `redis:`, `rediss:`, `postgres:` or `postgresql:`, with host, user and password as usual.
   */
  url: string | undefined;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Whether to fail where there is no inbox yet, for whoever only looks into it. Default `false`: it is made. */
  mustExist?: boolean;
}

/**
 * Opens the inbox that a URL names.
 *
 * @throws `OPTION_INVALID` for a URL of another kind, `INBOX_UNUSABLE`.
 */
export async function openInbox({
  url = defaultInboxUrl,
  log,
  now,
  mustExist = false,
}: OpenInboxOptions): Promise<Inbox> {
  if (isServerUrl(url)) {
    const { openBullmqInbox } = await import("./bullmq/open.ts");
    return openBullmqInbox({ url, log, now, mustExist });
  }
  const { file, unsafeFileSystem } = parseSqliteUrl(url);
  if (file === ":memory:" && !mustExist) {
    log().warn(
      "The inbox is in memory: what it has acknowledged is lost when this process ends. Use it for tests only.",
    );
  }
  const { SqliteInbox } = await import("./sqlite/sqlite-inbox.ts");
  return new SqliteInbox({ file, unsafeFileSystem, log, now, mustExist });
}

/**
 * Gives the unused space of an inbox in a SQLite file back to the disk. No process may have it open.
 *
 * @throws `OPTION_INVALID` for a URL of another kind, `INBOX_IN_USE`, `INBOX_UNUSABLE`.
 */
export async function compactInbox(url: string = defaultInboxUrl): Promise<CompactedInbox> {
  if (isServerUrl(url)) {
    throw optionError(
      "Only an inbox in a SQLite file can be compacted. Redis and PostgreSQL manage their space themselves.",
    );
  }
  const { file } = parseSqliteUrl(url);
  const { compactInboxFile } = await import("./sqlite/compact.ts");
  return compactInboxFile(file);
}

function isServerUrl(url: string): boolean {
  return /^(?:rediss?|postgres(?:ql)?):\/\//.test(url);
}

function parseSqliteUrl(url: string): { file: string; unsafeFileSystem: "refuse" | "allow" } {
  const [, file, unsafe] = /^sqlite:(?:\/\/)?(.+?)(\?unsafe-file-system=allow)?$/s.exec(url) ?? [];
  if (file !== undefined) return { file, unsafeFileSystem: unsafe === undefined ? "refuse" : "allow" };
  // Not shown: it may hold a password.
  throw optionError(
    'Unsupported inbox URL. Set INBOX_URL (or the option "inbox") to "sqlite:" and a file, as in sqlite:./data/inbox.db, or to the address of a server that begins with redis://, rediss:// or postgres://.',
  );
}
