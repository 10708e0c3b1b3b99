import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../../core/log.ts";
import { loadOnce } from "../../core/time.ts";
import { webhookSettingsUrl, webhooksPath } from "../../core/urls.ts";
import { answerReachabilityCheck, createReachabilityCheck } from "../../tunnel/reachability-check.ts";
import { type OpenTunnelOptions, openReconnectingTunnel, openTunnel, type Tunnel } from "../../tunnel/tunnel.ts";
import type { SecretCheck } from "../request.ts";
import { type ListenOptions, listen } from "./listen.ts";

/** How long a tunnel stays open. The Hub's temporary webhook URLs have the same lifetime. */
const lifetimeMs = 72 * 60 * 60 * 1000;

/** How long the tunnel may take to forward the last answers before it is closed. */
const forwardMs = 200;

/**
 * The timeouts of connections from the tunnel server, which opens connections in advance. A timeout would send a response on
 * an idle connection, and the tunnel server would use this response for the next request.
 */
const timeouts = { headersMs: lifetimeMs, requestMs: lifetimeMs, keepAliveMs: lifetimeMs };

/** The number of requests per connection is not limited, because the tunnel server keeps its connections open. */
const limits = { maxRequestsPerSocket: Number.POSITIVE_INFINITY };

/** A tunnel to a server, or the user's own public URL. */
export interface PublicListener {
  /** The public URL, which may change. `undefined` after the tunnel is closed. */
  readonly url: string | undefined;
  /** Waits for requests in progress, then closes the tunnel. Returns whether all of them finished in time. */
  close(): Promise<boolean>;
}

interface PublicListenerOptions extends Pick<ListenOptions, "fetch" | "log"> {
  tunnel: Omit<OpenTunnelOptions, "port">;
  secretCheck: SecretCheck;
  /** Logs requests and connections that are refused before they reach the server. */
  refusalLog: Logger;
  graceMs: number;
  /** The server's port, to which the user's own tunnel points. */
  serverPort: number;
}

/**
 * Opens a tunnel, or uses the user's own tunnel with `existingUrl`. Creates a secret for the session if no secret is set.
 *
 * @throws `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function openPublicListener(options: PublicListenerOptions): Promise<PublicListener> {
  const { secretCheck, tunnel } = options;
  const open = tunnel.existingUrl === undefined ? openTemporary : openExisting;
  if (secretCheck.isSet()) return open(options);
  const sessionSecret = crypto.randomUUID().replaceAll("-", "");
  // Sets the secret before the tunnel opens, so that the server is never public without a secret.
  secretCheck.use(sessionSecret, "replace");
  try {
    const listener = await open(options);
    // The secret is not logged, because logs may be stored.
    process.stdout.write(
      `\nNo webhook secret is set. Set this temporary secret on your webhooks on the Hub:\n  ${sessionSecret}\n\n`,
    );
    return listener;
  } catch (error) {
    secretCheck.forget();
    throw error;
  }
}

/** Polls the user's own tunnel, which points to the server itself and stays open. */
async function openExisting({ tunnel: options, serverPort, log }: PublicListenerOptions): Promise<PublicListener> {
  const tunnel = await openTunnel({ ...options, port: serverPort });
  logEvents(tunnel, log);
  log.info({ url: tunnel.url }, "Using your public URL. Check that your tunnel or proxy forwards it to this server.");
  return {
    get url() {
      return tunnel.url;
    },
    close: async () => {
      await tunnel.close();
      return true;
    },
  };
}

/**
 * Opens a tunnel to a separate socket that only serves webhooks, so that the rest of the server is not public. The tunnel
 * closes after 72 hours.
 */
async function openTemporary(options: PublicListenerOptions): Promise<PublicListener> {
  const { fetch, log, refusalLog, graceMs } = options;
  const reachabilityCheck = createReachabilityCheck();
  const listener = await listen({
    fetch: (request, bindings) =>
      new URL(request.url).pathname.startsWith(webhooksPath)
        ? fetch(request, bindings)
        : (answerReachabilityCheck(reachabilityCheck, request) ?? new Response(null, { status: 404 })),
    ...{ host: "127.0.0.1", port: 0, timeouts, limits, log: refusalLog },
  });
  let tunnel: Tunnel;
  try {
    tunnel = await openReconnectingTunnel({ ...options.tunnel, port: listener.port }, { reachabilityCheck });
  } catch (error) {
    await listener.close(graceMs);
    throw error;
  }
  const close = loadOnce(async () => {
    clearTimeout(expiry);
    stopLogging();
    const complete = await listener.close(graceMs);
    // Closing the tunnel interrupts its requests and answers, so it is closed last.
    await wait(forwardMs);
    await tunnel.close();
    return complete;
  });
  let isExpired = false;
  const expiry = setTimeout(() => {
    isExpired = true;
    log.warn("The tunnel was open for 72 hours and is now closed. Launch the server again to open a new tunnel.");
    void close();
  }, lifetimeMs);
  const stopLogging = logEvents(tunnel, log);
  log.info(
    { url: tunnel.url, closesAt: new Date(Date.now() + lifetimeMs).toISOString() },
    "This server's webhooks are reachable through a tunnel.",
  );
  return {
    get url() {
      return isExpired ? undefined : tunnel.url;
    },
    close,
  };
}

function logEvents(tunnel: Tunnel, log: Logger): () => void {
  let urlBefore = tunnel.url;
  const removers = [
    tunnel.on("down", (error) => {
      log.error(
        { url: tunnel.url, err: error },
        "The tunnel is down. The server is not publicly reachable until the tunnel reconnects.",
      );
    }),
    tunnel.on("error", (error) => {
      // Other errors are failed attempts to reconnect, which follow a logged "down" event.
      if (error.code === "TUNNEL_NAME_TAKEN") log.warn({ url: tunnel.url }, error.message);
    }),
    tunnel.on("urlChanged", (url) => {
      log.warn(
        { url, urlBefore, endpoints: `POST ${url}${webhooksPath}<name>`, register: webhookSettingsUrl },
        "THE TUNNEL HAS A NEW URL. Update your webhooks on the Hub, because the old URL no longer works.",
      );
      urlBefore = url;
    }),
    tunnel.on("up", () => log.info({ url: tunnel.url }, "The tunnel is up again.")),
  ];
  return () => {
    for (const remove of removers) remove();
  };
}
