import type { Context, Hono } from "hono";
import { readEnvironment, readSpace } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import { loadOnce } from "../core/time.ts";
import { webhooksPath } from "../core/urls.ts";
import { errorAnswer, isResponse, toResponse } from "../http/answer.ts";
import type { Inbox, InboxProblem } from "../inbox/inbox.ts";
import type { MountPoint } from "./app.ts";
import type { ServerContext } from "./context.ts";
import type { EndpointActivity } from "./counts.ts";
import { type BackgroundWork, createInboxReader, type InboxCounts, type InboxReader } from "./inbox.ts";
import type { LandingActivity, LandingEndpoint, LandingInfo } from "./options.ts";

const timeoutMs = 3_000;
const remedy = "Check that the file or database server of the inbox is available.";

type Problems = readonly InboxProblem[];

/**
 * Adds `GET /ready`: 503 while the server is closing, the inbox cannot store deliveries, or no worker makes progress, and 200 otherwise.
 * Every client receives the status, but only the owner receives the reasons.
 */
export function serveReady(app: Hono, server: ServerContext, background: Pick<BackgroundWork, "opened">): void {
  const inboxProblems = createInboxReader<Problems>(background, {
    now: server.now,
    timeoutMs,
    fallback: [unavailable(`The inbox did not respond within ${timeoutMs / 1000} s. ${remedy}`)],
    read: readProblems,
  });
  const findProblems = async (): Promise<Problems> => {
    if (server.isClosed) return [unavailable("The server is closed or shutting down.", "CLOSING")];
    if (server.endpoints.backgroundEndpoints.length === 0) return [];
    const notOpen = "The inbox is not open yet. Call launch() or ready() to open the inbox.";
    return (await inboxProblems.read()) ?? [unavailable(notOpen)];
  };
  app.get("/ready", async (context) => {
    const problems = await findProblems();
    const status = statusOf(problems);
    // A probe must not wait while clients guess the token.
    const isOwner = (await server.ownerCheck.refuse(context, { mayWait: false })) === undefined;
    const reasons = problems.map(({ code, message }) => ({ code, message }));
    return context.json(isOwner ? { status, problems: reasons } : { status }, status === "unavailable" ? 503 : 200, {
      "cache-control": "no-store",
    });
  });
}

/** Returns the overall status. `degraded` means that deliveries are stored and run, but there are problems to fix. */
function statusOf(problems: Problems): "ok" | "degraded" | "unavailable" {
  if (problems.some(({ severity }) => severity === "unavailable")) return "unavailable";
  return problems.length > 0 ? "degraded" : "ok";
}

async function readProblems(opened: Promise<Inbox>): Promise<Problems> {
  try {
    return await (await opened).problems();
  } catch (error) {
    // Omits messages of database drivers, which may contain secrets.
    if (WebhookError.isInstance(error)) return [unavailable(error.message, error.code)];
    return [unavailable(`The inbox did not report its state. ${remedy}`)];
  }
}

/** Like the function in `inbox/errors.ts`, which is only loaded with an inbox. */
function unavailable(message: string, code = "INBOX_UNAVAILABLE"): InboxProblem {
  return { code, severity: "unavailable", message };
}

/** The route `GET /metrics`, which only the owner can read. If metrics are disabled, it does not exist, and nothing is loaded. */
export function createMetricsRoute(
  server: ServerContext,
  { inbox, load }: { inbox: InboxReader<InboxCounts>; load: () => Promise<typeof import("./metrics.ts")> },
) {
  const { ownerCheck, log, options } = server;
  const open = loadOnce(async () => (await load()).openMetrics(server, inbox));
  const setting = options.metrics === undefined ? readEnvironment("METRICS") : undefined;
  const isOn = options.metrics ?? (setting === "1" || setting === "true");
  return {
    /** Starts to collect metrics, if enabled. @throws `OPTION_INVALID` when `METRICS` is invalid, or `prom-client` is not installed. */
    async open(): Promise<void> {
      if (setting !== undefined && !["0", "1", "false", "true"].includes(setting)) {
        throw optionError(
          `METRICS is ${JSON.stringify(setting)}. Set METRICS to 1 or 0 to enable or disable GET /metrics.`,
        );
      }
      if (isOn) await open();
    },
    mount(app: Hono): void {
      if (!isOn) return;
      app.get("/metrics", async (context) => {
        const refused = await ownerCheck.refuse(context);
        if (refused) return refused;
        try {
          return await (await open())();
        } catch (error) {
          if (!WebhookError.isInstance(error)) throw error;
          log.error({ code: error.code, err: error.cause }, error.message);
          return toResponse(errorAnswer(error));
        }
      });
    },
  };
}

