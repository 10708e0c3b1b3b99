import type { Context, Hono } from "hono";
import { isResponse } from "../answer.ts";
import type { Endpoint } from "../endpoint.ts";
import { webhooksPath } from "../receive.ts";
import { readSpace } from "../space.ts";
import type { LandingInfo } from "./info.ts";

/** What `GET /` answers: HTML, a Hono app, a function of what there is to tell, or `false` for nothing. */
export type LandingPage =
  | string
  | Hono
  | ((info: LandingInfo) => string | Response | Promise<string | Response>)
  | false;

/** What the landing page is made from. */
export interface LandingSource {
  /** Left out: the built-in page. */
  page: LandingPage | undefined;
  endpoints: ReadonlyMap<string, Endpoint>;
  secretIsSet: (bindings: unknown) => boolean;
  startedAt: Date;
  /** Where the server was launched, once it was. */
  reachedAt: () => { url: string; publicUrl: string } | undefined;
}

/** Adds the landing page to the app: the built-in one, which is loaded when it is first asked for, or the user's own. */
export function serveLandingPage(app: Hono, source: LandingSource): void {
  const { page } = source;
  if (page === false) return;
  // Not by `instanceof`: the app may come from another copy of Hono.
  if (typeof page === "object") {
    app.route("/", page);
  } else if (typeof page === "string") {
    app.get("/", (context) => context.html(page));
  } else if (typeof page === "function") {
    app.get("/", async (context) => {
      const answer = await page(landingInfo(context, source));
      return isResponse(answer) ? answer : context.html(answer);
    });
  } else {
    const builtIn = () => import("./page.ts");
    app.get("/", async (context) => (await builtIn()).landingPage(landingInfo(context, source)));
    app.get("/_landing/:asset", async (context) => {
      const asset = (await builtIn()).landingAsset(context.req.param("asset"));
      return asset ?? context.notFound();
    });
  }
}

function landingInfo(context: Context, source: LandingSource): LandingInfo {
  const space = readSpace();
  const launched = source.reachedAt();
  // Without a Space or a tunnel, the address to show is the one that the reader came by: of a proxy in front, say.
  const publicUrl = launched && launched.publicUrl !== launched.url ? launched.publicUrl : undefined;
  const baseUrl = space?.url ?? publicUrl ?? requestedUrl(context);
  const theme = context.req.query("__theme");
  return {
    endpoints: [...source.endpoints.values()].map(({ name, scopes, activity }) => ({
      name,
      url: `${baseUrl}${webhooksPath}${name}`,
      method: "POST",
      scopes,
      deliveries: activity.deliveries,
      ...(activity.last && { last: { outcome: activity.last.outcome, at: activity.last.at.toISOString() } }),
    })),
    secretIsSet: source.secretIsSet(context.env),
    baseUrl,
    startedAt: source.startedAt.toISOString(),
    ...(space && { space: { id: space.id } }),
    ...((theme === "light" || theme === "dark") && { theme }),
  };
}

/** The address as the reader typed it: a proxy in front may have ended TLS. */
function requestedUrl(context: Context): string {
  const url = new URL(context.req.url);
  const forwarded = context.req.header("x-forwarded-proto")?.split(",")[0]?.trim();
  return `${forwarded === "https" || forwarded === "http" ? forwarded : url.protocol.slice(0, -1)}://${url.host}`;
}
