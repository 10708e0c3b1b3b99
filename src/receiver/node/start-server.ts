import { setTimeout as wait } from "node:timers/promises";
import { readEnvironment, readSpace, type Space } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { checkCount, checkPort, optionError, toMilliseconds } from "../../core/options.ts";
import {
  consolePath,
  defaultPort,
  isLoopbackHost,
  readBaseUrl,
  webhookSettingsUrl,
  webhooksPath,
} from "../../core/urls.ts";
import { type ConnectionLimits, defaultLimits } from "../../http-server/server.ts";
import { observeActions } from "../../hub/repositories/action-observer.ts";
import { findToken } from "../../hub/token.ts";
import { isOnLocalDisk, spaceDiskWarning } from "../../inbox/open-inbox.ts";
import { isProviderName, providerNames } from "../../tunnel/provider.ts";
import type { OpenedConsole } from "../console/open-console.ts";
import type { ServerContext } from "../context.ts";
import type { LaunchedServer, LaunchOptions } from "../options.ts";
import { type ListenOptions, type ListenTimeouts, listen } from "./listen.ts";
import type { PublicListener } from "./tunnel.ts";

/**
 * Reads the settings of a launch from the options, the environment, or the defaults.
 *
 * @throws `OPTION_INVALID`
 */
function readLaunchSettings(options: LaunchOptions, space: Space | undefined) {
  const tunnel = options.tunnel ?? readTunnelSetting();
  return {
    configuredUrl: configuredUrlOf(options.publicUrl),
    host: options.host ?? readEnvironment("HOST") ?? (space ? "0.0.0.0" : "127.0.0.1"),
    port: options.port === undefined ? environmentPort() : checkPort(options.port),
    timeouts: listenTimeouts(options.timeouts ?? {}),
    limits: connectionLimits(options),
    tunnel: tunnel === true ? {} : tunnel || undefined,
  };
}

/**
 * Reads `TUNNEL`: `1` for the default provider, the name of a provider, or `0` (the default) for no tunnel.
 *
 * @throws `OPTION_INVALID`
 */
export function readTunnelSetting(): NonNullable<LaunchOptions["tunnel"]> {
  const value = readEnvironment("TUNNEL") ?? "0";
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  if (isProviderName(value)) return { provider: value };
  // The message omits the value, which may be a URL with a password.
  throw optionError(
    `TUNNEL is invalid. Set TUNNEL to 1 or a provider (${providerNames.join(", ")}), or to 0 for no tunnel. For your own tunnel, set PUBLIC_URL to the URL of the tunnel.`,
  );
}

/** Converts the host on which the server listens, which may be a wildcard address, to the host of a URL on this machine. */
function reachableHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** Returns a function that returns the public URL from the options or `PUBLIC_URL`, without a trailing slash. */
function configuredUrlOf(option: LaunchOptions["publicUrl"]): () => string | undefined {
  if (typeof option === "function") return option;
  const publicUrl = option ?? readEnvironment("PUBLIC_URL");
  if (publicUrl === undefined) return () => undefined;
  const base = readBaseUrl(publicUrl);
  if (base === undefined) {
    // The message omits the value, which may contain a password.
    throw optionError(
      'The public URL (option "publicUrl" or PUBLIC_URL) is invalid. Use an http or https URL without a username, password, query, or fragment, such as https://bot.example.com.',
    );
  }
  return () => base;
}

function environmentPort(): number {
  const text = readEnvironment("PORT") ?? String(defaultPort);
  return checkPort(text.trim() === "" ? Number.NaN : Number(text), { variable: "PORT", value: text });
}

/** Reads the timeouts. The default request timeout is 30 s, because the Hub does not wait longer. */
function listenTimeouts({ headers, request, keepAlive }: NonNullable<LaunchOptions["timeouts"]>): ListenTimeouts {
  const requestMs = toMilliseconds(request ?? "30s", "timeouts.request");
  const headersMs = toMilliseconds(headers ?? Math.min(15_000, requestMs), "timeouts.headers");
  if (headersMs > requestMs) {
    throw optionError(
      `Option "timeouts.headers" is ${headersMs} ms, longer than "timeouts.request" (${requestMs} ms), which includes the headers. Raise "timeouts.request" or lower "timeouts.headers".`,
    );
  }
  return { headersMs, requestMs, keepAliveMs: toMilliseconds(keepAlive ?? "10s", "timeouts.keepAlive") };
}

