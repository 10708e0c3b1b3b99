import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { ReadStream, WriteStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { finished } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { ServerPlan, Step } from "./exchange-case.ts";

/** Returns the plan that a request names. Returns `undefined` if the client broke off the header. */
export function readPlan(header = "null"): ServerPlan | undefined {
  try {
    return JSON.parse(header) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Reports that the action of a plan has run. `exchange-fuzz.ts` counts the reports. */
export function reportRun({ target, by, step, action }: ServerPlan): void {
  console.log(`RAN ${JSON.stringify({ target, by, step, action })}`);
}

/** Node's request, its answer, and their connection. Node removes the socket from a request that is destroyed. */
interface NodeExchange {
  request: IncomingMessage;
  response: ServerResponse;
  socket: Socket;
}

/** Runs one of the actions on Node's objects. */
export function actOnNode({ request, response, socket }: NodeExchange, action: ServerPlan["action"]): void {
  switch (action) {
    case "destroy request":
      request.destroy();
      break;
    case "fail request":
      request.destroy(new Error("failed"));
      break;
    case "destroy answer":
      response.destroy();
      break;
    case "fail answer":
      response.destroy(new Error("failed"));
      break;
    case "end answer":
      response.end();
      break;
    case "end socket":
      socket.end();
      break;
    case "kill socket":
      socket.destroy();
      break;
    default:
      throw new Error(`The action "${action}" does not belong to this step.`);
  }
}

interface Request extends NodeExchange {
  plan: ServerPlan | undefined;
  /** The number of the case, or the URL of a request without a number. */
  name: string;
}

/** The request for which code runs. */
const current = new AsyncLocalStorage<Request | undefined>();
/** The last request of each open connection. */
const connections = new Map<Socket, Request>();
/** The requests for which files are open. */
const files = new Map<ReadStream | WriteStream, Request>();

/** Follows the plans of the requests to all HTTP servers of this process whose action runs in the process. */
export function followPlans(): void {
  subscribe("http.server.request.start", (message) => {
    // The documented content of the channel, which has no type.
    const exchange = message as NodeExchange;
    const { headersDistinct, url = "" } = exchange.request;
    const plan = readPlan(headersDistinct["x-plan"]?.[0]);
    const request = { ...exchange, plan, name: headersDistinct["x-exchange"]?.[0] ?? url };
    const { socket } = request;
    if (!connections.has(socket)) socket.once("close", () => connections.delete(socket));
    connections.set(socket, request);
    current.enterWith(request);
    if (plan) follow(request, plan);
  });
  watchFiles();
}

/** The open connections and files of this process. */
export interface OpenResources {
  /** All connections, also those of clients. */
  connections: number;
  /** The last request of each connection that a server accepted. */
  requests: string[];
  /** The requests for which files are open. */
  files: string[];
}

export function listOpenResources(): OpenResources {
  return {
    connections: process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length,
    requests: [...connections.values()].map(({ name }) => name),
    files: [...files.values()].map(({ name }) => name),
  };
}

function follow(request: Request, plan: ServerPlan): void {
  let hasActed = false;
  if (plan.target === "hub" && plan.by === "code") observeRefusal(request, plan);
  if (plan.by !== "process" || plan.action === "fail file") return;
  const act = async (step: Step) => {
    if (step !== plan.step || hasActed) return;
    hasActed = true;
    // Without a turn, the action runs before the server reacts to the step.
    for (let turns = plan.turns; turns > 0; turns -= 1) await turn();
    if (request.socket.destroyed) return;
    actOnNode(request, plan.action);
    reportRun(plan);
  };
  watchBody(request, act);
  watchAnswer(request, plan, act);
  // Node has not connected the response yet.
  process.nextTick(act, "before the body");
}

function watchBody({ request }: Request, act: (step: Step) => Promise<void>): void {
  const push = request.push.bind(request);
  request.push = (chunk, encoding) => {
    const isReading = push(chunk, encoding);
    void act(chunk === null ? "after the body" : "in the body");
    return isReading;
  };
}

function watchAnswer({ response }: Request, plan: ServerPlan, act: (step: Step) => Promise<void>): void {
  const { writeHead, write, end } = response;
  response.writeHead = (...args: unknown[]) => {
    Reflect.apply(writeHead, response, args);
    void act("at the head of the answer");
    return response;
  };
  response.write = (...args: unknown[]) => {
    const isReading: boolean = Reflect.apply(write, response, args);
    void act("in the answer");
    return isReading;
  };
  response.end = (...args: unknown[]) => {
    const [chunk, ...others] = args;
    if (plan.step !== "in the answer" || !(typeof chunk === "string" || chunk instanceof Uint8Array)) {
      return Reflect.apply(end, response, args);
    }
    const bytes = Buffer.from(chunk);
    const middle = Math.ceil(bytes.length / 2);
    if (middle > 0) response.write(bytes.subarray(0, middle));
    return Reflect.apply(end, response, [bytes.subarray(middle), ...others]);
  };
  response.once("finish", () => void act("after the answer"));
}

/** Reports that the route of the local Hub refused a commit with an invalid line, for which it cancels the body. */
function observeRefusal({ response }: Request, plan: ServerPlan): void {
  response.once("close", () => {
    if (response.statusCode === 400) reportRun(plan);
  });
}

/** Lists the open files of requests. Makes reading or writing a file fail if its request has this plan. */
function watchFiles(): void {
  for (const { prototype } of [ReadStream, WriteStream]) {
    const { _construct: construct } = prototype;
    prototype._construct = function (this: ReadStream | WriteStream, callback) {
      const request = current.getStore();
      if (request) {
        files.set(this, request);
        finished(this, () => files.delete(this));
      }
      return construct?.call(this, callback);
    };
  }
  const { _read: read } = ReadStream.prototype;
  ReadStream.prototype._read = function (size) {
    const plan = files.get(this)?.plan;
    // The first part of the file is sent.
    if (plan?.action !== "fail file" || this.bytesRead === 0) return read.call(this, size);
    reportRun(plan);
    this.destroy(new Error("EIO"));
  };
  const { _write: write, _writev: writeAll } = WriteStream.prototype;
  const fail = (stream: WriteStream, callback: (error: Error) => void) => {
    const plan = files.get(stream)?.plan;
    if (plan?.action !== "fail file") return false;
    reportRun(plan);
    callback(new Error("ENOSPC"));
    return true;
  };
  WriteStream.prototype._write = function (chunk, encoding, callback) {
    if (!fail(this, callback)) write.call(this, chunk, encoding, callback);
  };
  WriteStream.prototype._writev = function (chunks, callback) {
    if (!fail(this, callback)) writeAll?.call(this, chunks, callback);
  };
}
