import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { WebhooksServer } from "hub-webhooks";
import type { ServerPlan, Step } from "./exchange-case.ts";

/*
 * A receiver whose routes, middleware, and handlers stop, cancel, destroy, and throw at the step that the request names. Runs by
 * itself, and as the server file of a dev session.
 */

process.on("unhandledRejection", (reason) => console.log(`UNHANDLED ${reason}`));

type Bindings = { Bindings: import("@hono/node-server").HttpBindings };

const app = new Hono<Bindings>();
app.use("/webhooks/middleware", async (context, next) => {
  const ended = await readBody(context);
  if (ended) return ended;
  return next();
});

const server = new WebhooksServer({ app });

server.app.all("/route", async (context: Context<Bindings>) => (await readBody(context)) ?? answer(context));
server.webhook("inline", { schema: null }, () => ({ done: true }));
server.webhook("middleware", { schema: null }, () => ({ done: true }));
server.webhook("delivery", { schema: null }, (_payload, { request }) => {
  const bytes = Number(request?.headers.get("x-answer-bytes"));
  if (bytes === 10) throw new Error("The handler failed.");
  if (bytes === 20_000) return new Response(failingStream());
  return "x".repeat(bytes);
});
server.webhook("background", { schema: null, background: true, attempts: 1 }, () => undefined);

function planOf({ req }: Context<Bindings>): ServerPlan | undefined {
  return JSON.parse(req.header("x-plan") ?? "null") ?? undefined;
}

/** Reads the body up to the step of the plan, and acts. Returns an answer if the route must not go on. */
async function readBody(context: Context<Bindings>): Promise<Response | undefined> {
  const plan = planOf(context);
  const { raw } = context.req;
  const { incoming, outgoing } = context.env;
  const { socket } = incoming;
  if (!plan || !["before the body", "in the body", "after the body"].includes(plan.step)) {
    await raw
      .clone()
      .text()
      .catch(() => {});
    return undefined;
  }
  if (plan.reader === "node") {
    if (plan.step !== "before the body") {
      const isStopping = plan.step === "in the body" && plan.action === "stop";
      for await (const _chunk of incoming.iterator({ destroyOnReturn: isStopping }))
        if (plan.step === "in the body") break;
    }
  } else if (plan.step === "after the body") await raw.text();
  else if (plan.step === "in the body" && plan.action === "stop") for await (const _chunk of raw.body ?? []) break;
  const reader = plan.reader === "web" && plan.step !== "after the body" ? raw.body?.getReader() : undefined;
  if (plan.step === "in the body") await reader?.read();
  switch (plan.action) {
    case "cancel":
      await reader?.cancel();
      break;
    case "abort":
      await reader?.cancel(new Error("aborted"));
      break;
    case "release":
      reader?.releaseLock();
      break;
    case "destroy":
      incoming.destroy();
      break;
    case "fail":
      incoming.destroy(new Error("failed"));
      break;
    case "end":
      socket.end();
      break;
    case "kill":
      socket.destroy();
      break;
    case "throw":
      throw new Error("thrown");
  }
  return outgoing.destroyed ? undefined : context.text("stopped");
}

function answer(context: Context<Bindings>): Response {
  const plan = planOf(context);
  const { outgoing, incoming } = context.env;
  const { socket } = incoming;
  const bytes = Number(context.req.header("x-answer-bytes"));
  const part = new Uint8Array(Math.max(1, Math.ceil(bytes / 4)));
  const before: Step[] = ["at the head of the answer", "in the answer", "after the answer"];
  const parts = plan ? [0, 2, 4][before.indexOf(plan.step)] : 4;
  let sent = 0;
  if (plan?.action === "end outgoing" && parts === 0) {
    outgoing.end();
    return RESPONSE_ALREADY_SENT;
  }
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (sent < (parts ?? 4)) {
          sent += 1;
          return controller.enqueue(part);
        }
        if (plan?.action === "error") return controller.error(new Error("The stream failed."));
        if (plan?.action === "destroy") outgoing.destroy();
        if (plan?.action === "fail") outgoing.destroy(new Error("failed"));
        if (plan?.action === "end outgoing") outgoing.end();
        if (plan?.action === "end") socket?.end();
        if (plan?.action === "kill") socket?.destroy();
        controller.close();
      },
    }),
  );
}

function failingStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(1));
      controller.error(new Error("The stream failed."));
    },
  });
}

export default server;
const { url } = await server.launch({
  host: "127.0.0.1",
  port: 0,
  handleSignals: false,
  announce: false,
  timeouts: { headers: "1s", request: "2s", keepAlive: "500ms", write: "2s" },
});
if (import.meta.main) {
  process.on("message", () =>
    process.send?.(process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length),
  );
  process.on("disconnect", () => process.exit());
  process.send?.({ url });
}
