import { WebhookError } from "../core/errors.ts";

/** A request to a provider: open a public URL for a local port. */
export interface ProviderRequest {
  /** The local port, 1 to 65535. */
  port: number;
  /** The address of the provider's server. Default: the provider's own. */
  host: string | undefined;
  /** The requested name in the public URL. */
  subdomain: string | undefined;
  /** Cancels the opening, at the deadline or on behalf of the caller. Has no effect once the tunnel is open. */
  signal: AbortSignal;
}

/** An open tunnel of a provider. Deliveries can arrive. */
export interface ProviderTunnel {
  /** The public address without a trailing slash, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** The name to request in order to get this URL again; `undefined` if the provider has no such names. */
  readonly name: string | undefined;
  /**
   * Aborts with a {@link WebhookError} when the provider has lost the tunnel, not when it is closed. A lost tunnel does
   * not recover: close it and open another.
   */
  readonly lost: AbortSignal;
  /** Closes the tunnel and resolves when all its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens a tunnel with one provider. There is one file per provider.
 *
 * Rejects as soon as `request.signal` aborts. When it rejects, no process or connection remains.
 */
export type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;

/** The alternatives that error messages suggest, for every way to configure a tunnel. */
export const otherTunnels =
  'choose another provider (TUNNEL=cloudflared or TUNNEL=ngrok for a server, --tunnel for dev, "provider" in code), or run your own tunnel and set its address (PUBLIC_URL for a server, --public-url for dev, "publicUrl" in code)';

const localtunnelRemedy = `Check the network and try again, set another server (LOCALTUNNEL_HOST, or "host" in code), ${otherTunnels}.`;

/**
 * Creates the error of a tunnel that cannot be opened or has stopped working. `remedy` is what to do next; the default is
 * for localtunnel.
 *
 * The server of a tunnel is not trusted: `reason` never contains text that it sent. There is no `cause` either, because
 * parser errors quote their input, and a terminal would run the escape codes in it.
 *
 * @example
 * ```ts
 * throw tunnelFailure("https://localtunnel.me returned status 403.");
 * ```
 */
export function tunnelFailure(reason: string, remedy = localtunnelRemedy): WebhookError {
  return new WebhookError(`${reason} ${remedy}`, { code: "TUNNEL_FAILED", retryable: true });
}

/** Returns the system's code of a failed connection, as in " (ECONNREFUSED)". Its message may quote untrusted text. */
export function systemCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{1,50}$/.test(code) ? ` (${code})` : "";
}
