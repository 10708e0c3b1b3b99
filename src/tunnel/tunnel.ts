import { type Duration, isPort, optionError, toMilliseconds } from "../core/options.ts";
import { readBaseUrl } from "../core/urls.ts";
import { isSubdomain, openLocaltunnel } from "./localtunnel.ts";
import { openCloudflared, openNgrok } from "./program.ts";
import {
  isProviderName,
  type Provider,
  type ProviderName,
  type ProviderTunnel,
  providerNames,
  systemClock,
  type TunnelClock,
  tunnelFailure,
} from "./provider.ts";
import type { ReachabilityCheck } from "./reachability-check.ts";
import {
  openWithReconnects,
  type TunnelConfig,
  type TunnelEventListener,
  type TunnelEvents,
} from "./reconnecting-tunnel.ts";

/** The tunnel providers, with the default timeout for opening a tunnel. */
const providers = {
  localtunnel: { open: openLocaltunnel, timeout: "15s" },
  // DNS resolvers need some time to resolve a new name.
  cloudflared: { open: openCloudflared, timeout: "30s" },
  ngrok: { open: openNgrok, timeout: "15s" },
} as const satisfies Record<ProviderName, { open: Provider; timeout: string }>;

/** The options of `openTunnel`. */
export interface OpenTunnelOptions {
  /**
   * The tunnel provider. Default `"localtunnel"`, which is part of this package. `"cloudflared"` and `"ngrok"` require
   * the program of that name on `PATH` or in `node_modules/.bin`. Programs are never downloaded.
   */
  provider?: ProviderName;
  /**
   * Your own http or https URL that already points to `port`, such as the URL of a named tunnel or a reverse proxy. No
   * tunnel is opened, and the URL is only polled. Cannot be combined with `provider`, `host`, or `subdomain`.
   */
  existingUrl?: string;
  /**
   * The local port to expose, 1 to 65535. Start to listen on this port before you open the tunnel, on 127.0.0.1 or on
   * all addresses.
   */
  port: number;
  /** The URL of the localtunnel server. Default: `LOCALTUNNEL_HOST`, otherwise `https://localtunnel.me`. */
  host?: string;
  /**
   * The name to request in the public URL from localtunnel: 4 to 63 lowercase letters, digits, and hyphens. If the name
   * is taken, the server can assign another name, and the tunnel emits an `error` with the code `TUNNEL_NAME_TAKEN`. By
   * default, the server chooses a name, and the tunnel requests this name again after a loss.
   */
  subdomain?: string;
  /**
   * Cancels the opening of the tunnel. The promise rejects with the signal's abort reason. Has no effect on an open
   * tunnel.
   */
  signal?: AbortSignal;
  /** The timeout for opening the tunnel. Default `"15s"`, or `"30s"` with cloudflared. */
  timeout?: Duration;
  /**
   * The interval of requests that check whether the public URL is reachable. In `openTunnel`, any status below 500
   * passes. After two failures in a row, the tunnel counts as lost. Default `"15s"`.
   */
  heartbeat?: Duration;
}