function connectionLimits(options: LaunchOptions): ConnectionLimits {
  const limit = (name: "maxConnections" | "maxRequestsPerSocket") =>
    checkCount(options[name] ?? defaultLimits[name], name, { allowsInfinity: true });
  return {
    maxConnections: limit("maxConnections"),
    maxRequestsPerSocket: limit("maxRequestsPerSocket"),
    writeTimeoutMs: toMilliseconds(options.timeouts?.write ?? defaultLimits.writeTimeoutMs, "timeouts.write"),
  };
}

export interface ServerParts extends Pick<ListenOptions, "fetch" | "deliver"> {
  console: { open(): Promise<OpenedConsole>; close(graceMs: number): Promise<void> };
  /** Logs the configuration warnings and, with `announce`, whether a secret is set. Logs them only once. */
  report: { log(bindings?: unknown, options?: { announce: boolean }): void };
}

export interface RunningServer {
  launched: LaunchedServer;
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
  context: ServerContext,
  { parts, graceMs, signal }: { parts: ServerParts; graceMs: number; signal: AbortSignal },
): Promise<RunningServer> {
  const { launchOptions: options, log, refusalLog, secretCheck } = context;
  const space = readSpace();
  const { host, port, timeouts, limits, tunnel, configuredUrl } = readLaunchSettings(options, space);
  const { fetch, deliver } = parts;
  const optionNames = "launch({ host, port }) or the variables HOST and PORT";
  const listener = await listen({ fetch, deliver, host, port, timeouts, limits, log: refusalLog, optionNames });
  preloadPages();
  const url = `http://${reachableHost(host)}:${listener.port}`;
  let publicListener: PublicListener | undefined;
  const close = async () => {
    const complete = await Promise.all([listener.close(graceMs), publicListener?.close() ?? true]);
    return complete.every(Boolean);
  };
  const launched: LaunchedServer = {
    port: listener.port,
    url,
    // A getter, because the URL of a tunnel may change.
    get publicUrl() {
      return configuredUrl() ?? space?.url ?? publicListener?.url ?? url;
    },
  };
  try {
    if (tunnel) {
      const { openPublicListener } = await import("./tunnel.ts");
      publicListener = await openPublicListener({
        ...{ fetch, log, refusalLog, secretCheck, graceMs, serverPort: listener.port },
        tunnel: { ...tunnel, signal: tunnel.signal ? AbortSignal.any([tunnel.signal, signal]) : signal },
      });
    }
    const announce = options.announce ?? true;
    if (!signal.aborted) parts.report.log(undefined, { announce });
    if (announce && !signal.aborted) {
      const isLocalOnly = launched.publicUrl === url && isLoopbackHost(reachableHost(host));
      logReady(context, launched.publicUrl, isLocalOnly);
      // Does not log the URL of the tunnel, which only serves webhooks.
      void logConsole(context, { console: parts.console, url: space?.url ?? url, signal });
      if (space) logSpaceAdvice(context);
      void logMissingToken(context, space);
    }
  } catch (error) {
    // If the server was closed in the meantime, it also closes the result of this launch.
    if (!signal.aborted) {
      await close();
      throw error;
    }
  }
  return { launched, close };
}

/** A process is often started for its first delivery, which must not wait until the code of the pages is loaded. */
const pagesDelayMs = 300;

/**
 * Loads the pages in the background. Node 22 caches failed imports, so if a page were first loaded while the process is out
 * of file descriptors, it would fail until the next restart.
 */
function preloadPages(): void {
  setTimeout(() => {
    // Ignores errors, because a request for the page reports them.
    import("../landing/landing-page.ts").catch(() => {});
    import("../../console/pages/error-page.ts").catch(() => {});
    import("../console/open-console.ts").catch(() => {});
  }, pagesDelayMs).unref();
}

function logReady({ endpoints, log }: ServerContext, publicUrl: string, isLocalOnly: boolean): void {
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
  { ownerCheck, log }: ServerContext,
  { console, url, signal }: Pick<ServerParts, "console"> & { url: string; signal: AbortSignal },
): Promise<void> {
  try {
    await wait(pagesDelayMs, undefined, { ref: false });
    if (signal.aborted) return;
    const opened = await console.open();
    if (signal.aborted) return;
    if (ownerCheck.token !== undefined) {
      log.info({ console: `${url}${consolePath}/` }, "Open the console, and sign in with the value of CONSOLE_TOKEN.");
    } else {
      log.info(
        { console: opened.console.createSignInLink(url) },
        "Open the console with this link, which is valid once and for one hour. Set CONSOLE_TOKEN to sign in at any time.",
      );
    }
  } catch (error) {
    log.warn({ err: error }, "The console could not be loaded.");
  }
}

