import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { programUrl } from "../core/files.ts";
import { checkPort, type Duration, optionError, toMilliseconds } from "../core/options.ts";
import { defaultPort } from "../core/urls.ts";
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
   * The URL of a program to which deliveries are passed on, instead of a server file: `http://localhost:8000/webhooks/data`. The
   * program can be written in any language. What arrives while it does not run waits for it. `X-Webhook-Secret` contains
   * `WEBHOOK_SECRET`, if that is set.
   */
  forward?: string;
  /**
   * The Hub to register the webhooks on. `"local"` (the default) starts a local Hub, which requires no account or
   * internet access. `"real"` uses the Hub at `hubUrl`, with a tunnel.
   */
  hub?: "local" | "real";
  /** The local port of the server. Default: 7860, or the next free port. */
  port?: number;
  /** The port of the local Hub. Default: 5050, or the next free port. */
  hubPort?: number;
  /**
   * The URL of the session's inbox. Overrides `INBOX_URL` and a URL in the options of the server, because a session must
   * not run the queued deliveries of a deployed server. If the server passes an `Inbox` object, the server uses that
   * object and logs a warning. Default `sqlite:./.hub-webhooks/dev.db`, or `dev-<port>.db` if the port
   * is not 7860.
   */
  inbox?: string;
  /**
   * The tunnel's options, or `false` for no tunnel. Default `{}` for the real Hub, and `false` for the local Hub, which
   * runs on the same machine.
   */
  tunnel?: false | Pick<OpenTunnelOptions, "provider" | "host" | "subdomain" | "timeout" | "heartbeat">;
  /**
   * The interval in which the server asks the Hub for changes of what its endpoints `watch`, instead of webhooks and a tunnel. See
   * `poll` of `launch()`.
   */
  poll?: Duration;
  /** Your own public URL that points to `port`. Replaces the tunnel. */
  publicUrl?: string;
  /**
   * The default watch list for endpoints that do not set one. If omitted, an endpoint on the local Hub watches the
   * repositories and owners in its filter, or all repositories of `local-user` if the filter has none. On the real Hub,
   * an endpoint without a watch list has no webhook.
   */
  watch?: readonly Watch[];
  /**
   * The token for the real Hub. Default: `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, or the token that `hf auth login` saved.
   */
  token?: string;
  /** The URL of the real Hub. Default: `HF_ENDPOINT`, otherwise `https://huggingface.co`. */
  hubUrl?: string;
  /**
   * The file that records the session's webhooks on the real Hub until they are deleted. Default
   * `.hub-webhooks/registrations.json`.
   */
  state?: string;
  /** Whether to wait for a change if the file does not load at the start. By default, `startDev` rejects. */
  waitForFile?: boolean;
  /** How often the session reverts other changes to its webhooks and enables suspended webhooks. Default `"1m"`. */
  repairInterval?: Duration;
  /** Called with every event. If the function throws, the session continues. */
  onEvent?: (event: DevEvent) => void;
  /** Ends the session, even while the session starts. */
  signal?: AbortSignal;
}

/** The validated options of a session. */
export type DevConfig = ReturnType<typeof resolveDevOptions>;

/**
 * Returns the default inbox of a session at this port. Launched servers and other sessions in the folder use other
 * inboxes, because a session must not run the deliveries of another process.
 */
export function devInboxUrl(port: number): string {
  return `sqlite:./.hub-webhooks/${port === defaultPort ? "dev" : `dev-${port}`}.db`;
}

/** @throws `OPTION_INVALID`, `SERVER_FILE_INVALID`. */
export function resolveDevOptions(options: StartDevOptions) {
  const { forward, hub, poll, watch, repairInterval = "1m", ...passed } = options;
  const { port, hubPort, publicUrl } = options;
  if (port !== undefined) checkPort(port);
  if (hubPort !== undefined) checkPort(hubPort, { option: "hubPort", value: hubPort });
  const isReal = hub === "real";
  // The server asks the Hub for changes, so it needs no webhooks and no tunnel.
  const isPolling = poll !== undefined;
  if (isPolling && (options.tunnel || publicUrl !== undefined || watch || forward !== undefined)) {
    throw optionError(
      'Option "poll" replaces webhooks, so it cannot be combined with "tunnel", "publicUrl", "watch", or "forward". Set "watch" on the endpoints of your server file.',
    );
  }
  const tunnel = options.tunnel ?? (isReal && !isPolling && publicUrl === undefined ? {} : false);
  if (tunnel !== false && publicUrl !== undefined) {
    throw optionError('Options "publicUrl" and "tunnel" cannot be combined. Remove one of them.');
  }
  const isPublic = tunnel !== false || publicUrl !== undefined;
  if (isReal && !isPublic && !isPolling) {
    throw optionError(
      'The real Hub cannot reach this machine without a tunnel. Remove "tunnel: false", or set "publicUrl" to a URL that points to this machine.',
    );
  }
  const { path, environment } = serverOf(options);
  // Without a secret, a public server would accept deliveries from any client, and a local server from any web page.
  const secret: SessionSecret = {
    text: randomBytes(32).toString("hex"),
    // With the user's own public URL, other webhooks can deliver to the same server, so the server must still accept
    // their secrets.
    mode: !isPublic ? "fallback" : publicUrl === undefined ? "replace" : "add",
  };
  return {
    ...passed,
    path,
    environment: isPolling ? { ...environment, POLL: `${toMilliseconds(poll, "poll")}ms` } : environment,
    ...{ isReal, isPolling, isPublic, tunnel, secret },
    watch: watch?.map(readWatch),
    repairIntervalMs: toMilliseconds(repairInterval, "repairInterval"),
  };
}

/** The variable with the URL to which `forward-server.ts` sends deliveries. */
export const forwardVariable = "HUB_WEBHOOKS_FORWARD_URL";

/** Returns the server file and its variables. */
function serverOf({ file, forward }: StartDevOptions): { path: string; environment: Record<string, string> } {
  if (forward === undefined) return { path: findServerFile({ file }), environment: {} };
  if (file !== undefined) throw optionError('Options "forward" and "file" cannot be combined. Remove one of them.');
  const url = URL.parse(forward);
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw optionError({ option: "forward", value: forward, expected: "a URL such as http://localhost:8000/hook" });
  }
  return {
    path: fileURLToPath(programUrl("forward-server", import.meta.url)),
    environment: { [forwardVariable]: url.href },
  };
}

function readWatch(watch: string): WatchedItem {
  const parsed = parseWatch(watch);
  if ("problem" in parsed) throw optionError(`Option "watch": ${parsed.problem}`);
  return parsed;
}
