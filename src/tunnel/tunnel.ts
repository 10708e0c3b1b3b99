import { type Duration, toMilliseconds } from "../duration.ts";
import { WebhookError } from "../errors.ts";
import { openLocaltunnel } from "./localtunnel.ts";
import type { Provider } from "./provider.ts";
import { type TunnelEvents, type TunnelListener, TunnelListeners } from "./tunnel-events.ts";

const providers = { localtunnel: openLocaltunnel } satisfies Record<string, Provider>;

/** An open way from a public URL to a local port. */
export interface Tunnel {
  /** The public origin without a slash at its end, such as `https://quiet-owl-12.loca.lt`. */
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
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options of {@link openTunnel}. */
export interface OpenTunnelOptions {
  /** Who carries the tunnel. Default `"localtunnel"`, which needs the package of that name. */
  provider?: keyof typeof providers;
  /** The local port to make public, 1 to 65535. Listen on it, on 127.0.0.1 or on all addresses, before opening. */
  port: number;
  /** The address of the tunnel's server. Default: `LOCALTUNNEL_HOST`, or else `https://localtunnel.me`. */
  host?: string;
  /**
   * The name wished for in the public URL: 4 to 63 lower-case letters, digits and hyphens. A server may give another
   * name when this one is taken, so read {@link Tunnel.url}. Default: the server chooses.
   */
  subdomain?: string;
  /** Gives up opening: the promise rejects with its reason. An open tunnel is not touched by it. */
  signal?: AbortSignal;
  /** How long opening may take. Default `"15s"`. */
  timeout?: Duration;
}

/**
 * Makes a local port reachable from the internet.
 *
 * @throws `TUNNEL_FAILED` with the reason when there is no tunnel within `timeout`, `OPTION_INVALID` when an option
 * makes no sense, and the reason of `signal` when that aborts first.
 * @example
 * ```ts
 * await using tunnel = await openTunnel({ port: 7860 });
 * console.log(`Webhooks may point at ${tunnel.url}/webhooks/retrain`);
 * ```
 */
export async function openTunnel(options: OpenTunnelOptions): Promise<Tunnel> {
  const { provider = "localtunnel", port, host, subdomain, signal: callerSignal, timeout = "15s" } = options;
  checkProvider(provider);
  checkPort(port);
  checkSubdomain(subdomain);
  const deadline = AbortSignal.timeout(toMilliseconds(timeout, "timeout"));
  callerSignal?.throwIfAborted();

  const listeners = new TunnelListeners();
  let status: Tunnel["status"] = "up";
  const opening = providers[provider]({
    port,
    host,
    subdomain,
    signal: callerSignal ? AbortSignal.any([callerSignal, deadline]) : deadline,
    onUp() {
      if (status !== "down") return;
      status = "up";
      listeners.tell("up");
    },
    onDown(error) {
      const wasUp = status === "up";
      status = "down";
      listeners.tell("error", error);
      if (wasUp) listeners.tell("down", error);
    },
  });
  const opened = await opening.catch((error: unknown) => {
    callerSignal?.throwIfAborted();
    throw error;
  });

  function close(): Promise<void> {
    status = "closed";
    return opened.close();
  }
  return {
    url: opened.url,
    get status() {
      return status;
    },
    on: (event, listener) => listeners.add(event, listener),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function checkProvider(provider: string): void {
  if (Object.hasOwn(providers, provider)) return;
  const known = Object.keys(providers).join(", ");
  throw new WebhookError(`Option "provider" names none that is known: give one of ${known}, or leave it out.`, {
    code: "OPTION_INVALID",
  });
}

function checkPort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return;
  throw new WebhookError(`Option "port" is ${port}: give the port your server listens on, 1 to 65535.`, {
    code: "OPTION_INVALID",
  });
}

function checkSubdomain(subdomain: string | undefined): void {
  if (subdomain === undefined || /^[a-z0-9][a-z0-9-]{2,61}[a-z0-9]$/.test(subdomain)) return;
  throw new WebhookError(
    `Option "subdomain" is ${JSON.stringify(subdomain)}: give 4 to 63 lower-case letters, digits and hyphens, with no hyphen at either end.`,
    { code: "OPTION_INVALID" },
  );
}
