import type { Context, Hono } from "hono";
import { readSpace } from "../../core/environment.ts";
import { webhooksPath } from "../../core/urls.ts";
import { isResponse } from "../../http/answer.ts";
import type { MountPoint } from "../app.ts";
import type { InboxCounts, InboxReader } from "../background.ts";
import type { ServerContext } from "../context.ts";
import type { EndpointActivity } from "../counts.ts";
import type { LandingActivity, LandingEndpoint, LandingInfo } from "../options.ts";

interface LandingSource {
  server: ServerContext;
  inbox: InboxReader<InboxCounts>;
  mountPoint: MountPoint;
  loadPage: () => Promise<typeof import("./landing-page.ts")>;
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
