import { randomBytes } from "node:crypto";
import { defaultPort } from "../core/defaults.ts";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { optionError } from "../core/option-error.ts";
import { parseWatch, type Watch, type WatchedItem } from "../payload/watch.ts";
import { findServerFile } from "../server-file/find-server-file.ts";
import type { SessionSecret } from "../server-file/messages.ts";
import type { OpenTunnelOptions } from "../tunnel/tunnel.ts";
import type { DevEvent } from "./dev-event.ts";

/** The options of `startDev`. */
export interface StartDevOptions {
  /** The file that creates the server. Default: the first of `server.ts`, `src/server.ts`, `app.ts`, and so on. */
  file?: string;
  /**
   * Where to register the webhooks: on a local Hub that is started for the session (`"local"`, the default), without an
   * account or internet access, or through a tunnel on the Hub at `hubUrl` (`"real"`).
   */
  hub?: "local" | "real";
  /** Local port of the server. Default 7860, or the next free port. */
  port?: number;
  /** Port of the local Hub. Default 5050, or the next free port. */
  hubPort?: number;
  /**
   * URL of the session's inbox. Overrides `INBOX_URL` and the options of the server, because a session must not run the
   * queued deliveries of a deployed server. Default `sqlite:./.hub-webhooks/dev.db`, or `dev-<port>.db` at a port other than
   * 7860.
   */
  inbox?: string;
  /** The tunnel. Default `{}` for the real Hub, and `false` for the local Hub, which delivers on this machine. */
  tunnel?: false | Pick<OpenTunnelOptions, "provider" | "host" | "subdomain" | "timeout" | "heartbeat">;
  /** Your own public URL that points to `port`, instead of a tunnel. */
  publicUrl?: string;
  /**
   * The default watch list for endpoints that do not set one. If omitted, the local Hub uses the repositories and
   * owners in the filter of the endpoint, or else everything of `local-user`. On the real Hub, such endpoints get no
   * webhook.
   */
  watch?: readonly Watch[];
  /** The token for the real Hub. Defaults to the token that `HubClient` finds. */
  token?: string;
  /** The URL of the real Hub. Default `HF_ENDPOINT`, or else `https://huggingface.co`. */
  hubUrl?: string;
  /**
   * The file that records the session's webhooks on the real Hub until they are deleted. Default
   * `.hub-webhooks/registrations.json`.
   */
  state?: string;
  /** Waits for a change if the file does not load at the start. Default `false`: `startDev` rejects. */
  waitForFile?: boolean;
  /** How often to revert changes and suspensions of the webhooks. Default `"1m"`. */
  repairInterval?: Duration;
  /** Receives every event. An error that it throws does not end the session. */
  onEvent?: (event: DevEvent) => void;
  /** Ends the session, even while it starts. */
  signal?: AbortSignal;
}

/** The validated options of a session. */
export interface DevConfig {
  /** Absolute path of the server file. */
  path: string;
  isReal: boolean;
  /** The tunnel, or `false` for no tunnel. */
  tunnel: NonNullable<StartDevOptions["tunnel"]>;
  publicUrl: string | undefined;
  /** Whether the server is reachable from the internet. */
  isPublic: boolean;
  /**
   * The secret of the session. It is required if the server is public or has no secret of its own, because otherwise
   * any web page could send deliveries.
   */
  secret: SessionSecret;
  /** The URL of the inbox. `undefined` selects {@link devInboxUrl}. */
  inbox: string | undefined;
  /** The default watch list for endpoints that do not set one. `undefined` derives the list from the filter. */
  watch: readonly WatchedItem[] | undefined;
  repairIntervalMs: number;
}

/**
 * Returns the default inbox of a session at this port. A launched server and other sessions in the folder use different
 * inboxes, so that no session runs the deliveries of another.
 */
export function devInboxUrl(port: number): string {
  return `sqlite:./.hub-webhooks/${port === defaultPort ? "dev" : `dev-${port}`}.db`;
}

/** @throws `OPTION_INVALID`, `SERVER_FILE_INVALID`. */
export function resolveDevOptions(options: StartDevOptions): DevConfig {
  const { file, publicUrl, watch, repairInterval = "1m" } = options;
  const isReal = options.hub === "real";
  const tunnel = options.tunnel ?? (isReal && publicUrl === undefined ? {} : false);
  if (tunnel !== false && publicUrl !== undefined) {
    throw optionError('Options "publicUrl" and "tunnel" cannot be combined. Remove one of them.');
  }
  const isPublic = tunnel !== false || publicUrl !== undefined;
  if (isReal && !isPublic) {
    throw optionError(
      'The real Hub cannot reach this machine without a tunnel. Remove "tunnel: false", or set "publicUrl" to a URL that points here.',
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
      // The user's own webhooks may point to the user's own URL, so their secrets must keep working.
      use: !isPublic ? "fallback" : publicUrl === undefined ? "replace" : "add",
    },
    inbox: options.inbox,
    watch: watch?.map(readWatch),
    repairIntervalMs: toMilliseconds(repairInterval, "repairInterval"),
  };
}

function readWatch(watch: string): WatchedItem {
  const parsed = parseWatch(watch);
  if ("problem" in parsed) throw optionError(`Option "watch": ${parsed.problem}`);
  return parsed;
}