export type MetricsRoute = ReturnType<typeof createMetricsRoute>;

interface LandingSource {
  server: ServerContext;
  inbox: InboxReader<InboxCounts>;
  mountPoint: MountPoint;
  loadPage: () => Promise<typeof import("./landing/landing-page.ts")>;
}

async function gatherInfo(context: Context, source: LandingSource): Promise<LandingInfo> {
  const { server, mountPoint } = source;
  const space = readSpace();
  const { launched } = server;
  const basePath = mountPoint.prefixOf(context);
  const publicUrl = launched && launched.publicUrl !== launched.url ? launched.publicUrl : undefined;
  // Without a Space or public URL, the page displays the URL that the client used.
  const baseUrl = publicUrl ?? `${space?.url ?? mountPoint.originOf(context)}${basePath}`;
  const theme = context.req.query("__theme");
  return {
    endpoints: server.endpoints.all.map(({ name, scopes, activity, queue }) => ({
      name,
      url: `${baseUrl}${webhooksPath}${name}`,
      method: "POST",
      background: queue !== undefined,
      scopes,
      registration: activity.registration,
      deliveries: activity.deliveries,
      lastDay: server.activity.lastDay(activity),
      ...(activity.last && { last: lastOutcome(activity.last) }),
    })),
    secretIsSet: server.secretCheck.isSet(context.env),
    baseUrl,
    basePath,
    startedAt: server.activity.startedAt.toISOString(),
    activity: await gatherActivity(source),
    ...(space && { space: { id: space.id } }),
    ...((theme === "light" || theme === "dark") && { theme }),
  };
}

function lastOutcome({ outcome, at }: NonNullable<EndpointActivity["last"]>): LandingEndpoint["last"] {
  return { outcome: outcome === "dead" ? "failed" : outcome, at: at.toISOString() };
}

async function gatherActivity({ server: { activity, endpoints }, inbox }: LandingSource): Promise<LandingActivity> {
  const handlerTime = activity.handlerTime();
  const background = endpoints.backgroundEndpoints.map(({ name }) => name);
  const counts = background.length > 0 ? await inbox.read() : undefined;
  return {
    hours: activity.hours().map(({ startedAt, dead, ...counted }) => ({
      startedAt: startedAt.toISOString(),
      ...counted,
      failed: counted.failed + dead,
    })),
    ...(handlerTime && { handlerTime }),
    ...(counts && { queue: queueOf(background, counts) }),
  };
}

/** Sums the counts of this server's endpoints, because other servers may share the inbox. */
function queueOf(names: readonly string[], counts: InboxCounts): LandingActivity["queue"] {
  if (counts === "unknown") return counts;
  const sum = (status: "queued" | "running" | "dead") =>
    names.reduce((total, name) => total + (counts[name]?.[status] ?? 0), 0);
  return { queued: sum("queued"), running: sum("running"), dead: sum("dead") };
}

/** Adds the landing page to the app: the built-in page, which is loaded at the first request, or the user's page. */
export function serveLandingPage(app: Hono, source: LandingSource): void {
  const { landingPage: page } = source.server.options;
  if (page === false) return;
  // Does not use `instanceof`, because the app may come from another copy of Hono.
  if (typeof page === "object") {
    app.route("/", page);
  } else if (typeof page === "string") {
    app.get("/", (context) => context.html(page));
  } else if (typeof page === "function") {
    app.get("/", async (context) => {
      const answer = await page(await gatherInfo(context, source));
      return isResponse(answer) ? answer : context.html(answer);
    });
  } else {
    app.get("/", async (context) => {
      const { landingPage } = await source.loadPage();
      return landingPage(await gatherInfo(context, source), new Date(source.server.now()));
    });
    app.get("/_landing/:asset", async (context) => {
      const asset = (await source.loadPage()).landingAsset(context.req.param("asset"));
      return asset ?? context.notFound();
    });
  }
}