/** An open tunnel from a public URL to a local port. Reconnects after a loss until it is closed. */
export interface Tunnel {
  /**
   * The public URL without a trailing slash, such as `https://quiet-owl-12.loca.lt`. Read it again after `urlChanged`.
   */
  readonly url: string;
  /** `up` until a loss is detected, `down` until the tunnel has reconnected, or `closed`. */
  readonly status: "up" | "down" | "closed";
  /**
   * Adds a listener for an event, and returns the function that removes it.
   *
   * @example
   * ```ts
   * const stopListening = tunnel.on("down", (error) => console.error(error.message));
   * ```
   */
  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void;
  /** Closes the tunnel. Resolves when all of its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes a local port reachable from the internet. A lost tunnel is reopened until it is closed, with delays of 1 s, 2
 * s, 4 s, and so on, up to 30 s.
 *
 * @throws `TUNNEL_FAILED` with the reason if there is no tunnel within `timeout`, `OPTION_INVALID` if an option is
 * invalid, and the reason of `signal` if the signal aborts first.
 * @example
 * ```ts
 * await using tunnel = await openTunnel({ port: 7860 });
 * console.log(`Point your webhooks to ${tunnel.url}/webhooks/retrain`);
 * tunnel.on("urlChanged", (url) => console.log(`Point your webhooks to ${url}/webhooks/retrain`));
 * ```
 */
export async function openTunnel(options: OpenTunnelOptions): Promise<Tunnel> {
  return openReconnectingTunnel(options, {});
}

/**
 * Opens a tunnel that counts as up only while its public URL passes the reachability check. Without a check, the
 * promise resolves before the public URL is requested.
 */
export async function openReconnectingTunnel(
  options: OpenTunnelOptions,
  environment: TunnelEnvironment,
): Promise<Tunnel> {
  return openWithReconnects(resolveTunnelConfig(options, environment), options.signal);
}

interface TunnelEnvironment {
  reachabilityCheck?: ReachabilityCheck | undefined;
  clock?: TunnelClock;
}

/** @throws `OPTION_INVALID`. */
export function resolveTunnelConfig(
  options: OpenTunnelOptions,
  { reachabilityCheck, clock = systemClock }: TunnelEnvironment,
): TunnelConfig {
  const { existingUrl, port, host, subdomain, heartbeat = "15s" } = options;
  const provider: string = options.provider ?? "localtunnel";
  if (!isProviderName(provider)) {
    throw optionError({ option: "provider", value: provider, expected: providerNames.join(", ") });
  }
  if (!isPort(port, { min: 1 })) {
    throw optionError({ option: "port", value: port, expected: "the port of your server, 1 to 65535" });
  }
  if (subdomain !== undefined && !isSubdomain(subdomain)) {
    const expected = "4 to 63 lowercase letters, digits, and hyphens, without a hyphen at the start or end";
    throw optionError({ option: "subdomain", value: subdomain, expected });
  }
  checkExclusions(options);
  const { open, timeout } = providers[provider];
  const shared = {
    port,
    subdomain,
    reachabilityCheck,
    clock,
    timeoutMs: toMilliseconds(options.timeout ?? timeout, "timeout"),
    heartbeatMs: toMilliseconds(heartbeat, "heartbeat"),
  };
  if (existingUrl !== undefined) {
    const url = readBaseUrl(existingUrl);
    if (url === undefined) {
      const expected =
        "the http or https URL that points to the port, such as https://hooks.example.com, without a username, password, query, or fragment";
      throw optionError({ option: "existingUrl", expected });
    }
    const remedy = `Check that the tunnel or proxy behind the public URL is running and points to port ${port} of this machine.`;
    return {
      ...shared,
      open: async () => createExternalTunnel(url),
      failure: (reason) => tunnelFailure(reason, remedy),
    };
  }
  return { ...shared, open: (request) => open({ port, host, ...request }), failure: (reason) => tunnelFailure(reason) };
}

/** Rejects combinations of options in which one option would have no effect. */
function checkExclusions({ provider, existingUrl, host, subdomain }: OpenTunnelOptions): void {
  const localtunnelOnly = Object.entries({ host, subdomain }).find(([, value]) => value !== undefined)?.[0];
  if (existingUrl !== undefined) {
    const excluded = provider === undefined ? localtunnelOnly : "provider";
    if (excluded === undefined) return;
    throw optionError(`Options "existingUrl" and "${excluded}" cannot be combined. Remove one of them.`);
  }
  if (provider === undefined || provider === "localtunnel" || localtunnelOnly === undefined) return;
  throw optionError(
    `Option "${localtunnelOnly}" is not supported with ${provider}, because its names belong to an account. Set up a named tunnel in your account, run the tunnel, and set its URL instead of the provider (PUBLIC_URL for a server, --public-url for dev, "existingUrl" for openTunnel).`,
  );
}

/** Creates a tunnel for a public URL that another program provides. Opening and closing have no effect. */
function createExternalTunnel(url: string): ProviderTunnel {
  return { url, name: undefined, lost: new AbortController().signal, close: async () => {} };
}
