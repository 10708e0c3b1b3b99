import type { Logger } from "../../core/logger.ts";
import { answerReachabilityCheck, createReachabilityCheck } from "../../tunnel/reachability-check.ts";
import { type OpenTunnelOptions, openReconnectingTunnel, openTunnel, type Tunnel } from "../../tunnel/tunnel.ts";
import { webhookSettingsUrl, webhooksPath } from "../delivery-request.ts";
import type { SecretCheck } from "../secret-check.ts";
import { type ListenOptions, listen } from "./listen.ts";

/** As long as the temporary webhook URLs of the Hub. */
const lifetimeMs = 72 * 60 * 60 * 1000;

/** The tunnel's server opens connections in advance: an answer to an idle one would reach the next request. */
const timeouts = { headersMs: lifetimeMs, requestMs: lifetimeMs, keepAliveMs: lifetimeMs };

/** The tunnel's server keeps its connections open. */
const limits = { maxRequestsPerSocket: Number.POSITIVE_INFINITY };

/** The public address of a server: a tunnel, and the socket that it forwards to. */
export interface PublicListener {
  /** Its public URL, which may change; `undefined` once it is closed. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

interface PublicListenerOptions extends Pick<ListenOptions, "fetch" | "log"> {
  tunnel: Omit<OpenTunnelOptions, "port">;
  secretCheck: SecretCheck;
  /** Logs requests and connections that are refused before they reach the server. */
  refusalLog: Logger;
  /** How long closing waits for requests in progress. */
  graceMs: number;
  /** The port of the server itself: your own `publicUrl` points to it. */
  serverPort: number;
}

/**
 * Opens a tunnel to a separate socket that serves webhooks only, so that the rest of the server stays private. It closes
 * after 72 hours. With `publicUrl`, your own tunnel points to the server itself, and stays open. Creates a secret for the
 * session if none is set.
 *
 * @throws `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function openPublicListener(options: PublicListenerOptions): Promise<PublicListener> {
  const { secretCheck } = options;
  if (secretCheck.isSet()) return openAny(options);
  const sessionSecret = crypto.randomUUID().replaceAll("-", "");
  // Before the tunnel opens: the server must not be public without a secret, even for a moment.
  secretCheck.use(sessionSecret);
  try {
    const listener = await openAny(options);
    printSessionSecret(sessionSecret);
    return listener;
  } catch (error) {
    secretCheck.forget();
    throw error;
  }
}

async function openAny(options: PublicListenerOptions): Promise<PublicListener> {
  const { log, serverPort } = options;
  if (options.tunnel.publicUrl === undefined) return openTemporary(options);
  const tunnel = await openTunnel({ ...options.tunnel, port: serverPort });
  logEvents(tunnel, log);
  log().info({ url: tunnel.url }, "The server is reachable at your public URL.");
  return {
    get url() {
      return tunnel.url;
    },
    close: () => tunnel.close(),
  };
}

async function openTemporary({
  fetch,
  log,
  refusalLog,
  graceMs,
  ...options
}: PublicListenerOptions): Promise<PublicListener> {
  const reachabilityCheck = createReachabilityCheck();
  const listener = await listen({
    fetch: (request, bindings) =>
      new URL(request.url).pathname.startsWith(webhooksPath)
        ? fetch(request, bindings)
        : (answerReachabilityCheck(reachabilityCheck, request) ?? new Response(null, { status: 404 })),
    host: "127.0.0.1",
    port: 0,
    timeouts,
    limits,
    log: () => refusalLog,
  });
  let tunnel: Tunnel;
  try {
    tunnel = await openReconnectingTunnel({ ...options.tunnel, port: listener.port }, { reachabilityCheck });
  } catch (error) {
    await listener.close(graceMs);
    throw error;
  }
  const close = async () => {
    clearTimeout(expiry);
    await Promise.all([tunnel.close(), listener.close(graceMs)]);
  };
  let isExpired = false;
  const expiry = setTimeout(() => {
    isExpired = true;
    log().warn("The tunnel was open for 72 hours and is now closed. Launch the server again for a new address.");
    void close();
  }, lifetimeMs);
  logEvents(tunnel, log);
  log().info(
    { url: tunnel.url, closesAt: new Date(Date.now() + lifetimeMs).toISOString() },
    "The webhooks of this server are reachable through a tunnel.",
  );
  return {
    get url() {
      return isExpired ? undefined : tunnel.url;
    },
    close,
  };
}

function logEvents(tunnel: Tunnel, log: () => Logger): void {
  let urlBefore = tunnel.url;
  tunnel.on("down", (error) => {
    log().error(
      { url: tunnel.url, err: error },
      "The tunnel is down. The server is not reachable from outside until it reconnects.",
    );
  });
  tunnel.on("error", (error) => {
    // Other errors are failed attempts to reconnect, and "down" has been logged.
    if (error.code === "TUNNEL_NAME_TAKEN") log().warn({ url: tunnel.url }, error.message);
  });
  tunnel.on("urlChanged", (url) => {
    log().warn(
      { url, urlBefore, endpoints: `POST ${url}${webhooksPath}<name>`, register: webhookSettingsUrl },
      "THE TUNNEL HAS A NEW ADDRESS. Update your webhooks on the Hub: the old address no longer works.",
    );
    urlBefore = url;
  });
  tunnel.on("up", () => {
    log().info({ url: tunnel.url }, "The tunnel is up again.");
  });
}

/** Anyone can find a public address. The secret is printed rather than logged, because logs are kept. */
function printSessionSecret(secret: string): void {
  process.stdout.write(
    `\nNo secret is set. Use this one for the session, on your webhooks on the Hub:\n  ${secret}\n\n`,
  );
}
