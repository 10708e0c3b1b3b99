import type { Context, Hono } from "hono";
import type { Logger } from "../core/logger.ts";
import { type Answer, toResponse } from "../http-server/answer.ts";
import type { Activity } from "./activity.ts";
import type { BackgroundWork } from "./background-work.ts";
import { serveDashboard } from "./dashboard/serve.ts";
import { webhooksPath } from "./delivery-request.ts";
import type { EndpointRegistry } from "./endpoint-registry.ts";
import type { InboxCountsReader } from "./inbox-counts.ts";
import { serveLandingPage } from "./landing/serve.ts";
import type { LandingPage } from "./landing/source.ts";
import type { MetricsRoute } from "./metrics-route.ts";
import type { MountPoint } from "./mount-point.ts";
import type { OwnerCheck } from "./owner-check.ts";
import { ReadyRoute } from "./ready-route.ts";
import type { SecretCheck } from "./secret-check.ts";
import type { ServerInbox } from "./server-inbox.ts";
import type { ServerLifecycle } from "./server-lifecycle.ts";

/** The parts of a server that its built-in routes use. */
interface RouteParts {
  /** Answers a request to an endpoint. */
  answer: (context: Context) => Promise<Answer>;
  landingPage: LandingPage | undefined;
  mountPoint: MountPoint;
  endpoints: EndpointRegistry;
  background: BackgroundWork;
  inbox: ServerInbox;
  inboxCounts: InboxCountsReader;
  activity: Activity;
  metrics: MetricsRoute;
  secretCheck: SecretCheck;
  ownerCheck: OwnerCheck;
  lifecycle: ServerLifecycle;
  log: () => Logger;
  refusalLog: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Adds the endpoints, `/health`, `/ready`, `/metrics`, the dashboard and the landing page to the app. */
export function addBuiltInRoutes(
  app: Hono,
  { answer, background, endpoints, lifecycle, metrics, ownerCheck, secretCheck, ...parts }: RouteParts,
): void {
  const { mountPoint, now, log, refusalLog } = parts;
  app.all(`${webhooksPath}*`, async (context) => toResponse(await answer(context)));
  app.get("/health", (context) => context.json({ status: "ok" }));
  new ReadyRoute({
    needsInbox: () => endpoints.background.length > 0,
    inbox: () => background.opened,
    isClosed: () => lifecycle.isClosed,
    ownerCheck,
    now,
  }).mount(app);
  metrics.mount(app);
  serveDashboard(app, {
    mountPoint,
    now,
    log,
    refusalLog,
    ownerCheck,
    inbox: parts.inbox,
    endpointNames: () => endpoints.background.map(({ name }) => name),
  });
  serveLandingPage(app, {
    mountPoint,
    now,
    page: parts.landingPage,
    endpoints: endpoints.byName,
    secretIsSet: (bindings) => secretCheck.isSet(bindings),
    activity: parts.activity,
    inbox: parts.inboxCounts,
    launchedServer: () => lifecycle.launchedServer,
  });
}
