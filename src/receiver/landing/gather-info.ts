import type { Context } from "hono";
import { readSpace } from "../../core/environment.ts";
import { webhooksPath } from "../../core/urls.ts";
import type { MountPoint } from "../app.ts";
import type { InboxCounts, InboxCountsReader } from "../background.ts";
import type { Activity, EndpointActivity } from "../counts.ts";
import type { Endpoint } from "../endpoint.ts";
import type { LandingActivity, LandingEndpoint, LandingInfo, LandingPage } from "./info.ts";

/** The parts of the server from which the landing page is rendered. */
export interface LandingSource {
  /** `undefined`: the built-in page. */
  page: LandingPage | undefined;
  endpoints: ReadonlyMap<string, Endpoint>;
  secretIsSet: (bindings: unknown) => boolean;
  activity: Activity;
  inbox: InboxCountsReader;
  /** Milliseconds since the epoch. */
  now: () => number;
  mountPoint: MountPoint;
  /** The addresses of the server; `undefined` while it does not listen. */
  launchedServer: () => { url: string; publicUrl: string } | undefined;
}

/** Collects the content of the landing page. */
export async function gatherInfo(context: Context, source: LandingSource): Promise<LandingInfo> {
  const space = readSpace();
  const launched = source.launchedServer();
  const basePath = source.mountPoint.prefixOf(context);
  const publicUrl = launched && launched.publicUrl !== launched.url ? launched.publicUrl : undefined;
  // Without a Space or public URL, the page displays the URL that the client used.
  const baseUrl = publicUrl ?? `${space?.url ?? source.mountPoint.originOf(context)}${basePath}`;
  const theme = context.req.query("__theme");
  return {
    endpoints: [...source.endpoints.values()].map(({ name, scopes, activity, queue }) => ({
      name,
      url: `${baseUrl}${webhooksPath}${name}`,
      method: "POST",
      background: queue !== undefined,
      scopes,
      registration: activity.registration,
      deliveries: activity.deliveries,
      lastDay: source.activity.lastDay(activity),
      ...(activity.last && { last: lastOutcome(activity.last) }),
    })),
    secretIsSet: source.secretIsSet(context.env),
    baseUrl,
    basePath,
    startedAt: source.activity.startedAt.toISOString(),
    activity: await gatherActivity(source),
    ...(space && { space: { id: space.id } }),
    ...((theme === "light" || theme === "dark") && { theme }),
  };
}

function lastOutcome({ outcome, at }: NonNullable<EndpointActivity["last"]>): LandingEndpoint["last"] {
  return { outcome: outcome === "dead" ? "failed" : outcome, at: at.toISOString() };
}

async function gatherActivity({ activity, endpoints, inbox }: LandingSource): Promise<LandingActivity> {
  const handlerTime = activity.handlerTime();
  const background = [...endpoints.values()].filter((endpoint) => endpoint.queue).map(({ name }) => name);
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
