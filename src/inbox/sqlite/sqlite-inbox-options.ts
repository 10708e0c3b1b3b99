import type { Logger } from "../../core/logger.ts";
import { defaultMaxBlockedMs } from "../loop-monitor.ts";
import type { LoggedDatabase } from "./inbox-file.ts";

export interface SqliteInboxOptions {
  /** The path of the file, or `:memory:` for an inbox that is lost when the process exits. */
  file: string;
  /** Whether to reject a file on a network file system or on FUSE, or to accept it with a warning. Default `"refuse"`. */
  unsafeFileSystem?: "refuse" | "allow";
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a monotonic clock. Default `performance.now`. */
  monotonicNow?: () => number;
  /** The maximum number of queued deliveries per endpoint. Default `100_000`. */
  maxQueued?: number;
  /** If a process sends no heartbeats for this time in milliseconds, its deliveries are recovered. Default `30_000`. */
  leaseMs?: number;
  /**
   * How long the event loop can be blocked before it counts as hung, in milliseconds. A hung process sends no
   * heartbeats. Default `600_000`.
   */
  maxBlockedMs?: number;
  /**
   * The interval between polls, in milliseconds. A poll finds deliveries that other processes stored, due deliveries, and crashed
   * processes. Default `1_000`.
   */
  pollMs?: number;
  /** The delay of the first prune, in milliseconds. Later prunes run every hour. Default `10_000`. */
  firstPruneMs?: number;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
  /**
   * The open database at `file`, and the log that stores its changes before each commit. No other process may use the file. The
   * file must contain no running deliveries of processes that can still store results.
   */
  logged?: LoggedDatabase;
}

/** The options with their defaults, except the database of a logged inbox. */
export type ResolvedSqliteOptions = Required<Omit<SqliteInboxOptions, "logged">>;

/** Adds the defaults to the options of an inbox. */
export function resolveSqliteOptions(options: Omit<SqliteInboxOptions, "logged">): ResolvedSqliteOptions {
  return {
    unsafeFileSystem: "refuse",
    monotonicNow: () => performance.now(),
    maxQueued: 100_000,
    leaseMs: 30_000,
    maxBlockedMs: defaultMaxBlockedMs,
    pollMs: 1_000,
    // The first prune is delayed, because the first deliveries have priority.
    firstPruneMs: 10_000,
    mustExist: false,
    ...options,
  };
}
