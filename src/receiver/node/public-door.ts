import type { Logger } from "../../core/logger.ts";
import { answerProbe, createProbe } from "../../tunnel/probe.ts";
import { type OpenTunnelOptions, openProbedTunnel, openTunnel, type Tunnel } from "../../tunnel/tunnel.ts";
import { webhooksPath } from "../delivery-request.ts";
import { webhookSettingsPage } from "../hub-pages.ts";
import type { SecretCheck } from "../secret.ts";
import { type ListenOptions, listen } from "./listen.ts";

/** A temporary address is meant for an afternoon's debugging; the Hub's own temporary links live as long. */
const lifeMs = 72 * 60 * 60 * 1000;

/** The tunnel's server opens connections before it needs them, and a word on an idle one would spoil the next request. */
const timeouts = { headersMs: lifeMs, requestMs: lifeMs, keepAliveMs: lifeMs };

/** It keeps its connections, and counts on them. */
const limits = { maxRequestsPerSocket: Number.POSITIVE_INFINITY };

/** A public address that leads to a server's webhooks. */
export interface PublicDoor {
  /** Its address, which may change; `undefined` once its time is over. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** What {@link openPublicDoor} needs. */
export interface PublicDoorOptions extends Pick<ListenOptions, "fetch" | "log"> {
  tunnel: Omit<OpenTunnelOptions, "port">;
  secret: SecretCheck;
  /** Where what is refused before it is a request is logged. */
  refusals: Logger;
  /** How long closing waits for the requests in work. */
  graceMs: number;
  /** The port of the server itself: where a public URL of somebody's own leads, which cannot know that of the door. */
  serverPort: number;
}

/**
 * Opens a tunnel to a socket of its own, on which nothing but webhooks answers: whatever else the server has cannot be
 * reached from outside at all. Closes it after 72 hours. A `publicUrl` leads to the server as it is, and stays.
 *
 * @throws `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function openPublicDoor(options: PublicDoorOptions): Promise<PublicDoor> {
  const { secret } = options;
  if (secret.isSet()) return openDoor(options);
  const made = crypto.randomUUID().replaceAll("-", "");
  // Before the tunnel: there must not be a moment at which the door stands open.
  secret.use(made);
  try {
    const door = await openDoor(options);
    printSessionSecret(made);
    return door;
  } catch (error) {
    // Nobody has seen it.
    secret.forget();
    throw error;
  }
}

async function openDoor(options: PublicDoorOptions): Promise<PublicDoor> {
  const { log, serverPort } = options;
  if (options.tunnel.publicUrl === undefined) return openTemporaryDoor(options);
  const tunnel = await openTunnel({ ...options.tunnel, port: serverPort });
  tellEvents(tunnel, log);
  log().info({ url: tunnel.url }, "A public address of your own leads from the internet to this server");
  return {
    get url() {
      return tunnel.url;
    },
    close: () => tunnel.close(),
  };
}

async function openTemporaryDoor({
  fetch,
  log,
  refusals,
  graceMs,
  ...options
}: PublicDoorOptions): Promise<PublicDoor> {
  const probe = createProbe();
  const listener = await listen({
    fetch: (request, bindings) =>
      new URL(request.url).pathname.startsWith(webhooksPath)
        ? fetch(request, bindings)
        : (answerProbe(probe, request) ?? new Response(null, { status: 404 })),
    host: "127.0.0.1",
    port: 0,
    timeouts,
    limits,
    log: () => refusals,
  });
  let tunnel: Tunnel;
  try {
    tunnel = await openProbedTunnel({ ...options.tunnel, port: listener.port }, { probe });
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
  tellEvents(tunnel, log);
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

function tellEvents(tunnel: Tunnel, log: () => Logger): void {
  let urlBefore = tunnel.url;
  tunnel.on("down", (error) => {
    log().error(
      { url: tunnel.url, err: error },
      "The tunnel is down: nothing reaches this server from outside until it is back, which is tried again and again.",
    );
  });
  tunnel.on("error", (error) => {
    // What else goes wrong is an attempt to come back after a loss, and each loss is told once.
    if (error.code === "TUNNEL_NAME_TAKEN") log().warn({ url: tunnel.url }, error.message);
  });
  tunnel.on("urlChanged", (url) => {
    log().warn(
      { url, urlBefore, endpoints: `POST ${url}${webhooksPath}<name>`, register: webhookSettingsPage },
      "THE TUNNEL HAS ANOTHER ADDRESS NOW: a webhook that points at the old one gets nothing until it is changed to the new one",
    );
    urlBefore = url;
  });
  tunnel.on("up", () => {
    log().info({ url: tunnel.url }, "The tunnel is up again");
  });
}

/** An address that anybody can find must not be open to everyone. Printed, not logged: logs are kept. */
function printSessionSecret(secret: string): void {
  process.stdout.write(`\nNo secret is set, so this session has one of its own. Give it to the Hub:\n  ${secret}\n\n`);
}
