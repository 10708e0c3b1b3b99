import type { Hono } from "hono";
import { isResponse } from "../../http/answer.ts";
import type { LandingSource } from "./gather-info.ts";

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
      const { gatherInfo } = await import("./gather-info.ts");
      const answer = await page(await gatherInfo(context, source));
      return isResponse(answer) ? answer : context.html(answer);
    });
  } else {
    const builtIn = () => import("./landing-page.ts");
    app.get("/", async (context) => {
      const [{ landingPage }, { gatherInfo }] = await Promise.all([builtIn(), import("./gather-info.ts")]);
      return landingPage(await gatherInfo(context, source), new Date(source.server.now()));
    });
    app.get("/_landing/:asset", async (context) => {
      const asset = (await builtIn()).landingAsset(context.req.param("asset"));
      return asset ?? context.notFound();
    });
  }
}
