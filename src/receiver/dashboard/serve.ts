import type { Context, Hono } from "hono";
import { WebhookError } from "../../core/errors.ts";
import { errorAnswer, toResponse } from "../../http/answer.ts";
import { RoutedRequest } from "../pipeline/delivery-request.ts";
import { isCrossSite } from "../pipeline/request-checks.ts";
import type { Dashboard } from "./dashboard.ts";
import type { DashboardSource } from "./source.ts";

/** Where the dashboard lies. What names a delivery goes into the query: names hold slashes, and ids anything. */
export const dashboardPath = "/_deliveries";

type Answer = (dashboard: Dashboard, context: Context) => Response | undefined | Promise<Response | undefined>;

/** Adds the owner's dashboard to the app. It is loaded when the owner first asks for it. */
export function serveDashboard(app: Hono, source: DashboardSource): void {
  let opened: Promise<Dashboard> | undefined;
  const open = () => {
    opened ??= import("./dashboard.ts")
      .then(({ Dashboard }) => new Dashboard(source))
      .catch((error: unknown) => {
        // The next request tries again: the process may have been out of file descriptors.
        opened = undefined;
        throw error;
      });
    return opened;
  };
  // Around each route, not before them: there is no path by which one could be reached without it.
  const forOwner = (answer: Answer) => async (context: Context) => {
    const foreign = foreignReplay(context);
    const response = foreign
      ? toResponse(errorAnswer(foreign))
      : source.ownerCheck.refuse(context, { isForBrowsers: true });
    if (response) {
      // A browser asks without the token first, and a wrong one is logged by the check.
      const { status } = response;
      const reason = foreign?.message ?? "Only its owner may see it.";
      if (status === 403) source.refusalLog.warn({ status }, `dashboard refused: ${reason}`);
      return response;
    }
    if (source.endpointNames().length === 0) return toResponse(errorAnswer(nothingKept()));
    return (await answer(await open(), context)) ?? context.notFound();
  };

  app.get(
    dashboardPath,
    forOwner((dashboard, context) => dashboard.page(context)),
  );
  app.get(
    `${dashboardPath}/body`,
    forOwner((dashboard, context) => dashboard.body(context)),
  );
  app.get(
    `${dashboardPath}/assets/:name`,
    forOwner((dashboard, context) => dashboard.asset(context.req.param("name"))),
  );
  app.post(
    `${dashboardPath}/replay`,
    forOwner((dashboard, context) => dashboard.replay(context)),
  );
  app.post(
    `${dashboardPath}/replay-dead`,
    forOwner((dashboard, context) => dashboard.replayDead(context)),
  );
}

/**
 * What is wrong with a request that a page of another site had the owner's browser send. JSON alone would do, since no
 * other site may send it unasked; the two headers say it again, of a browser that has them.
 */
function foreignReplay(context: Context): WebhookError | undefined {
  if (context.req.method !== "POST") return undefined;
  if (isCrossSite(new RoutedRequest(context))) {
    return new WebhookError("A replay is asked for on the dashboard itself, and not by the page of another site.", {
      code: "CROSS_SITE_REFUSED",
      status: 403,
    });
  }
  if (/^application\/json\s*(;|$)/i.test(context.req.header("content-type") ?? "")) return undefined;
  return new WebhookError("A replay is sent as Content-Type: application/json.", {
    code: "MEDIA_TYPE_UNSUPPORTED",
    status: 403,
  });
}

function nothingKept(): WebhookError {
  return new WebhookError(
    "There is no background endpoint, so no delivery is kept to be shown: give one the option background: true.",
    { code: "NOT_FOUND", status: 404 },
  );
}
