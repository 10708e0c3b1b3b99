import type { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-error.ts";
import { BullmqInbox, type BullmqInboxOptions } from "./bullmq-inbox.ts";
import { loadPostgresPackages, loadRedisPackages } from "./optional-packages.ts";
import { connectPostgres } from "./postgres.ts";
import { connectRedis } from "./redis.ts";

export interface OpenBullmqOptions
  extends Pick<BullmqInboxOptions, "maxQueued" | "leaseMs" | "deadlineMs" | "readMs" | "maxBlockedMs" | "stalledMs"> {
  /** `redis:`, `rediss:`, `postgres:` or `postgresql:`. */
  url: string;
  /** Whether to fail if there is no inbox yet, instead of creating it. Default `false`. */
  mustExist?: boolean;
  /** The maximum time to connect to the server and to prepare it, in milliseconds. Default 8,000. */
  startMs?: number;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The minimum time between two log lines about the same error, in milliseconds: connections are retried every few seconds. */
const logIntervalMs = 60_000;

/**
 * Opens an inbox in Redis or PostgreSQL, which receivers on several machines can share.
 *
 * @throws `OPTION_INVALID` if the URL is invalid; `INBOX_UNUSABLE` if a required package is not installed, or the server cannot be
 * reached.
 */
export async function openBullmqInbox({
  url,
  mustExist = false,
  startMs = 8_000,
  log,
  now,
  ...limits
}: OpenBullmqOptions): Promise<BullmqInbox> {
  if (!URL.canParse(url)) throw urlInvalid();
  const loggedAt = new Map<string, number>();
  const onError = (error: Error) => {
    if (now() - (loggedAt.get(error.message) ?? Number.NEGATIVE_INFINITY) < logIntervalMs) return;
    loggedAt.set(error.message, now());
    log().error({ err: error }, "The inbox server failed. The receiver tries again.");
  };
  const options = { ...limits, url, onError, log, now };
  const connectOptions = { url, mustExist, startMs, onError };
  if (/^rediss?:/.test(url)) {
    const packages = await loadRedisPackages();
    const server = await connectRedis({ ...connectOptions, packages });
    return new BullmqInbox({ ...options, server, bullmqErrors: packages.bullmq });
  }
  const packages = await loadPostgresPackages();
  const server = await connectPostgres({ ...connectOptions, packages });
  return new BullmqInbox({ ...options, server, bullmqErrors: packages.bullmq });
}

/** Does not quote the URL or the parser error: both may contain a password. */
function urlInvalid(): WebhookError {
  return optionError(
    "INBOX_URL is not a valid URL. Percent-encode special characters in the user and the password, as in redis://user:p%40ss@host:6379/0.",
  );
}
