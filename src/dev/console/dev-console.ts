import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import type { Context } from "hono";
import launchEditor from "launch-editor";
import * as z from "zod/mini";
import type { DeliverySummary } from "../../console/protocol/deliveries.ts";
import {
  consoleFeatures,
  type DevInfo,
  logQuery,
  openEditorRequest,
  type StreamMessage,
  serverFeatures,
} from "../../console/protocol/session.ts";
import { ConsoleAccess } from "../../console/server/access.ts";
import { type ConsoleResource, maxRequestBytes, readBody, readQuery } from "../../console/server/api.ts";
import { Console } from "../../console/server/console.ts";
import { ConsoleEvents } from "../../console/server/events.ts";
import { WebhookError } from "../../core/errors.ts";
import { directFetch } from "../../core/fetch.ts";
import { packageVersion } from "../../core/files.ts";
import { consolePath } from "../../core/urls.ts";
import { readHonoBody } from "../../http/body.ts";
import { readEvents } from "../../hub/transport/response-body.ts";
import { projectFile } from "../../server-file/load-failure.ts";
import type { OutputLine } from "../../server-file/server-process.ts";
import type { ConsoleHub } from "./hub-parts.ts";
import { LogBuffer } from "./log-buffer.ts";

export interface DevConsoleOptions {
  describe: () => DevInfo;
  /** Returns the current port of the server. Waits while the server is loading. @throws `SERVER_FILE_INVALID`. */
  serverPort: () => Promise<number>;
  /** The folder below which files are shown and opened. */
  folder: string;
  onProblem: (error: unknown) => void;
  onLinkUsed?: () => void;
}

/**
 * The console of a dev session. It stays open across reloads: deliveries, endpoints, and the inbox are read from the server's own
 * console, and logs, the reload state, and the local Hub from the session.
 */
