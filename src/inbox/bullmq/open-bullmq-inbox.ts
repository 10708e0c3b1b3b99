import type { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-error.ts";
import { BullmqInbox, type BullmqInboxOptions } from "./bullmq-inbox.ts";
import { loadPostgresPackages, loadRedisPackages } from "./optional-packages.ts";
import { connectPostgres } from "./postgres.ts";
import { connectRedis } from "./redis.ts";

/** The options of {@link openBullmqInbox}. */
export interface OpenBullmqOptions
  extends Pick<BullmqInboxOptions, "maxQueued" | "leaseMs" | "deadlineMs" | "readMs" | "maxBlockedMs" | "stalledMs"> {
  /** `redis:`, `rediss:`, `postgres:` or `postgresql:`. */
  url: string;
  /** Whether to fail where there is no inbox yet, in place of making one. Default `false`. */
  mustExist?: boolean;
  /** How long the server may take until it can be used, in milliseconds. Default 8,000. */
  startMs?: number;
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The same error is not logged again within this time, in milliseconds: a connection is tried every second or so. */
const quietMs = 60_000;

/**
 * Opens an inbox on a server that several machines may share.
 *
 * @throws `OPTION_INVALID` for what is no URL; `INBOX_UNUSABLE` when a package that it needs is not installed, or the
 * server cannot be reached.
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
  const logged = new Map<string, number>();
  const onError = (error: Error) => {
    if (now() - (logged.get(error.message) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    logged.set(error.message, now());
    log().error({ err: error }, "The inbox server failed. The receiver tries again.");
  };
  const options = { ...limits, url, onError, log, now };
  const toServer = { url, mustExist, startMs, onError };
  if (/^rediss?:/.test(url)) {
    const packages = await loadRedisPackages();
    const server = await connectRedis({ ...toServer, packages });
    return new BullmqInbox({ ...options, server, bullmqErrors: packages.bullmq });
  }
  const packages = await loadPostgresPackages();
  const server = await connectPostgres({ ...toServer, packages });
  return new BullmqInbox({ ...options, server, bullmqErrors: packages.bullmq });
}

/** Does not quote the URL or the parser error: both may contain a password. */
function urlInvalid(): WebhookError {
  return optionError(
    "INBOX_URL is not a valid URL. Percent-encode special characters in the user and the password, as in redis://user:p%40ss@host:6379/0.",
  );
}
