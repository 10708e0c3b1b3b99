import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../../core/logger.ts";
import { isLoopbackHost } from "../../core/loopback.ts";
import { consolePath, webhookSettingsUrl, webhooksPath } from "../../core/paths.ts";
import { readSpace } from "../../core/space.ts";
import type { Inbox } from "../../inbox/inbox.ts";
import type { ReceiverConsole } from "../console/receiver-console.ts";
import type { EndpointRegistry } from "../endpoint/endpoint-registry.ts";
import type { LaunchedServer, LaunchOptions } from "../lifecycle/launch-options.ts";
import type { OwnerCheck } from "../security/owner-check.ts";
import type { RefusalLog } from "../security/refusal-log.ts";
import type { SecretCheck } from "../security/secret-check.ts";
import { isInboxOnDisk, reachableHost, readLaunchSettings } from "./launch-settings.ts";
import { type ListenOptions, listen } from "./listen.ts";
import type { PublicListener } from "./public-listener.ts";
import { spaceDiskWarning } from "./space-disk.ts";

/** The parts of a server that are necessary to start it. */
export interface ServerParts extends Pick<ListenOptions, "fetch" | "deliver"> {
  endpoints: EndpointRegistry;
  /** The `inbox` option of the server. */
  inbox: string | Inbox | undefined;
  secretCheck: SecretCheck;
  ownerCheck: OwnerCheck;
  console: ReceiverConsole;
  /** Logs the configuration warnings and, with `announce`, whether a secret is set. Logs them only once. */
  report: (options: { announce: boolean }) => void;
  log: Logger;
  /** Logs refused connections and requests. */
  refusalLog: RefusalLog;
}

/** A listening server. */
export interface RunningServer extends LaunchedServer {
  /** Closes the tunnel and the listener. Returns whether all requests in progress finished in time. */
  close(): Promise<boolean>;
}

/**
 * Listens, opens the tunnel, and logs the URLs of the server. Closing waits up to `graceMs` for requests in progress. If
 * `signal` is aborted, the tunnel is not opened and no URLs are logged.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`.
 */
export async function startServer(
  server: ServerParts,
  options: LaunchOptions,
  { graceMs, signal }: { graceMs: number; signal: AbortSignal },
): Promise<RunningServer> {
  const space = readSpace();
  const { host, port, timeouts, limits, tunnel, configuredUrl } = readLaunchSettings(options, space);
  const { fetch, deliver } = server;
  const listener = await listen({
    fetch,
    deliver,
    host,
    port,
    timeouts,
    limits,
    log: server.refusalLog,
    optionNames: "launch({ host, port }) or the variables HOST and PORT",
  });
  preloadPages();
  const url = `http://${reachableHost(host)}:${listener.port}`;
  let publicListener: PublicListener | undefined;
  if (tunnel) {
    const { openPublicListener } = await import("./public-listener.ts");
    try {
      publicListener = await openPublicListener({
        fetch,
        log: server.log,
        refusalLog: server.refusalLog,
        secretCheck: server.secretCheck,
        tunnel: { ...tunnel, signal: tunnel.signal ? AbortSignal.any([tunnel.signal, signal]) : signal },
        graceMs,
        serverPort: listener.port,
      });
    } catch (error) {
      if (!signal.aborted) {
        await listener.close(graceMs);
        throw error;
      }
    }
  }
  const publicUrl = () => configuredUrl() ?? space?.url ?? publicListener?.url ?? url;
  const announce = options.announce ?? true;
  if (!signal.aborted) server.report({ announce });
  if (announce && !signal.aborted) {
    const isLocalOnly = publicUrl() === url && isLoopbackHost(reachableHost(host));
    logReady(server, { publicUrl: publicUrl(), isLocalOnly });
    // Does not log the URL of the tunnel, which only serves webhooks.
    void logConsole(server, { url: space?.url ?? url, signal });
    if (space) logSpaceAdvice(server);
  }
  return {
    port: listener.port,
    url,
    get publicUrl() {
      return publicUrl();
    },
    async close() {
      const complete = await Promise.all([listener.close(graceMs), publicListener?.close() ?? true]);
      return complete.every(Boolean);
    },
  };
}

/** A process is often started for its first delivery, which must not wait until the code of the console is loaded. */
const consoleDelayMs = 300;

/**
 * Loads the pages in the background. Node 22 caches failed imports, so if a page were first loaded while the process is out
 * of file descriptors, it would fail until the next restart.
 */
function preloadPages(): void {
  for (const load of [
    () => import("../landing/landing-page.ts"),
    () => import("../landing/gather-info.ts"),
    () => import("../../console/pages/error-page.ts"),
  ]) {
    // Ignores the error, because a request for the page reports it.
    load().catch(() => {});
  }
  setTimeout(() => {
    import("../console/open-console.ts").catch(() => {});
  }, consoleDelayMs).unref();
}

function logReady(
  { endpoints, log }: ServerParts,
  { publicUrl, isLocalOnly }: { publicUrl: string; isLocalOnly: boolean },
): void {
  const urls = endpoints.names.map((name) => `POST ${publicUrl}${webhooksPath}${name}`);
  if (urls.length === 0) {
    log.warn(
      { url: publicUrl },
      "The server is listening, but has no endpoints. Register an endpoint with server.webhook(name, handler).",
    );
  } else if (isLocalOnly) {
    log.info(
      { endpoints: urls },
      "The server is ready on this machine, but the Hub cannot connect to it. Test with `npx hub-webhooks dev`, open a tunnel (TUNNEL=1), or set PUBLIC_URL to the public URL of this server.",
    );
  } else {
    log.info(
      { endpoints: urls, register: webhookSettingsUrl },
      "The server is ready. Register the URL of an endpoint on the Hub.",
    );
  }
}

/**
 * Logs how to open the console: with the console token, or else with a one-time link. Runs after the server is ready, because the
 * code of the console is loaded in the background.
 */
async function logConsole(
  { console, ownerCheck, log }: ServerParts,
  { url, signal }: { url: string; signal: AbortSignal },
): Promise<void> {
  try {
    await wait(consoleDelayMs, undefined, { ref: false });
    const opened = await console.open();
    if (signal.aborted) return;
    if (ownerCheck.hasToken()) {
      log.info({ console: `${url}${consolePath}/` }, "Open the console, and sign in with the value of CONSOLE_TOKEN.");
    } else {
      log.info(
        { console: opened.createSignInLink(url) },
        "Open the console with this link, which is valid once and for one hour. Set CONSOLE_TOKEN to sign in at any time.",
      );
    }
  } catch (error) {
    log.warn({ err: error }, "The console could not be loaded.");
  }
}

/** Logs the documented limits of Spaces that affect a server. */
function logSpaceAdvice({ endpoints, inbox, log }: ServerParts): void {
  log.info(
    "The Hub can only deliver to a public or protected Space. On free hardware (cpu-basic), a Space sleeps after 48 hours without a request. To avoid delays, request /health regularly or choose other hardware.",
  );
  if (endpoints.backgroundEndpoints.length === 0 || !isInboxOnDisk(inbox)) return;
  log.warn(spaceDiskWarning);
}
