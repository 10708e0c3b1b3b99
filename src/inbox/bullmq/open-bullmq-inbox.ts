import type { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { optionError } from "../../core/options.ts";
import { RepeatedErrors } from "../errors.ts";
import { BullmqInbox, type BullmqInboxOptions } from "./bullmq-inbox.ts";
import { connectPostgres } from "./postgres.ts";
import { loadPostgresPackages, loadRedisPackages } from "./queue-server.ts";
import { connectRedis } from "./redis.ts";

export interface OpenBullmqOptions
  extends Pick<BullmqInboxOptions, "maxQueued" | "leaseMs" | "deadlineMs" | "readMs" | "maxBlockedMs" | "stalledMs"> {
  /** A `redis:`, `rediss:`, `postgres:`, or `postgresql:` URL. */
  url: string;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
  /** The timeout for connecting to the server and preparing it. Default `8_000`. */
  startMs?: number;
  log: Logger;
  now: () => number;
}

/**
 * Opens an inbox in Redis or PostgreSQL. Servers on several machines can share the inbox.
 *
 * @throws `OPTION_INVALID` if the URL is invalid, `INBOX_UNUSABLE` if a required package is not installed or the inbox server cannot
 * be reached.
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
  // Connections are retried every few seconds.
  const errors = new RepeatedErrors(now);
  const onError = (error: Error) => {
    if (!errors.shouldLog(error)) return;
    log.error(
      { err: error },
      "The inbox reported an error. Failed operations are retried. If the error persists, check the inbox server.",
    );
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

/**
 * Returns the error for an invalid URL. The message quotes neither the URL nor the parser error, because both can contain a
 * password.
 */
function urlInvalid(): WebhookError {
  return optionError(
    "INBOX_URL is not a valid URL. Percent-encode special characters in the username and the password, as in redis://user:p%40ss@host:6379/0.",
  );
}
