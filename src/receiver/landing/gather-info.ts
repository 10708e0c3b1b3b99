import type { Context } from "hono";
import { webhooksPath } from "../../core/paths.ts";
import { readSpace } from "../../core/space.ts";
import type { InboxCounts } from "../background/inbox-counts.ts";
import type { EndpointActivity } from "../endpoint/activity.ts";
import type { LandingActivity, LandingEndpoint, LandingInfo } from "./info.ts";
import type { LandingSource } from "./source.ts";

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
