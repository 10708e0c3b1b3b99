import { toMilliseconds } from "../../core/duration.ts";
import { readEnvironment } from "../../core/environment.ts";
import type { Logger } from "../../core/logger.ts";
import { isLoopbackHost } from "../../core/loopback.ts";
import { checkCount, checkPort, optionError } from "../../core/option-error.ts";
import { readBaseUrl } from "../../core/urls.ts";
import { dashboardPath } from "../dashboard/serve.ts";
import { webhooksPath } from "../delivery-request.ts";
import { webhookSettingsPage } from "../hub-pages.ts";
import type { LaunchedServer, LaunchOptions } from "../launch-options.ts";
import type { OwnerCheck } from "../owner.ts";
import { readSpace } from "../runtime.ts";
import type { SecretCheck } from "../secret.ts";
import { type ConnectionLimits, defaultLimits } from "./connection-limits.ts";
import { type ListenOptions, type ListenTimeouts, listen } from "./listen.ts";
import { loadPages } from "./load-pages.ts";
import type { PublicDoor } from "./public-door.ts";
import { adviseInSpace, type SpaceAdviceOptions } from "./space-advice.ts";
import { readTunnelSetting } from "./tunnel-setting.ts";

/** What a launch needs to know of the server. */
export interface LaunchTarget extends Pick<ListenOptions, "fetch" | "deliver"> {
  endpointNames: () => readonly string[];
  secret: SecretCheck;
  /** Who may open the dashboard; `undefined` where there is nothing to show on it. */
  dashboard: () => OwnerCheck | undefined;
  /** What it has in the background, for a word on the disk of a Space. */
  background: () => Pick<SpaceAdviceOptions, "inbox" | "hasBackgroundEndpoints">;
  /** Says, once, which settings look wrong and, where it is announced, whether a secret is asked for. */
  tell: (options: { announce: boolean }) => void;
  log: () => Logger;
  /** Where what is refused before it is a request is logged. */
  refusals: Logger;
}

/** A launched server, with the way to end it. */
export interface Launch extends LaunchedServer {
  /** Closes the tunnel and the socket. Returns whether all requests in work were finished in time. */
  close(): Promise<boolean>;
}

/**
 * Makes a server reachable: listens, opens the tunnel, says where it is.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function launch(target: LaunchTarget, options: LaunchOptions): Promise<Launch> {
  const space = readSpace();
  const given = givenPublicUrl(options.publicUrl);
  const host = options.host ?? readEnvironment("HOST") ?? (space ? "0.0.0.0" : "127.0.0.1");
  const graceMs = toMilliseconds(options.shutdownGrace ?? "30s", "shutdownGrace");
  const wanted = options.tunnel ?? readTunnelSetting();
  const listener = await listen({
    fetch: target.fetch,
    deliver: target.deliver,
    host,
    port: options.port === undefined ? environmentPort() : checkPort(options.port),
    timeouts: listenTimeouts(options.timeouts ?? {}),
    limits: connectionLimits(options),
    log: () => target.refusals,
  });
  loadPages();
  const url = `http://${reachableHost(host)}:${listener.port}`;
  let door: PublicDoor | undefined;
  if (wanted) {
    const { openPublicDoor } = await import("./public-door.ts");
    const tunnel = wanted === true ? {} : wanted;
    try {
      door = await openPublicDoor({ ...target, tunnel, graceMs, serverPort: listener.port });
    } catch (error) {
      await listener.close(graceMs);
      throw error;
    }
  }
  const publicUrl = () => given() ?? space?.url ?? door?.url ?? url;
  const announce = options.announce ?? true;
  target.tell({ announce });
  if (announce) {
    const isForMachineOnly = publicUrl() === url && isLoopbackHost(reachableHost(host));
    sayReady(target, { publicUrl: publicUrl(), isForMachineOnly });
    sayDashboard(target, space?.url ?? url);
    if (space) adviseInSpace({ ...target.background(), log: target.log });
  }
  return {
    port: listener.port,
    url,
    get publicUrl() {
      return publicUrl();
    },
    async close() {
      const [complete] = await Promise.all([listener.close(graceMs), door?.close()]);
      return complete;
    },
  };
}

/** Without a trailing slash. Checked at the start, where a mistake is still easy to mend. */
function givenPublicUrl(option: LaunchOptions["publicUrl"]): () => string | undefined {
  if (typeof option === "function") return option;
  const address = option ?? readEnvironment("PUBLIC_URL");
  if (address === undefined) return () => undefined;
  const base = readBaseUrl(address);
  if (base === undefined) {
    throw optionError(
      'The public address (option "publicUrl" or PUBLIC_URL) is not usable: give an http or https address without user name, password, query and fragment, such as https://bot.example.com.',
    );
  }
  return () => base;
}

