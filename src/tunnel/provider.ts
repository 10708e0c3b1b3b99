import { WebhookError } from "../errors.ts";

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
  /** Called when an open tunnel works again after {@link ProviderRequest.onDown}. */
  onUp(): void;
  /** Called when an open tunnel stops working by itself, not when it is closed. */
  onDown(error: WebhookError): void;
}

/** What a provider gives back once deliveries can arrive. */
export interface ProviderTunnel {
  /** The public origin, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** Ends the tunnel; resolves when nothing of it is left. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens one tunnel with one provider. One file per provider; `tunnel.ts` lists them.
 *
 * It leaves nothing behind when it rejects, and it rejects as soon as `request.signal` aborts.
 */
export type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;

/**
 * The error of a tunnel that cannot be opened or has stopped working, with what to do next.
 *
 * A tunnel's server is a stranger: `reason` never holds a text it sent. There is no `cause` either, because the
 * errors of parsers quote what they could not read, and a terminal would run the escape codes in it.
 *
 * @example
 * ```ts
 * throw tunnelFailure("https://localtunnel.me answers with status 403.");
 * ```
 */
export function tunnelFailure(reason: string): WebhookError {
  return new WebhookError(
    `${reason} Check the network and try again, give another server (option "host" or LOCALTUNNEL_HOST), or run a tunnel of another kind yourself and use its public URL.`,
    { code: "TUNNEL_FAILED", retryable: true },
  );
}
