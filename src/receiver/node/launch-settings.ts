import { checkCount, checkPort } from "../../core/check-option.ts";
import { defaultPort } from "../../core/defaults.ts";
import { toMilliseconds } from "../../core/duration.ts";
import { readEnvironment } from "../../core/environment.ts";
import { optionError } from "../../core/option-error.ts";
import type { Space } from "../../core/space.ts";
import { readBaseUrl } from "../../core/urls.ts";
import { type ConnectionLimits, defaultLimits } from "../../http-server/connection.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { isOnLocalDisk } from "../../inbox/open-inbox.ts";
import { isProviderName, providerNames } from "../../tunnel/provider-names.ts";
import type { OpenTunnelOptions } from "../../tunnel/tunnel.ts";
import type { LaunchOptions } from "../lifecycle/launch-options.ts";
import type { ListenTimeouts } from "./listen.ts";

/** The settings of a launch, from the options, the environment, or the defaults. */
interface LaunchSettings {
  host: string;
  port: number;
  timeouts: ListenTimeouts;
  limits: ConnectionLimits;
  /** The tunnel's options, or `undefined` without a tunnel. */
  tunnel: Omit<OpenTunnelOptions, "port"> | undefined;
  /** Returns the public URL from the options or `PUBLIC_URL`, without a trailing slash. */
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
 * Reads `TUNNEL`: `1` for the default provider, the name of a provider, or `0` (the default) for no tunnel.
 *
 * @throws `OPTION_INVALID`
 */
export function readTunnelSetting(): boolean | Pick<OpenTunnelOptions, "provider"> {
  const value = readEnvironment("TUNNEL") ?? "0";
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  if (isProviderName(value)) return { provider: value };
  // The message omits the value, which may be a URL with a password.
  throw optionError(
    `TUNNEL is invalid. Set TUNNEL to 1 or a provider (${providerNames.join(", ")}), or to 0 for no tunnel. For your own tunnel, set PUBLIC_URL to the URL of the tunnel.`,
  );
}

/** Converts the host on which the server listens, which may be a wildcard address, to the host of a URL on this machine. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Whether the inbox is a file on the local disk. The inbox is the `inbox` option, else `INBOX_URL`, else the default
 * inbox.
 */
export function isInboxOnDisk(inbox: string | Inbox | undefined): boolean {
  if (typeof inbox === "object") return false;
  return isOnLocalDisk(inbox ?? readEnvironment("INBOX_URL"));
}

function configuredUrlOf(option: LaunchOptions["publicUrl"]): () => string | undefined {
  if (typeof option === "function") return option;
  const publicUrl = option ?? readEnvironment("PUBLIC_URL");
  if (publicUrl === undefined) return () => undefined;
  const base = readBaseUrl(publicUrl);
  if (base === undefined) {
    // The message omits the value, which may contain a password.
    throw optionError(
      'The public URL (option "publicUrl" or PUBLIC_URL) is invalid. Use an http or https URL without a username, password, query, or fragment, such as https://bot.example.com.',
    );
  }
  return () => base;
}

function environmentPort(): number {
  const text = readEnvironment("PORT") ?? String(defaultPort);
  return checkPort(text.trim() === "" ? Number.NaN : Number(text), { variable: "PORT", value: text });
}

/** Reads the timeouts. The default request timeout is 30 s, because the Hub does not wait longer. */
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
