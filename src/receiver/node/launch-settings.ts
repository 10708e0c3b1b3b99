import { defaultInboxUrl, defaultPort } from "../../core/defaults.ts";
import { toMilliseconds } from "../../core/duration.ts";
import { readEnvironment } from "../../core/environment.ts";
import { checkCount, checkPort, optionError } from "../../core/option-error.ts";
import { readBaseUrl } from "../../core/urls.ts";
import { type ConnectionLimits, defaultLimits } from "../../http-server/connection.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { OpenTunnelOptions } from "../../tunnel/tunnel.ts";
import type { LaunchOptions } from "../launch-options.ts";
import type { Space } from "../runtime.ts";
import type { ListenTimeouts } from "./listen.ts";

/** The settings of a launch: its options, else the environment, else the defaults. */
interface LaunchSettings {
  host: string;
  port: number;
  timeouts: ListenTimeouts;
  limits: ConnectionLimits;
  /** `undefined` without a tunnel. */
  tunnel: Omit<OpenTunnelOptions, "port"> | undefined;
  /** The public URL in the options or in `PUBLIC_URL`, without a trailing slash. */
  configuredUrl: () => string | undefined;
}

/**
 * Reads and checks the settings of a launch.
 *
 * @throws `OPTION_INVALID`
 */
export function readLaunchSettings(options: LaunchOptions, space: Space | undefined): LaunchSettings {
  const tunnel = options.tunnel ?? readTunnelSetting();
  return {
    configuredUrl: configuredUrlOf(options.publicUrl),
    host: options.host ?? readEnvironment("HOST") ?? (space ? "0.0.0.0" : "127.0.0.1"),
    port: options.port === undefined ? environmentPort() : checkPort(options.port),
    timeouts: listenTimeouts(options.timeouts ?? {}),
    limits: connectionLimits(options),
    tunnel: tunnel === true ? {} : tunnel || undefined,
  };
}

/**
 * Reads `TUNNEL`: `1` for the default provider, the name of another one, or `0` (the default) for no tunnel.
 *
 * @throws `OPTION_INVALID`
 */
export function readTunnelSetting(): boolean | Pick<OpenTunnelOptions, "provider"> {
  const value = readEnvironment("TUNNEL") ?? "0";
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  if (value === "localtunnel" || value === "cloudflared" || value === "ngrok") return { provider: value };
  // Not the value: it may be a URL with a password.
  throw optionError(
    "Invalid TUNNEL. Set it to 1, localtunnel, cloudflared or ngrok, or to 0 for no tunnel. For your own tunnel, set PUBLIC_URL to its address.",
  );
}

/** Returns the host of a URL on this machine for the host that the server listens on, which may be a wildcard address. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** Whether the inbox in the options, else in `INBOX_URL`, else the default one, is a file. */
export function isInboxOnDisk(inbox: string | Inbox | undefined): boolean {
  if (typeof inbox === "object") return false;
  const url = inbox ?? readEnvironment("INBOX_URL") ?? defaultInboxUrl;
  // With this parameter it is on a mounted bucket.
  return url.startsWith("sqlite:") && !url.endsWith("?unsafe-file-system=allow");
}

function configuredUrlOf(option: LaunchOptions["publicUrl"]): () => string | undefined {
  if (typeof option === "function") return option;
  const address = option ?? readEnvironment("PUBLIC_URL");
  if (address === undefined) return () => undefined;
  const base = readBaseUrl(address);
  if (base === undefined) {
    // Not the value: it may contain a password.
    throw optionError(
      'Invalid public URL (option "publicUrl" or PUBLIC_URL). Use an http or https address without user name, password, query and fragment, such as https://bot.example.com.',
    );
  }
  return () => base;
}

function environmentPort(): number {
  const text = readEnvironment("PORT") ?? String(defaultPort);
  return checkPort(text.trim() === "" ? Number.NaN : Number(text), { variable: "PORT", value: text });
}

/** The Hub gives up after 30 s, so no delivery takes longer. */
function listenTimeouts({ headers, request, keepAlive }: NonNullable<LaunchOptions["timeouts"]>): ListenTimeouts {
  const requestMs = toMilliseconds(request ?? "30s", "timeouts.request");
  const headersMs = toMilliseconds(headers ?? Math.min(15_000, requestMs), "timeouts.headers");
  if (headersMs > requestMs) {
    throw optionError(
      `Option "timeouts.headers" is ${headersMs} ms, longer than "timeouts.request" (${requestMs} ms), which includes the headers. Raise "timeouts.request" or lower "timeouts.headers".`,
    );
  }
  return { headersMs, requestMs, keepAliveMs: toMilliseconds(keepAlive ?? "10s", "timeouts.keepAlive") };
}

function connectionLimits({ maxConnections, maxRequestsPerSocket, timeouts }: LaunchOptions): ConnectionLimits {
  return {
    maxConnections: checkCount(maxConnections ?? defaultLimits.maxConnections, "maxConnections", {
      allowsInfinity: true,
    }),
    maxRequestsPerSocket: checkCount(
      maxRequestsPerSocket ?? defaultLimits.maxRequestsPerSocket,
      "maxRequestsPerSocket",
      { allowsInfinity: true },
    ),
    writeTimeoutMs: toMilliseconds(timeouts?.write ?? defaultLimits.writeTimeoutMs, "timeouts.write"),
  };
}
