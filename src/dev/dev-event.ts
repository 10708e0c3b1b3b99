import { inspect } from "node:util";
import { messageOf } from "../core/describe.ts";
import { defaultHubPort, defaultPort } from "../core/urls.ts";
import type { OutputLine } from "../server-file/server-process.ts";

/** An endpoint of a session. */
export interface DevEndpoint {
  name: string;
  /** The URL of the endpoint's webhook. */
  url: string;
  /** The items that the webhook watches, as `type:name`. Empty if the endpoint has no webhook. */
  watch: readonly string[];
  /**
   * The arguments of `hub-webhooks trigger` that send a test event to the endpoint. Absent on the real Hub and for an
   * endpoint without a webhook.
   */
  trigger?: readonly string[];
}

/** The current URLs and endpoints of a session. */
export interface DevState {
  /** The local URL, without a trailing slash. */
  url: string;
  /** The URL to which the Hub sends deliveries. The same as `url` if there is no tunnel and no `publicUrl` option. */
  publicUrl: string;
  /** The Hub on which the session's webhooks are registered. */
  hub: {
    kind: "local" | "real";
    url: string;
  };
  endpoints: readonly DevEndpoint[];
  /** The URL of the console. Opening it requires a sign-in link. */
  consoleUrl: string;
  /** The URL of the session's inbox, with a masked password. Absent if no endpoint runs in the background. */
  inbox?: string;
}

/** An event that a session passes to its `onEvent` option. */
export type DevEvent =
  /** The session is ready for deliveries: a test request has arrived through the public URL. Emitted once. */
  | ({ event: "ready" } & DevState)
  /** The public URL is no longer reachable. The tunnel tries to reconnect until the session is closed. */
  | { event: "down"; reason: string }
  /** Deliveries arrive again. */
  | { event: "up"; publicUrl: string }
  /** The public URL has changed. The session then updates its webhooks. */
  | { event: "urlChanged"; publicUrl: string }
  /** Source files have changed. New deliveries wait until the server is reloaded. */
  | { event: "reloading"; files: readonly string[] }
  /** The server is running again. Webhooks that could not be updated are reported as `problem` events. */
  | { event: "reloaded"; endpoints: readonly DevEndpoint[] }
  /**
   * The server failed to load, or its process exited. If `isRestarted` is true, deliveries wait for the restart.
   * Otherwise, deliveries receive status 503, and the Hub retries them.
   */
  | {
      event: "broken";
      reason: string;
      /** The stack trace, reduced to the user's own files. */
      stack?: string;
      /** Whether the server is restarted even if its files do not change. */
      isRestarted: boolean;
    }
  /** A delivery was answered. */
  | ({ event: "delivery" } & ProxiedDelivery)
  /** The session changed its webhooks. `steps` describes the changes for display. */
  | { event: "webhooks"; steps: readonly string[] }
  /** A sign-in link of the console was used. Create another one with `createConsoleLink()`. */
  | { event: "signedIn" }
  /** A problem that does not end the session. `message` describes the problem and, where you can act, how to fix it. */
  | { event: "problem"; code: string; message: string }
  /** A line of the server's output: JSON from the logger, or text that your code prints. */
  | ({ event: "output" } & OutputLine);

/** A delivery that was answered. */
export interface ProxiedDelivery {
  endpoint: string;
  /** The `Webhook-Id` header. Absent if the sender did not set the header. */
  deliveryId?: string;
  /** The HTTP status of the response. */
  status: number;
  /**
   * The time from the request headers to the end of the response, in milliseconds. Includes the time that the request
   * waits for the server.
   */
  durationMs: number;
  /**
   * The reason why the server did not answer the delivery. Absent if the server answered. The Hub retries deliveries
   * that the server did not answer.
   */
  reason?: string;
}

/** The result of a replay. */
export interface ReplayResult {
  endpoint: string;
  deliveryId: string;
  /** The HTTP status of the response. */
  status: number;
}

/**
 * Returns a function that reports events to the user's listener, which can be async. A failure of the listener never stops the
 * session. After the session was closed, only output and problems are reported.
 */
export function createEmitter(
  onEvent: ((event: DevEvent) => unknown) | undefined,
  closing: AbortSignal,
): (event: DevEvent) => void {
  return (event) => {
    if (closing.aborted && event.event !== "output" && event.event !== "problem") return;
    // An unhandled rejection would end the process.
    (async () => onEvent?.(event))().catch((reason: unknown) => {
      process.emitWarning(`The listener of the session event "${event.event}" failed: ${inspect(reason)}`);
    });
  };
}

/** Describes a request for a host that the session does not serve. `url`: the URL of the session. */
export function foreignHost(host: string, url: string): DevEvent {
  return {
    event: "problem",
    code: "CROSS_SITE_REFUSED",
    message: `A request for host ${JSON.stringify(host)} was rejected, because a page of another site may have sent the request. Use ${url}, or set --public-url for your own proxy.`,
  };
}

/** Describes the ports that were chosen because a default port is in use. */
export function takenPorts(
  { port, hubPort, isReal }: { port?: number; hubPort?: number; isReal: boolean },
  { proxy, hubUrl }: { proxy: { port: number; url: string }; hubUrl: string },
): DevEvent[] {
  const messages: string[] = [];
  if (port === undefined && proxy.port !== defaultPort) {
    messages.push(`Port ${defaultPort} is in use. The server is at ${proxy.url}.`);
  }
  if (!isReal && hubPort === undefined && !hubUrl.endsWith(`:${defaultHubPort}`)) {
    messages.push(
      `Port ${defaultHubPort} is in use, possibly by another local Hub. The local Hub of this session is at ${hubUrl}.`,
    );
  }
  return messages.map((message) => ({ event: "problem", code: "PORT_IN_USE", message }));
}

/** Describes why `hub-webhooks trigger` cannot find the session. */
export function sessionNotStored(error: unknown): DevEvent {
  return {
    event: "problem",
    code: "FOLDER_UNUSABLE",
    message: `This session could not be stored for hub-webhooks trigger (${messageOf(error)}). Pass the secret of the session with --secret-stdin, and the URL of the local Hub with --hub-url.`,
  };
}
