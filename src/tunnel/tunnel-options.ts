import { type Duration, toMilliseconds } from "../core/duration.ts";
import type { WebhookError } from "../core/errors.ts";
import { isPort, optionError } from "../core/option-error.ts";
import { isSubdomain } from "./localtunnel-registration.ts";
import { ownTunnel, readPublicUrl } from "./own-address.ts";
import type { Probe } from "./probe.ts";
import { type ProviderTunnel, tunnelFailure } from "./provider.ts";
import { type ProviderName, providers } from "./providers.ts";

/** The options of `openTunnel`. */
export interface OpenTunnelOptions {
  /**
   * Who carries the tunnel. Default `"localtunnel"`, which needs the package of that name. `"cloudflared"` and
   * `"ngrok"` need the program of that name, which is found on `PATH` or in `node_modules/.bin` and never downloaded.
   */
  provider?: ProviderName;
  /**
   * An http(s) address of your own that leads to `port` already, such as that of a named tunnel or a reverse proxy.
   * Nothing is started: it is only asked from time to time. Excludes `provider`, `host` and `subdomain`.
   */
  publicUrl?: string;
  /** The local port to make public, 1 to 65535. Listen on it, on 127.0.0.1 or on all addresses, before opening. */
  port: number;
  /**
   * The address of the tunnel's server, for localtunnel alone. Default: `LOCALTUNNEL_HOST`, or else
   * `https://localtunnel.me`.
   */
  host?: string;
  /**
   * The name wished for in the public URL, for localtunnel alone: 4 to 63 lower-case letters, digits and hyphens. A
   * server may give another name when this one is taken: an `error` with the code `TUNNEL_NAME_TAKEN` tells it.
   * Default: the server chooses, and is asked for the same name again after a loss.
   */
  subdomain?: string;
  /** Gives up opening: the promise rejects with its reason. An open tunnel is not touched by it. */
  signal?: AbortSignal;
  /** How long opening may take, the probe included. Default `"15s"`, and `"30s"` with cloudflared. */
  timeout?: Duration;
  /**
   * What the server on `port` answers: the tunnel is open only once it came back through the public URL. Default:
   * opening does not wait for an answer, and later on any with a status below 500 will do.
   */
  probe?: Probe;
  /** How often the public URL is asked whether it still leads here. Two failures in a row are a loss. Default `"15s"`. */
  heartbeat?: Duration;
}

/** What is to be done, after the options were checked. */
export interface TunnelPlan {
  port: number;
  subdomain: string | undefined;
  probe: Probe | undefined;
  timeoutMs: number;
  heartbeatMs: number;
  /** Opens the tunnel, wishing for a name. */
  open(wish: { subdomain: string | undefined; signal: AbortSignal }): Promise<ProviderTunnel>;
  /** The error of this kind of tunnel, with what to do about it. */
  failure(reason: string): WebhookError;
}

/** Checks the options and says what is to be done. @throws `OPTION_INVALID`. */
export function planTunnel(options: OpenTunnelOptions): TunnelPlan {
  const { publicUrl, port, host, subdomain, probe, heartbeat = "15s" } = options;
  const provider = options.provider ?? "localtunnel";
  checkProvider(provider);
  checkPort(port);
  checkSubdomain(subdomain);
  checkTogether(options);
  const { open, timeout } = providers[provider];
  const shared = {
    port,
    subdomain,
    probe,
    timeoutMs: toMilliseconds(options.timeout ?? timeout, "timeout"),
    heartbeatMs: toMilliseconds(heartbeat, "heartbeat"),
  };
  if (publicUrl !== undefined) {
    const url = readPublicUrl(publicUrl);
    const remedy = `Check that the tunnel or proxy behind the public URL is running and leads to port ${port} of this machine.`;
    return { ...shared, open: async () => ownTunnel(url), failure: (reason) => tunnelFailure(reason, remedy) };
  }
  return { ...shared, open: (wish) => open({ port, host, ...wish }), failure: (reason) => tunnelFailure(reason) };
}

function checkProvider(provider: string): void {
  if (Object.hasOwn(providers, provider)) return;
  const known = Object.keys(providers).join(", ");
  throw optionError(`Option "provider" names none that is known: give one of ${known}, or leave it out.`);
}

function checkPort(port: number): void {
  if (isPort(port, { min: 1 })) return;
  throw optionError({ option: "port", value: port, expected: "the port that your server listens on, from 1 to 65535" });
}

function checkSubdomain(subdomain: string | undefined): void {
  if (subdomain === undefined || isSubdomain(subdomain)) return;
  throw optionError({
    option: "subdomain",
    value: subdomain,
    expected: "4 to 63 lower-case letters, digits and hyphens, with no hyphen at either end",
  });
}

/** A wish that is not granted is an error and not a surprise. */
function checkTogether({ provider, publicUrl, host, subdomain }: OpenTunnelOptions): void {
  const localtunnelOnly = Object.entries({ host, subdomain }).find(([, value]) => value !== undefined)?.[0];
  if (publicUrl !== undefined) {
    const excluded = provider === undefined ? localtunnelOnly : "provider";
    if (excluded === undefined) return;
    throw optionError(`Option "publicUrl" is the address of a tunnel of your own, so leave out "${excluded}", or it.`);
  }
  if (provider === undefined || provider === "localtunnel" || localtunnelOnly === undefined) return;
  throw optionError(
    `Option "${localtunnelOnly}" has no meaning for ${provider}, whose names come from an account: set up a named tunnel of your own there, run it, and give its address as "publicUrl" instead of "provider".`,
  );
}
