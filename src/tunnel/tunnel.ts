/// <reference lib="esnext.disposable" preserve="true" />
import { systemClock, type TunnelClock } from "./clock.ts";
import { TunnelKeeper } from "./reconnecting-tunnel.ts";
import type { TunnelEvents, TunnelListener } from "./tunnel-events.ts";
import { type OpenTunnelOptions, planTunnel } from "./tunnel-options.ts";

export type { OpenTunnelOptions };

/** An open way from a public URL to a local port. It comes back by itself after a loss, until it is closed. */
export interface Tunnel {
  /**
   * The public address without a slash at its end, such as `https://quiet-owl-12.loca.lt`. Read it again after
   * `urlChanged`.
   */
  readonly url: string;
  /** Whether deliveries arrive (`up`), do not (`down`), or the tunnel was closed. */
  readonly status: "up" | "down" | "closed";
  /**
   * Listens to an event, and returns the function that stops listening.
   *
   * @example
   * ```ts
   * const stopListening = tunnel.on("down", (error) => console.error(error.message));
   * ```
   */
  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelListener<Name>): () => void;
  /** Closes the tunnel and resolves when nothing of it is left. Safe to call twice. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Makes a local port reachable from the internet, and keeps it so: when the tunnel is lost, it is opened again for as
 * long as it takes, after 1 second, 2, 4 and so on up to 30.
 *
 * @throws `TUNNEL_FAILED` with the reason when there is no tunnel within `timeout`, `OPTION_INVALID` when an option
 * makes no sense, and the reason of `signal` when that aborts first.
 * @example
 * ```ts
 * await using tunnel = await openTunnel({ port: 7860 });
 * console.log(`Webhooks may point at ${tunnel.url}/webhooks/retrain`);
 * tunnel.on("urlChanged", (url) => console.log(`Now they have to point at ${url}/webhooks/retrain`));
 * ```
 */
export function openTunnel(options: OpenTunnelOptions): Promise<Tunnel> {
  return openTimedTunnel(options, systemClock);
}

/** What {@link openTunnel} does, by a clock of the caller's. */
export async function openTimedTunnel(options: OpenTunnelOptions, clock: TunnelClock): Promise<Tunnel> {
  return TunnelKeeper.open(planTunnel(options), { clock, signal: options.signal });
}
