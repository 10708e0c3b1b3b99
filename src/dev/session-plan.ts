import { randomBytes } from "node:crypto";
import { toMilliseconds } from "../core/duration.ts";
import { optionError } from "../core/option-error.ts";
import { type KnownWatched, parseWatch } from "../payload/watch.ts";
import { findServerFile } from "../server-file/find.ts";
import type { SessionSecret } from "../server-file/server-process.ts";
import type { StartDevOptions } from "./dev-options.ts";
import { usualPort } from "./dev-proxy.ts";

/** What the options of a session come to. */
export interface SessionPlan {
  /** Absolute path of the server's file. */
  path: string;
  isReal: boolean;
  /** `false`: the session opens none. */
  tunnel: NonNullable<StartDevOptions["tunnel"]>;
  /** An address of the user's own that leads here. */
  publicUrl: string | undefined;
  /** Whether an address that anybody can find leads here. */
  isPublic: boolean;
  /** Asked for wherever that is so, and where the server has none of its own: any page in a browser can send deliveries. */
  secret: SessionSecret;
  /** URL of the session's inbox; `undefined`: {@link devInboxUrl}. */
  inbox: string | undefined;
  /** What to watch for endpoints that do not say; `undefined`: nobody has said that either. */
  watch: readonly KnownWatched[] | undefined;
  repairMs: number;
}

/**
 * The inbox of a session at this port. Not the one of a launched server, nor that of another session in the folder: none
 * must run what another has queued.
 */
export function devInboxUrl(port: number): string {
  return `sqlite:./.hub-webhooks/${port === usualPort ? "dev" : `dev-${port}`}.db`;
}

/**
 * Checks the options of a session and says what is to be done.
 *
 * @throws `OPTION_INVALID`, `SERVER_FILE_INVALID`.
 */
export function planSession(options: StartDevOptions): SessionPlan {
  const { file, publicUrl, watch, repairInterval = "1m" } = options;
  const isReal = options.hub === "real";
  const tunnel = options.tunnel ?? (isReal && publicUrl === undefined ? {} : false);
  if (tunnel !== false && publicUrl !== undefined) {
    throw optionError('Option "publicUrl" takes the place of a tunnel: leave it out, or "tunnel".');
  }
  const isPublic = tunnel !== false || publicUrl !== undefined;
  if (isReal && !isPublic) {
    throw optionError(
      'The real Hub cannot reach this machine without a tunnel: leave "tunnel: false" out, or give a "publicUrl" that leads here.',
    );
  }
  return {
    path: findServerFile({ file }),
    isReal,
    tunnel,
    publicUrl,
    isPublic,
    secret: {
      text: randomBytes(32).toString("hex"),
      // Webhooks of the user's own may lead to an address of the user's own: they go on to work.
      use: !isPublic ? "where-open" : publicUrl === undefined ? "instead" : "besides",
    },
    inbox: options.inbox,
    watch: watch?.map(readWatch),
    repairMs: toMilliseconds(repairInterval, "repairInterval"),
  };
}

function readWatch(watch: string): KnownWatched {
  const parsed = parseWatch(watch);
  if ("problem" in parsed) throw optionError(`Option "watch": ${parsed.problem}`);
  return parsed;
}