export class DevConsole {
  /** The token with which the session reads the server's console. */
  readonly serverToken = crypto.randomUUID();
  /** The live messages, to which the local Hub adds its own. */
  readonly events = new ConsoleEvents();
  readonly #options: DevConsoleOptions;
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
      onLines: (lines) => this.events.publish({ type: "logs", lines }),
    });
  }

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

  addOutput(line: OutputLine): void {
    this.#logs.add(line);
  }

  stateChanged(): void {
    this.events.publish({ type: "dev", dev: this.#options.describe() });
  }

  /** Passes on the live messages of a server that has started. */
  relay(port: number): void {
    this.#relaying.abort();
    this.#relaying = new AbortController();
    void relayStream({
      port,
      token: this.serverToken,
      publish: (message) => this.events.publish(message),
      onConnected: () => this.events.changed(...serverFeatures),
      signal: AbortSignal.any([this.#closing.signal, this.#relaying.signal]),
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#logs.close();
    this.events.close();
  }

  #createConsole({ features, resources }: ConsoleHub): Console {
    const { describe, serverPort, onProblem } = this.#options;
    return new Console({
      place: "dev",
      features: () => [...serverFeatures, ...features, "logs", ...(describe().tunnel ? (["tunnel"] as const) : [])],
      version: packageVersion(),
      access: this.#access,
      resources: [forwardToServer({ serverPort, token: this.serverToken }), this.#sessionApi(), ...resources],
      events: this.events,
      onError: onProblem,
    });
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
        await openEditor(await readBody(context, openEditorRequest), folder);
        return context.json({});
      });
    };
  }
}

/**
 * Opens a file in the user's editor: the one that is running, or `LAUNCH_EDITOR`, `VISUAL`, or `EDITOR`.
 *
 * @throws `ARGUMENT_INVALID` for anything but a file below `folder`, and if no editor was found.
 */
async function openEditor(
  { file: path, line = 1, column = 1 }: z.infer<typeof openEditorRequest>,
  folder: string,
): Promise<void> {
  const file = projectFile(path, folder);
  if (file === undefined) {
    const message = "The console only opens files of the project. Open the file in your editor.";
    throw new WebhookError(message, { code: "ARGUMENT_INVALID", status: 400 });
  }
  const problem = await new Promise<string | null | undefined>((resolve) => {
    launchEditor(`${file}:${line}:${column}`, undefined, (_file, message) => resolve(message ?? "unknown"));
    // The callback is only called after a failure.
    setTimeout(() => resolve(null), 500);
  });
  if (problem !== null) {
    const message =
      "No editor was found. Set EDITOR to the command of your editor, such as EDITOR=code, and start the session again.";
    throw new WebhookError(message, { code: "ARGUMENT_INVALID", status: 404 });
  }
}

const deliveryRow = z.custom<DeliverySummary>(
  (value) => typeof value === "object" && value !== null && "id" in value && "endpoint" in value && "status" in value,
);
/** The messages of a receiver. */
const relayed = z.discriminatedUnion("type", [
  z.object({ type: z.literal("deliveries"), deliveries: z.array(deliveryRow) }),
  z.object({ type: z.literal("changed"), features: z.array(z.enum(consoleFeatures)) }),
]);

export interface RelayOptions {
  port: number;
  token: string;
  publish: (message: StreamMessage) => void;
  /** Called when the stream is open, because messages may have been missed before. */
  onConnected: () => void;
  signal: AbortSignal;
  /** The pause before a lost stream is opened again. Default `1000`. */
  retryMs?: number;
}

/** A stream without data for this time is lost, because the server sends a heartbeat every 15 s. In milliseconds. */
const maxSilenceMs = 45_000;
/** The maximum length of a message, in characters. Many rows with long errors can have more than the default of 1,000,000. */
const maxMessageLength = 4_194_304;

/** Passes on the live messages of the server's console until `signal` aborts, and reconnects if the stream ends. Never rejects. */
export async function relayStream(options: RelayOptions): Promise<void> {
  const { signal, retryMs = 1_000 } = options;
  while (!signal.aborted) {
    try {
      await readMessages(options);
    } catch {
      // The server may have stopped. The session then ends this relay, and starts another when the next process serves.
    }
    await wait(retryMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function readMessages({ port, token, publish, onConnected, signal }: RelayOptions): Promise<void> {
  const response = await directFetch(serverApiUrl(port, "/stream"), {
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  if (!response.ok || !response.body) return response.body?.cancel();
  onConnected();
  for await (const event of readEvents(response, { signal, timeoutMs: maxSilenceMs, maxLineChars: maxMessageLength })) {
    const message = relayed.safeParse(event).data;
    if (message) publish(message);
  }
}

/** `token`: the console token of the server. */
type ForwardOptions = Pick<DevConsoleOptions, "serverPort"> & { token: string };

const timeoutMs = 60_000;

/** Forwards the routes of deliveries, endpoints, the inbox, and the checks to the API of the server's own console. */
function forwardToServer(options: ForwardOptions): ConsoleResource {
  return (app) => {
    for (const pattern of [...serverFeatures.flatMap((name) => [`/${name}`, `/${name}/*`]), "/checks"]) {
      app.all(pattern, (context) => forward(context, options));
    }
  };
}

function serverApiUrl(port: number, path: string): string {
  return `http://127.0.0.1:${port}${consolePath}/api${path}`;
}

async function forward(context: Context, { serverPort, token }: ForwardOptions): Promise<Response> {
  const port = await serverPort();
  const { method, url, path } = context.req;
  // The path starts with the prefix of the API.
  const apiPath = path.slice(path.indexOf("/api/") + "/api".length);
  const body = method === "GET" || method === "HEAD" ? undefined : await readHonoBody(context, maxRequestBytes);
  try {
    const response = await directFetch(`${serverApiUrl(port, apiPath)}${new URL(url).search}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 401) throw new WebhookError(refusedMessage, { code: "NO_RESPONSE", status: 502 });
    return new Response(await response.text(), {
      status: response.status,
      headers: { "Content-Type": response.headers.get("content-type") ?? "application/json" },
    });
  } catch (cause) {
    if (WebhookError.isInstance(cause)) throw cause;
    const message = "The server stopped before it answered, probably because it is reloading. Try again.";
    throw new WebhookError(message, { code: "NO_RESPONSE", status: 503, cause });
  }
}

const refusedMessage =
  "The server did not accept the session's console. Update hub-webhooks in the project, and check that middleware of the app does not require another sign-in for /_console.";
