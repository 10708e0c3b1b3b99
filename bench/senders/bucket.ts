import { subscribe } from "node:diagnostics_channel";
import { IncomingMessage } from "node:http";
import { LocalHub } from "../../dist/local-hub.js";

/** A request to the bucket. Times are milliseconds since the epoch. */
export interface BucketRequest {
  startedAt: number;
  endedAt: number;
  /** The size of the response, and of the body of the request. */
  bytes: number;
}

const now = () => performance.timeOrigin + performance.now();

let requests = 0;
let trace: BucketRequest[] = [];
const starts = new WeakMap<IncomingMessage, { startedAt: number; bytes: number }>();
const transferred = ({ socket }: IncomingMessage) => socket.bytesRead + socket.bytesWritten;
subscribe("http.server.request.start", (message) => {
  requests += 1;
  if (isExchange(message)) starts.set(message.request, { startedAt: now(), bytes: transferred(message.request) });
});
subscribe("http.server.response.finish", (message) => {
  if (!isExchange(message)) return;
  const { request } = message;
  const { startedAt, bytes } = starts.get(request) ?? { startedAt: 0, bytes: 0 };
  trace.push({ startedAt, endedAt: now(), bytes: transferred(request) - bytes });
});

function isExchange(message: unknown): message is { request: IncomingMessage } {
  return (
    typeof message === "object" &&
    message !== null &&
    "request" in message &&
    message.request instanceof IncomingMessage
  );
}

// "count" asks for the number of requests, "trace" for the requests since the last trace. `latencyMs` is set for all requests.
process.on("message", (question: "count" | "trace" | { latencyMs: number }) => {
  if (question === "count") process.send?.(requests);
  else if (question === "trace") {
    process.send?.(trace);
    trace = [];
  } else {
    hub.setBucketFaults(question.latencyMs > 0 ? [{ kind: "latency", latency: question.latencyMs }] : []);
    process.send?.("set");
  }
});

const latencyMs = Number(process.argv[2]);
const hub = await LocalHub.launch();
const variables = hub.createBucket("local-user/inbox");
if (latencyMs > 0) hub.setBucketFaults([{ kind: "latency", latency: latencyMs, keys: "log/*" }]);
process.send?.(variables);
