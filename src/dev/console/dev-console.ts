import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type DevInfo, logQuery, openEditorRequest } from "../../console/protocol/dev.ts";
import type { ConsoleFeature } from "../../console/protocol/session.ts";
import { ConsoleAccess } from "../../console/server/access.ts";
import { Console, type ConsoleResource } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/console-events.ts";
import { readBody, readQuery } from "../../console/server/requests.ts";
import { packageVersion } from "../../core/files.ts";
import { consolePath } from "../../core/urls.ts";
import type { OutputLine } from "../../server-file/server-process.ts";
import { forwardToServer } from "./forward.ts";
import type { ConsoleHub } from "./hub-parts.ts";
import { LogBuffer } from "./log-buffer.ts";
import { openEditor } from "./open-editor.ts";
import { relayStream } from "./relay-stream.ts";

export interface DevConsoleOptions {
  /** Returns the current state of the session. */
  describe: () => DevInfo;
  /** Returns the current port of the server. @throws `SERVER_FILE_INVALID`. */
  serverPort: () => Promise<number>;
  /** The folder below which files are shown and opened. */
  folder: string;
  onProblem: (error: unknown) => void;
  /** Called after a sign-in link was used. */
  onLinkUsed?: () => void;
}

/**
 * The console of a dev session. It stays open across reloads: deliveries, endpoints, and the inbox are read from the server's own
 * console, and logs, the reload state, and the local Hub from the session.
 */
export class DevConsole {
  /** The token with which the session reads the server's console. */
  readonly serverToken = crypto.randomUUID();
  readonly #options: DevConsoleOptions;
  readonly #events = new ConsoleEvents();
  readonly #access: ConsoleAccess;
  readonly #logs: LogBuffer;
  readonly #closing = new AbortController();
  /** Ends the relay of the last server process. */
  #relaying = new AbortController();
  /** Resolves when the Hub of the session is open, because the routes of a console cannot change later. */
  readonly #opened = Promise.withResolvers<Console>();

  constructor(options: DevConsoleOptions) {
    this.#options = options;
    this.#access = new ConsoleAccess({ token: undefined, now: Date.now, onLinkUsed: options.onLinkUsed });
    this.#logs = new LogBuffer({
      now: Date.now,
      onLines: (lines) => this.#events.publish({ type: "logs", lines }),
    });
  }

  /** The live messages, to which the local Hub adds its own. */
  get events(): ConsoleEvents {
    return this.#events;
  }

  /** Answers a request of Node's HTTP server. */
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> = getRequestListener(
    async (request, bindings) => (await this.#opened.promise).fetch(request, bindings),
    // The adapter must not replace the `Request` and `Response` of this process.
    { overrideGlobalObjects: false },
  );

  /** Creates a one-time sign-in link. `baseUrl`: the URL of the session, without a trailing slash. */
  createSignInLink(baseUrl: string): string {
    return this.#access.links.create(`${baseUrl}${consolePath}/`);
  }

  /** Starts to answer requests, which wait until then. */
  open(hub: ConsoleHub): void {
    this.#opened.resolve(this.#createConsole(hub));
  }

  /** Adds a line of the server's output. */
  addOutput(line: OutputLine): void {
    this.#logs.add(line);
  }

  /** Reports that the state of the session has changed. */
  stateChanged(): void {
    this.#events.publish({ type: "dev", dev: this.#options.describe() });
  }

  /** Passes on the live messages of a server that has started. */
  relay(port: number): void {
    this.#relaying.abort();
    this.#relaying = new AbortController();
    void relayStream({
      port,
      token: this.serverToken,
      publish: (message) => this.#events.publish(message),
      onConnected: () => this.#events.changed("deliveries", "endpoints", "inbox"),
      signal: AbortSignal.any([this.#closing.signal, this.#relaying.signal]),
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#logs.close();
    this.#events.close();
  }

  #createConsole({ features, resources }: ConsoleHub): Console {
    const { serverPort, onProblem } = this.#options;
    return new Console({
      place: "dev",
      features: () => ["deliveries", "endpoints", "inbox", ...features, "logs", ...this.#tunnelFeature()],
      version: packageVersion(),
      access: this.#access,
      resources: [forwardToServer({ serverPort, token: this.serverToken }), this.#sessionApi(), ...resources],
      events: this.#events,
      onError: onProblem,
    });
  }

  #tunnelFeature(): readonly ConsoleFeature[] {
    return this.#options.describe().tunnel ? ["tunnel"] : [];
  }

  #sessionApi(): ConsoleResource {
    const { describe, folder } = this.#options;
    return (app) => {
      app.get("/dev", (context) => context.json(describe()));
      app.get("/logs", (context) => {
        const { after = 0 } = readQuery(context, logQuery);
        return context.json({ lines: this.#logs.after(after) });
      });
      app.post("/dev/open-editor", async (context) => {
        await openEditor(await readBody(context, openEditorRequest), { folder });
        return context.json({});
      });
    };
  }
}
