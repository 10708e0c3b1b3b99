import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import type { HubPageInfo } from "../../../src/local-hub/page/info.ts";
import { hubPage, hubPageAsset } from "../../../src/local-hub/page/page.ts";
import { now } from "./sample-info.ts";

/** A server of the page whose content and whose answers to a replay the test decides. */
export interface PageServer {
  origin: string;
  /** What the page shows from now on. */
  info: HubPageInfo;
  /** The answer to the next replays. */
  replay: () => Response | Promise<Response>;
  /** The replays that were asked for: path, content type and body. */
  replays: { path: string; type: string | undefined; body: string }[];
  /** How often the page was asked for. */
  views: number;
  /** Whether it answers 503 to whoever asks for the page. */
  fails: boolean;
  close: () => void;
}

/** Serves the page on a free port of this machine. */
export async function servePage(info: HubPageInfo): Promise<PageServer> {
  const app = new Hono();
  app.get("/", (context) => {
    page.views += 1;
    if (page.fails) return context.text("", 503);
    const theme = context.req.query("__theme");
    return hubPage({ ...page.info, ...((theme === "light" || theme === "dark") && { theme }) }, now);
  });
  app.get("/_page/:name", (context) => hubPageAsset(context.req.param("name")) ?? context.notFound());
  app.post("/_local/webhooks/:id/replay/:logId", async (context) => {
    const { path } = context.req;
    page.replays.push({ path, type: context.req.header("content-type"), body: await context.req.text() });
    return page.replay();
  });
  const { server, port } = await new Promise<{ server: ReturnType<typeof serve>; port: number }>((listening) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (address: AddressInfo) =>
      listening({ server, port: address.port }),
    );
  });
  const page: PageServer = {
    origin: `http://127.0.0.1:${port}`,
    info,
    replay: () => Response.json({ status: 200 }),
    replays: [],
    views: 0,
    fails: false,
    close: () => {
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    },
  };
  return page;
}
