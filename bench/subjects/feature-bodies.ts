import { type HttpBindings, serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { announce } from "../announce.js";
import { readIncoming } from "../incoming-text.ts";

const answer = { received: true };
const path = "/webhooks/bench";
const app = new Hono<{ Bindings: HttpBindings }>();

// The handler that the second argument names. All handlers send the same response, but read the body in different ways.
switch (process.argv[3]) {
  case "unread":
    app.post(path, async (context) => context.json(answer));
    break;
  case "text":
    app.post(path, async (context) => {
      await context.req.text();
      return context.json(answer);
    });
    break;
  case "json":
    app.post(path, async (context) => {
      await context.req.json();
      return context.json(answer);
    });
    break;
  case "bodyLimit":
    app.post(path, bodyLimit({ maxSize: 10 * 1024 * 1024 }), async (context) => {
      await context.req.text();
      return context.json(answer);
    });
    break;
  case "incoming":
    app.post(path, async (context) => {
      await readIncoming(context.env.incoming);
      return context.json(answer);
    });
    break;
}

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
