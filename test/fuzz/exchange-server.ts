import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { WebhooksServer } from "hub-webhooks";
import type { ServerPlan, Step } from "./exchange-case.ts";
import { actOnNode, followPlans, listOpenResources, readPlan, reportRun } from "./exchange-hook.ts";

/*
 * A receiver whose routes, middleware, and handlers stop, cancel, destroy, and throw at the step that the request names. Runs by
 * itself, and as the server file of a dev session.
 */

process.on("unhandledRejection", (reason) => console.log(`UNHANDLED ${reason}`));
// In a dev session, the process of the session follows these plans.
if (import.meta.main) followPlans();

type Bindings = { Bindings: import("@hono/node-server").HttpBindings };

const app = new Hono<Bindings>();
app.use("/webhooks/middleware", async (context, next) => {
  const ended = await readBody(context);
  if (ended) return ended;
  await next();
  const answer = context.res;
  context.res = undefined;
  context.res = await followAnswer(context, answer);
});

const server = new WebhooksServer({ app });

server.app.all("/route", async (context: Context<Bindings>) => {
  const ended = await readBody(context);
  return ended ?? followAnswer(context, new Response(answerStream(context)));
});
server.app.get("/slow", async (context) => {
  await pause(50);
  return context.text("slow");
});
server.webhook("inline", { schema: null }, () => ({ done: true }));
for (const name of ["delivery", "middleware"]) {
  server.webhook(name, { schema: null }, (_payload, { request }) => {
    const bytes = Number(request?.headers.get("x-answer-bytes"));
    if (bytes === 10) throw new Error("The handler failed.");
    if (bytes === 20_000) return new Response(failingStream());
    return "x".repeat(bytes);
  });
}
server.webhook("background", { schema: null, background: true, attempts: 1 }, () => undefined);

const bodySteps: readonly Step[] = ["before the body", "in the body", "after the body"];

function planOf({ req }: Context<Bindings>): ServerPlan | undefined {
  const plan = readPlan(req.header("x-plan"));
  return plan?.by === "code" ? plan : undefined;
}

/** Reads the body up to the step of the plan, and acts. Returns an answer if the code does not continue. */
async function readBody(context: Context<Bindings>): Promise<Response | undefined> {
  const plan = planOf(context);
  const { raw } = context.req;
  if (!plan || !bodySteps.includes(plan.step)) {
    // Otherwise, the body is not read before the answer.
    if (plan?.reader !== "node")
      await raw
        .clone()
        .text()
        .catch(() => {});
    return undefined;
  }
  const { incoming, outgoing } = context.env;
  const { socket } = incoming;
  const reader = await readUntil(context, plan);
  for (let turns = plan.turns; turns > 0; turns -= 1) await turn();
  if (socket.destroyed) return undefined;
  reportRun(plan);
  switch (plan.action) {
    case "throw":
      throw new Error("thrown");
    case "cancel body":
      await (reader ?? raw.body)?.cancel();
      break;
    case "abort body":
      await (reader ?? raw.body)?.cancel(new Error("aborted"));
      break;
    case "release body":
      reader?.releaseLock();
      break;
    case "stop":
      break;
    default:
      actOnNode({ request: incoming, response: outgoing, socket }, plan.action);
  }
  return plan.continues || outgoing.destroyed ? undefined : context.text("stopped");
}

/** Reads the body up to a step. Returns the reader that locks the web stream. */
async function readUntil(
  { req: { raw }, env: { incoming } }: Context<Bindings>,
  { step, action, reader: kind }: ServerPlan,
): Promise<ReadableStreamDefaultReader<unknown> | undefined> {
  if (kind === "node") {
    if (step === "before the body") return undefined;
    const destroyOnReturn = step === "in the body" && action === "stop";
    for await (const _chunk of incoming.iterator({ destroyOnReturn })) if (step === "in the body") break;
    return undefined;
  }
  if (step === "in the body" && action === "stop") {
    for await (const _chunk of raw.body ?? []) break;
    return undefined;
  }
  if (step === "after the body" && kind === "text" && !action.endsWith("body")) {
    await raw.text();
    return undefined;
  }
  const reader = raw.body?.getReader();
  if (step === "in the body") await reader?.read();
  if (step === "after the body") while (reader && !(await reader.read()).done);
  return reader;
}

/** Returns an answer that breaks off, fails, or ends at the step of the plan. */
async function followAnswer(context: Context<Bindings>, response: Response): Promise<Response> {
  const plan = planOf(context);
  if (!plan || bodySteps.includes(plan.step)) return response;
  const { incoming, outgoing } = context.env;
  const { socket } = incoming;
  const isAtHead = plan.step === "at the head of the answer";
  if (plan.action === "end answer" && isAtHead && !plan.continues && !socket.destroyed) {
    outgoing.end();
    reportRun(plan);
    return RESPONSE_ALREADY_SENT;
  }
  if (plan.action === "cancel answer" && isAtHead) {
    await response.body?.cancel();
    reportRun(plan);
    return response;
  }
  const source = response.body?.getReader();
  const parts = halves(source);
  let sent = 0;
  let isPlanned = true;
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      const isHere = isAtHead || (plan.step === "in the answer" ? sent > 0 && !done : done);
      if (isPlanned && isHere) {
        isPlanned = false;
        for (let turns = plan.turns; turns > 0; turns -= 1) await turn();
        if (!socket.destroyed) {
          reportRun(plan);
          if (plan.action === "error answer") return controller.error(new Error("The stream failed."));
          if (plan.action === "throw in answer") throw new Error("The stream threw.");
          if (plan.action === "cancel answer") await source?.cancel();
          else if (plan.action !== "close answer")
            actOnNode({ request: incoming, response: outgoing, socket }, plan.action);
          if (!plan.continues || done || plan.action === "close answer") return controller.close();
        }
      }
      if (done) return controller.close();
      sent += 1;
      controller.enqueue(value);
    },
    async cancel(reason) {
      await source?.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** Returns the chunks of a stream in two parts each. */
async function* halves(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return;
    const middle = Math.ceil(value.length / 2);
    yield value.subarray(0, middle);
    if (middle < value.length) yield value.subarray(middle);
  }
}

function answerStream({ req }: Context<Bindings>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(Math.ceil(Number(req.header("x-answer-bytes")) / 4));
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > 4 || part.length === 0) return controller.close();
      controller.enqueue(part);
    },
  });
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
  process.on("message", () => process.send?.(listOpenResources()));
  process.on("disconnect", () => process.exit());
  process.send?.({ url });
}
