import { toMilliseconds } from "../../duration.ts";
import { type OpenTunnelOptions, openTunnel, type Tunnel } from "../../tunnel/tunnel.ts";
import { webhooksPath } from "../receive.ts";
import type { SecretCheck } from "../secret.ts";
import { type ListenOptions, type ListenTimeouts, listen } from "./listen.ts";

/** The life of a temporary public address (`hub-api.md`, "Limits"). */
const tunnelLife = "72h";

/** A public address that leads to a server's webhooks. */
export interface PublicDoor {
  url: string;
  close(): Promise<void>;
}

/** What {@link openPublicDoor} needs. */
export interface PublicDoorOptions extends Pick<ListenOptions, "fetch" | "log"> {
  tunnel: Omit<OpenTunnelOptions, "port">;
  secret: SecretCheck;
  timeouts: ListenTimeouts;
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
  const { fetch, log, secret, timeouts, graceMs } = options;
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
  const lifeMs = toMilliseconds(tunnelLife, "tunnelLife");
  const expiry = setTimeout(() => {
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
  return { url: tunnel.url, close };
}

/** An address that anybody can find must not be open to everyone. Printed, not logged: logs are kept. */
function printSessionSecret(secret: SecretCheck): void {
  const made = crypto.randomUUID().replaceAll("-", "");
  secret.use(made);
  process.stdout.write(`\nNo secret is set, so this session has one of its own. Give it to the Hub:\n  ${made}\n\n`);
}
