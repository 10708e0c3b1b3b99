import { inspect } from "node:util";
import { messageOf } from "../core/describe.ts";
import { defaultHubPort, defaultPort } from "../core/urls.ts";
import type { DevEvent } from "./dev-event.ts";
import type { DevConfig } from "./dev-options.ts";

export interface SessionEventsOptions {
  /** The user's listener. It can be async. */
  onEvent: ((event: DevEvent) => unknown) | undefined;
  /** Whether the session is closed. Then, only output and problems are reported. */
  isClosed: () => boolean;
}

/** Reports the events of a session to the user's listener. A failure of the listener never stops the session. */
export class SessionEvents {
  readonly #options: SessionEventsOptions;

  constructor(options: SessionEventsOptions) {
    this.#options = options;
  }

  emit(event: DevEvent): void {
    const { onEvent, isClosed } = this.#options;
    if (isClosed() && event.event !== "output" && event.event !== "problem") return;
    // An unhandled rejection would end the process.
    (async () => onEvent?.(event))().catch((reason: unknown) => {
      process.emitWarning(`The listener of the session event "${event.event}" failed: ${inspect(reason)}`);
    });
  }

  emitProblem({ code, message }: SessionProblem): void {
    this.emit({ event: "problem", code, message });
  }
}

/** A problem that a session reports as an event. */
export interface SessionProblem {
  code: string;
  message: string;
}

/** Describes a request for a host that the session does not serve. `url`: the URL of the session. */
export function foreignHost(host: string, url: string): SessionProblem {
  return {
    code: "CROSS_SITE_REFUSED",
    message: `A request for host ${JSON.stringify(host)} was rejected, because a page of another site may have sent the request. Use ${url}, or set --public-url for your own proxy.`,
  };
}

/** Describes the ports that were chosen because a default port is in use. */
export function takenPorts(
  { port, hubPort, isReal }: DevConfig,
  { proxy, hubUrl }: { proxy: { port: number; url: string }; hubUrl: string },
): SessionProblem[] {
  const messages: string[] = [];
  if (port === undefined && proxy.port !== defaultPort) {
    messages.push(`Port ${defaultPort} is in use. The server is at ${proxy.url}.`);
  }
  if (!isReal && hubPort === undefined && !hubUrl.endsWith(`:${defaultHubPort}`)) {
    messages.push(
      `Port ${defaultHubPort} is in use, possibly by another local Hub. The local Hub of this session is at ${hubUrl}.`,
    );
  }
  return messages.map((message) => ({ code: "PORT_IN_USE", message }));
}

/** Describes why `hub-webhooks trigger` cannot find the session. */
export function sessionNotStored(error: unknown): SessionProblem {
  return {
    code: "FOLDER_UNUSABLE",
    message: `This session could not be stored for hub-webhooks trigger (${messageOf(error)}). Pass the secret of the session with --secret-stdin, and the URL of the local Hub with --hub-url.`,
  };
}
