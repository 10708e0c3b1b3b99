import { type OpenTunnelOptions, openTunnel, type Tunnel } from "../../tunnel/tunnel.ts";
import { webhooksPath } from "../receive.ts";
import type { SecretCheck } from "../secret.ts";
import { type ListenOptions, listen } from "./listen.ts";

/** A temporary address is meant for an afternoon's debugging; the Hub's own temporary links live as long. */
const lifeMs = 72 * 60 * 60 * 1000;

/** The tunnel's server opens connections before it needs them, and a word on an idle one would spoil the next request. */
const timeouts = { headersMs: lifeMs, requestMs: lifeMs, keepAliveMs: lifeMs };

/** A public address that leads to a server's webhooks. */
export interface PublicDoor {
  /** Its address; `undefined` once its time is over. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** What {@link openPublicDoor} needs. */
export interface PublicDoorOptions extends Pick<ListenOptions, "fetch" | "log"> {
  tunnel: Omit<OpenTunnelOptions, "port">;
  secret: SecretCheck;
  /** How long closing waits for the requests in work. */
  graceMs: number;
}

/**
 * Opens a tunnel to a socket of its own, on which nothing but webhooks answers: whatever else the server has cannot be
 * reached from outside at all. Closes it after 72 hours.
 *
 * @throws `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function openPublicDoor(options: PublicDoorOptions): Promise<PublicDoor> {
  const { fetch, log, secret, graceMs } = options;
  const listener = await listen({
    fetch: (request, bindings) =>
      new URL(request.url).pathname.startsWith(webhooksPath)
        ? fetch(request, bindings)
        : new Response(null, { status: 404 }),
    host: "127.0.0.1",
    port: 0,
    timeouts,
    log,
  });
  // Before the tunnel: there must not be a moment at which the door stands open.
  if (!secret.isSet()) printSessionSecret(secret);
  let tunnel: Tunnel;
  try {
    tunnel = await openTunnel({ ...options.tunnel, port: listener.port });
  } catch (error) {
    await listener.close(graceMs);
    throw error;
  }
  const close = async () => {
    clearTimeout(expiry);
    await Promise.all([tunnel.close(), listener.close(graceMs)]);
  };
  let over = false;
  const expiry = setTimeout(() => {
    over = true;
    log().warn("The tunnel has been open for 72 hours and is closed now: launch again for a new address.");
    void close();
  }, lifeMs);
  expiry.unref();
  tunnel.on("down", (error) => {
    log().error(
      { url: tunnel.url, err: error },
      "The tunnel is down: nothing reaches this server from outside any more. Launch again.",
    );
  });
  log().info(
    { url: tunnel.url, closesAt: new Date(Date.now() + lifeMs).toISOString() },
    "A tunnel leads from the internet to this server's webhooks",
  );
  return {
    get url() {
      return over ? undefined : tunnel.url;
    },
    close,
  };
}

/** An address that anybody can find must not be open to everyone. Printed, not logged: logs are kept. */
function printSessionSecret(secret: SecretCheck): void {
  const made = crypto.randomUUID().replaceAll("-", "");
  secret.use(made);
  process.stdout.write(`\nNo secret is set, so this session has one of its own. Give it to the Hub:\n  ${made}\n\n`);
}