function sayReady(
  { endpointNames, log }: LaunchTarget,
  { publicUrl, isForMachineOnly }: { publicUrl: string; isForMachineOnly: boolean },
): void {
  const endpoints = endpointNames().map((name) => `POST ${publicUrl}${webhooksPath}${name}`);
  if (endpoints.length === 0) {
    log().warn(
      { url: publicUrl },
      "The server listens, but no endpoint is registered yet: webhook(name, handler) does it; without a handler it is a decorator.",
    );
  } else if (isForMachineOnly) {
    log().info(
      { endpoints },
      "Ready on this machine. The Hub cannot reach this address: try it with `npx hub-webhooks dev`, open a tunnel (TUNNEL=1), or set PUBLIC_URL to the address that leads here",
    );
  } else {
    log().info({ endpoints, register: webhookSettingsPage }, "Ready: give the Hub the address of an endpoint");
  }
}

/** Not through the tunnel: that leads to the webhooks alone. */
function sayDashboard({ dashboard, log }: LaunchTarget, url: string): void {
  const owner = dashboard();
  if (!owner) return;
  if (owner.hasToken()) {
    log().info(
      { dashboard: `${url}${dashboardPath}` },
      "The dashboard is open to its owner: any user name, and what DASHBOARD_TOKEN holds as the password",
    );
  } else if (owner.isClosed()) {
    log().warn(
      "The dashboard is closed, since a public address leads to this server: set DASHBOARD_TOKEN to open it (in a Space: Settings, Variables and secrets).",
    );
  } else {
    log().info(
      { dashboard: `${url}${dashboardPath}` },
      "The dashboard is open to a browser on this machine; set DASHBOARD_TOKEN to open it from elsewhere",
    );
  }
}

function environmentPort(): number {
  const text = readEnvironment("PORT") ?? "7860";
  return checkPort(text.trim() === "" ? Number.NaN : Number(text), { variable: "PORT", value: text });
}

/** The Hub gives up after 30 seconds, so no delivery takes longer. */
function listenTimeouts({ headers, request, keepAlive }: NonNullable<LaunchOptions["timeouts"]>): ListenTimeouts {
  const requestMs = toMilliseconds(request ?? "30s", "timeouts.request");
  const headersMs = toMilliseconds(headers ?? Math.min(15_000, requestMs), "timeouts.headers");
  if (headersMs > requestMs) {
    throw optionError(
      `Option "timeouts.headers" is ${headersMs} ms, longer than "timeouts.request" (${requestMs} ms): headers are part of a request. Raise "timeouts.request" or lower "timeouts.headers".`,
    );
  }
  return { headersMs, requestMs, keepAliveMs: toMilliseconds(keepAlive ?? "10s", "timeouts.keepAlive") };
}

function connectionLimits({ maxConnections, maxRequestsPerSocket, timeouts }: LaunchOptions): ConnectionLimits {
  return {
    maxConnections: checkCount(maxConnections ?? defaultLimits.maxConnections, "maxConnections", {
      allowsInfinity: true,
    }),
    maxRequestsPerSocket: checkCount(
      maxRequestsPerSocket ?? defaultLimits.maxRequestsPerSocket,
      "maxRequestsPerSocket",
      { allowsInfinity: true },
    ),
    writeMs: toMilliseconds(timeouts?.write ?? defaultLimits.writeMs, "timeouts.write"),
  };
}

/** What listens on every address is reached at this machine's own. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
