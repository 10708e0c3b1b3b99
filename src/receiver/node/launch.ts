import type { Logger } from "../../core/logger.ts";
import { isLoopbackHost } from "../../core/loopback.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import { dashboardPath } from "../dashboard/serve.ts";
import { webhookSettingsUrl, webhooksPath } from "../delivery-request.ts";
import type { EndpointRegistry } from "../endpoint-registry.ts";
import type { LaunchedServer, LaunchOptions } from "../launch-options.ts";
import type { OwnerCheck } from "../owner-check.ts";
import { readSpace } from "../runtime.ts";
import type { SecretCheck } from "../secret-check.ts";
import { isInboxOnDisk, reachableHost, readLaunchSettings } from "./launch-settings.ts";
import { type ListenOptions, listen } from "./listen.ts";
import type { PublicListener } from "./public-listener.ts";

/** The parts of a server that a launch uses. */
export interface ServerParts extends Pick<ListenOptions, "fetch" | "deliver"> {
  endpoints: EndpointRegistry;
  /** The inbox in the options of the server. */
  inbox: string | Inbox | undefined;
  secretCheck: SecretCheck;
  ownerCheck: OwnerCheck;
  /** Logs, once, the configuration warnings, and with `announce` whether a secret is set. */
  report: (options: { announce: boolean }) => void;
  log: () => Logger;
  /** Logs connections and requests that are refused before they reach the server. */
  refusalLog: Logger;
}

/** A launched server that can be closed. */
export interface Launch extends LaunchedServer {
  /** Closes the tunnel and the socket. Returns whether all requests in progress finished in time. */
  close(): Promise<boolean>;
}

/**
 * Listens, opens the tunnel, and logs where the server is reachable. Closing waits up to `graceMs` for requests in
 * progress.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function launch(
  server: ServerParts,
  options: LaunchOptions,
  { graceMs }: { graceMs: number },
): Promise<Launch> {
  const space = readSpace();
  const { host, port, timeouts, limits, tunnel, configuredUrl } = readLaunchSettings(options, space);
  const { fetch, deliver } = server;
  const listener = await listen({ fetch, deliver, host, port, timeouts, limits, log: () => server.refusalLog });
  preloadPages();
  const url = `http://${reachableHost(host)}:${listener.port}`;
  let publicListener: PublicListener | undefined;
  if (tunnel) {
    const { openPublicListener } = await import("./public-listener.ts");
    try {
      publicListener = await openPublicListener({ ...server, tunnel, graceMs, serverPort: listener.port });
    } catch (error) {
      await listener.close(graceMs);
      throw error;
    }
  }
  const publicUrl = () => configuredUrl() ?? space?.url ?? publicListener?.url ?? url;
  const announce = options.announce ?? true;
  server.report({ announce });
  if (announce) {
    const isLocalOnly = publicUrl() === url && isLoopbackHost(reachableHost(host));
    logReady(server, { publicUrl: publicUrl(), isLocalOnly });
    // Not the address of the tunnel, which serves webhooks only.
    logDashboard(server, space?.url ?? url);
    if (space) logSpaceAdvice(server);
  }
  return {
    port: listener.port,
    url,
    get publicUrl() {
      return publicUrl();
    },
    async close() {
      const [complete] = await Promise.all([listener.close(graceMs), publicListener?.close()]);
      return complete;
    },
  };
}

/**
 * Loads the pages in the background. Node 22 caches a failed import: a page first opened while the process is out of file
 * descriptors would fail until the next restart.
 */
function preloadPages(): void {
  for (const load of [
    () => import("../landing/landing-page.ts"),
    () => import("../landing/gather-info.ts"),
    () => import("../dashboard/dashboard.ts"),
    () => import("../../console/error-page.ts"),
  ]) {
    // A request for the page reports the error.
    load().catch(() => {});
  }
}

function logReady(
  { endpoints, log }: ServerParts,
  { publicUrl, isLocalOnly }: { publicUrl: string; isLocalOnly: boolean },
): void {
  const urls = endpoints.names.map((name) => `POST ${publicUrl}${webhooksPath}${name}`);
  if (urls.length === 0) {
    log().warn(
      { url: publicUrl },
      "The server is listening, but has no endpoints. Register one with server.webhook(name, handler).",
    );
  } else if (isLocalOnly) {
    log().info(
      { endpoints: urls },
      "Ready on this machine. The Hub cannot reach this address. Test with `npx hub-webhooks dev`, open a tunnel (TUNNEL=1), or set PUBLIC_URL to the public address of this server.",
    );
  } else {
    log().info({ endpoints: urls, register: webhookSettingsUrl }, "Ready. Register the URL of an endpoint on the Hub.");
  }
}

function logDashboard({ endpoints, ownerCheck, log }: ServerParts, url: string): void {
  if (endpoints.background.length === 0) return;
  const dashboard = `${url}${dashboardPath}`;
  if (ownerCheck.hasToken()) {
    log().info({ dashboard }, "Open the dashboard with DASHBOARD_TOKEN as the password and any user name.");
  } else if (ownerCheck.isClosed()) {
    log().warn(
      "The dashboard is closed, because the server has a public address. Set DASHBOARD_TOKEN to open it (in a Space: Settings, Variables and secrets).",
    );
  } else {
    log().info(
      { dashboard },
      "Open the dashboard in a browser on this machine. Set DASHBOARD_TOKEN to open it from elsewhere.",
    );
  }
}

/** Logs the limits of a Space that affect a receiver, from the Hub's documentation of Spaces. */
function logSpaceAdvice({ endpoints, inbox, log }: ServerParts): void {
  log().info(
    "The Hub can only deliver to a public or protected Space. On free hardware (cpu-basic), a Space sleeps after 48 hours without a request. To avoid delays, request /health regularly or choose other hardware.",
  );
  if (endpoints.background.length === 0 || !isInboxOnDisk(inbox)) return;
  log().warn(
    "The inbox is on the disk of this Space, which every restart erases, including queued deliveries. Set INBOX_URL to a Redis or PostgreSQL server (Settings, Variables and secrets). A Space can only connect to ports 80, 443 and 8080.",
  );
}
