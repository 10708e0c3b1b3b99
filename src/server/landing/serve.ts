import type { Hono } from "hono";
import type { Activity } from "../activity.ts";
import { isResponse } from "../answer.ts";
import type { Endpoint } from "../endpoint.ts";
import type { InboxCounts } from "../inbox-counts.ts";
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
  activity: Activity;
  inbox: InboxCounts;
  /** Milliseconds since the epoch. */
  now: () => number;
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
      const { gatherInfo } = await import("./gather-info.ts");
      const answer = await page(await gatherInfo(context, source));
      return isResponse(answer) ? answer : context.html(answer);
    });
  } else {
    const builtIn = () => import("./page.ts");
    app.get("/", async (context) => {
      const [{ landingPage }, { gatherInfo }] = await Promise.all([builtIn(), import("./gather-info.ts")]);
      return landingPage(await gatherInfo(context, source), new Date(source.now()));
    });
    app.get("/_landing/:asset", async (context) => {
      const asset = (await builtIn()).landingAsset(context.req.param("asset"));
      return asset ?? context.notFound();
    });
  }
}