function logSpaceAdvice({ endpoints, options, log }: ServerContext): void {
  log.info(
    "The Hub can only deliver to a public or protected Space. On free hardware (cpu-basic), a Space sleeps after 48 hours without a request. To avoid delays, request /health regularly or choose other hardware.",
  );
  if (endpoints.backgroundEndpoints.length === 0 || typeof options.inbox === "object") return;
  if (isOnLocalDisk(options.inbox ?? readEnvironment("INBOX_URL"))) log.warn(spaceDiskWarning);
}

/** Logs which endpoints cannot ask the Hub. In a Space, also that handlers cannot: it does not have the token of its owner. */
async function logMissingToken(
  { endpoints, options: { hub }, log }: ServerContext,
  space: Space | undefined,
): Promise<void> {
  if (hub && observeActions in hub) return;
  try {
    await findToken({ option: hub?.token, hubUrl: "" });
  } catch {
    const remedy = space ? "Add HF_TOKEN to the secrets of the Space" : "Set HF_TOKEN";
    const names = endpoints.all.filter(({ conditions }) => conditions).map(({ name }) => name);
    if (names.length > 0) {
      log.warn(
        { endpoints: names, code: "HUB_TOKEN_MISSING" },
        `There is no valid access token for the Hub, which the options \`catchUp\`, \`paths\`, and \`ignoreSelf\` require, so missed deliveries are not found and the handlers run for every event. ${remedy}.`,
      );
    } else if (space) {
      log.info(`There is no access token for the Hub. ${remedy} if a handler calls context.hub.`);
    }
  }
}

/** More in the same second are not logged: the logger itself can cause them, so that each line would cause the next one. */
const maxRejectionsPerSecond = 100;

export type ProcessManager = ReturnType<typeof manageProcess>;

/**
 * Handles signals and unhandled rejections: see `LaunchOptions.handleSignals`.
 *
 * @param close closes the server, and returns whether all requests in progress finished in time. Interrupted background deliveries do
 * not count, because they run again.
 */
export function manageProcess(close: () => Promise<boolean>, log: Logger) {
  let exiting: Promise<never> | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (exiting) process.exit(1);
    exiting = new Promise(() => {});
    log.info(`Received ${signal}. Waiting for running deliveries. Send the signal again to exit immediately.`);
    close().then(
      (complete) => {
        if (!complete) {
          log.error(
            'Some requests did not finish within "shutdownGrace" and were interrupted. Increase "shutdownGrace" if your handlers need more time.',
          );
        }
        process.exit(complete ? 0 : 1);
      },
      (error) => {
        log.error({ err: error }, "The server could not be closed.");
        process.exit(1);
      },
    );
  };
  let rejections = 0;
  const endSecond = () => {
    const omitted = rejections - maxRejectionsPerSecond;
    rejections = 0;
    if (omitted > 0) log.error({ count: omitted }, "More promise rejections in the same second were not logged.");
  };
  const onRejection = (reason: unknown) => {
    if (rejections === 0) setTimeout(endSecond, 1_000).unref();
    rejections += 1;
    if (rejections > maxRejectionsPerSecond) return;
    log.error(
      { err: reason },
      "Unhandled promise rejection. The server keeps running. Await the promise, or handle its rejection.",
    );
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("unhandledRejection", onRejection);
  return {
    /**
     * `undefined` until a signal starts to close the server. Afterward, a promise that never settles, so that code that
     * awaits it does not run before the process exits.
     */
    get exiting() {
      return exiting;
    },
    /** Logs the error of a failed launch and exits the process with code 1. Returns if the error is not a `WebhookError`. */
    exitAfter(error: unknown): void {
      if (!WebhookError.isInstance(error)) return;
      log.error({ code: error.code }, error.message);
      process.exit(1);
    },
    release(): void {
      process.off("SIGTERM", onSignal).off("SIGINT", onSignal).off("unhandledRejection", onRejection);
    },
  };
}
