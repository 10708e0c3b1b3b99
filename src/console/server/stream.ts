import { Duplex } from "node:stream";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import * as z from "zod/mini";
import { WebhookError } from "../../core/errors.ts";
import type { StreamMessage } from "../protocol/session.ts";
import type { ConsoleEvents } from "./console-events.ts";
import type { Session } from "./session-tokens.ts";

/** The maximum number of open streams: one per tab. The limit prevents forgotten tabs from exhausting the connections. */
const maxStreams = 50;
/** Proxies close idle connections after a minute or less. A client that has not read one heartbeat at the next one is stalled. */
const heartbeatMs = 15_000;
/** The maximum number of messages that wait for a client that does not read. The client reconnects, and loads the current state. */
const maxWaiting = 1_000;
/** The maximum length of the messages that wait, in characters. A single message can be longer. */
const maxWaitingLength = 4_194_304;

export interface StreamOptions {
  events: ConsoleEvents;
  /** The session of the client. */
  session: Session;
}

/**
 * Answers with the live messages as Server-Sent Events, until the client disconnects, stops reading, or signs out, or the console
 * closes.
 *
 * @throws `TOO_MANY_STREAMS` (503), `CLOSING` (503) if the console is closed.
 */
export function streamEvents(context: Context, { events, session }: StreamOptions): Response {
  // Hono answers HEAD like GET and drops the body, so the end of the stream would never be noticed.
  if (context.req.method === "HEAD") return context.body(null, 200, { "Content-Type": "text/event-stream" });
  if (events.isClosed) throw closing();
  if (events.subscribers >= maxStreams) throw tooManyStreams();
  // nginx collects responses before it forwards them, unless this header is set.
  context.header("X-Accel-Buffering", "no");
  return streamSSE(context, async (stream) => {
    const ended = Promise.withResolvers<void>();
    let waiting = 0;
    let waitingLength = 0;
    const socket = socketOf(context);
    /** Ends the stream of a client that does not read, and discards what waits, also in the connection. */
    const drop = () => {
      stream.abort();
      socket?.destroy();
    };
    const send = async (message: StreamMessage) => {
      const data = JSON.stringify(message);
      if (waiting === maxWaiting || (waiting > 0 && waitingLength + data.length > maxWaitingLength)) {
        return drop();
      }
      waiting += 1;
      waitingLength += data.length;
      await stream.writeSSE({ data });
      waiting -= 1;
      waitingLength -= data.length;
    };
    let isHeartbeatWaiting = false;
    const unsubscribe = events.subscribe((message) => void send(message), {
      // A client that does not read would delay the shutdown of the server.
      onClose: () => (waiting > 0 || isHeartbeatWaiting || socket?.writableLength ? drop() : ended.resolve()),
    });
    const beat = async () => {
      if (isHeartbeatWaiting) return drop();
      if (session.hasExpired()) return stream.abort();
      isHeartbeatWaiting = true;
      await stream.write(": heartbeat\n\n");
      isHeartbeatWaiting = false;
    };
    const heartbeat = setInterval(() => void beat(), heartbeatMs);
    stream.onAbort(ended.resolve);
    const leave = () => stream.abort();
    socket?.once("end", leave);
    const unwatch = session.onSignOut(leave);
    // The first bytes show the client that the stream is open.
    await stream.write(": open\n\n");
    await ended.promise;
    clearInterval(heartbeat);
    socket?.off("end", leave);
    unwatch();
    unsubscribe();
  });
}

const bindings = z.object({ incoming: z.object({ socket: z.instanceof(Duplex) }) });

/**
 * Returns the socket of Node, which Hono's adapter passes with a request. The server leaves its side open for clients that send
 * their whole request and then end theirs. Clients of the stream only end theirs when they leave.
 */
function socketOf(context: Context): Duplex | undefined {
  return bindings.safeParse(context.env).data?.incoming.socket;
}

function closing(): WebhookError {
  return new WebhookError("The server is shutting down. Open the console again later.", {
    code: "CLOSING",
    status: 503,
    retryAfterSeconds: 5,
  });
}

function tooManyStreams(): WebhookError {
  return new WebhookError("Too many consoles are open. Close other tabs of the console.", {
    code: "TOO_MANY_STREAMS",
    status: 503,
    retryAfterSeconds: 30,
  });
}
