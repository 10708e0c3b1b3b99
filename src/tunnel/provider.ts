import { WebhookError } from "../core/errors.ts";

/** What a provider is asked for: a public URL for a local port. */
export interface ProviderRequest {
  /** The local port, 1 to 65535. */
  port: number;
  /** The address of the provider's server; its own default when left out. */
  host: string | undefined;
  /** The name wished for in the public URL. */
  subdomain: string | undefined;
  /** Ends the opening, at the deadline or because the caller wishes so. Has no meaning once the tunnel is open. */
  signal: AbortSignal;
}

/** What a provider gives back once deliveries can arrive. */
export interface ProviderTunnel {
  /** The public address without a slash at its end, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** The name to wish for in order to get this URL again; `undefined` where there is no such thing. */
  readonly name: string | undefined;
  /**
   * Aborts with a {@link WebhookError} when the provider has lost the tunnel, not when it is closed. It does not come
   * back by itself: close it and open another.
   */
  readonly lost: AbortSignal;
  /** Ends the tunnel; resolves when nothing of it is left. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens one tunnel with one provider. One file per provider; `providers.ts` lists them.
 *
 * It leaves nothing behind when it rejects, and it rejects as soon as `request.signal` aborts.
 */
export type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;

/** What else there is, by each of the ways in which a tunnel can be asked for. */
export const otherTunnels =
  'choose another provider (TUNNEL=cloudflared or TUNNEL=ngrok for a server, --tunnel for dev, "provider" in code), or run a tunnel of your own and give its address (PUBLIC_URL for a server, --public-url for dev, "publicUrl" in code)';

const localtunnelRemedy = `Check the network and try again, give another server (LOCALTUNNEL_HOST, or "host" in code), ${otherTunnels}.`;

/**
 * The error of a tunnel that cannot be opened or has stopped working, with what to do next (default: the remedy for
 * localtunnel).
 *
 * A tunnel's server is a stranger: `reason` never holds a text it sent. There is no `cause` either, because the
 * errors of parsers quote what they could not read, and a terminal would run the escape codes in it.
 *
 * @example
 * ```ts
 * throw tunnelFailure("https://localtunnel.me answers with status 403.");
 * ```
 */
export function tunnelFailure(reason: string, remedy = localtunnelRemedy): WebhookError {
  return new WebhookError(`${reason} ${remedy}`, { code: "TUNNEL_FAILED", retryable: true });
}
