import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { messageOf } from "../../core/describe.ts";
import { hopByHopHeaders, isLoopbackHost } from "../../core/urls.ts";
import { openSocket } from "../../http-server/server.ts";
import type { SpaceRuntime } from "../../hub/spaces.ts";
import type { Commit } from "../git/commit-store.ts";
import type { ContentStore } from "../git/content-store.ts";
import type { Changes } from "../jobs/event-stream.ts";
import { createMask } from "../jobs/run-command.ts";
import { buildImage, Container, type Image, NoAppFile } from "./container.ts";

const maxLines = 10_000;

export interface LogLine {
  timestamp: number;
  data: string;
}

/** The lines of a log. The first line has the number 1. */
class SpaceLog {
  readonly #lines: LogLine[] = [];
  #deleted = 0;

  /** The number of lines, including deleted lines. */
  get length(): number {
    return this.#deleted + this.#lines.length;
  }

  add(line: LogLine): void {
    this.#lines.push(line);
    if (this.#lines.length <= maxLines) return;
    // Not `splice`, which copies all lines: an app that prints without end would block the local Hub.
    this.#lines.shift();
    this.#deleted += 1;
  }

  /** Returns the lines after the line with the number `after`. */
  after(after: number): readonly LogLine[] {
    return this.#lines.slice(Math.max(0, after - this.#deleted));
  }
}

/** What a Space runs: the head of its repository with its settings, read at each start. */
export interface SpaceVersion {
  commit: Commit;
  content: ContentStore;
  /** The variables and secrets, by name. */
  environment: Readonly<Record<string, string>>;
  /** The values that logs must not contain. */
  secrets: readonly string[];
  modulesFolder: string | undefined;
}

interface SpaceOptions {
  id: string;
  /** Returns what to start, or the reason for which nothing can start. */
  version: () => SpaceVersion | { stage: SpaceRuntime["stage"]; message: string };
  /** Whether a request may reach the Space. Private Spaces hide from others. */
  isAllowed: (request: IncomingMessage) => boolean;
  /** The milliseconds without a request after which the Space sleeps, or `undefined` for never. */
  sleepAfterMs: () => number | undefined;
  /** The port of the address in an earlier run of the local Hub. */
  port: number | undefined;
  onPort: (port: number) => void;
  changes: Changes;
  now: () => number;
}

/** A start in progress. It gives up when it is no longer the latest one. */
interface Start {
  container?: Container;
}

/**
 * A Space that runs as a local process: its states, its logs, and the listener that its address leads to. A request wakes a Space that
 * sleeps, and waits until it runs.
 *
 * A new version starts beside the old one, which serves until the new one listens, as on the Hub. A restart stops the old one first.
 */
export class Space {
  readonly build = new SpaceLog();
  readonly run = new SpaceLog();
  readonly #options: SpaceOptions;
  #stage: SpaceRuntime["stage"] = "STOPPED";
  #message: string | undefined;
  #sha: string | undefined;
  #server: Server | undefined;
  #listening: Promise<void> | undefined;
  #port: number | undefined;
  #serving: Container | undefined;
  #start: Start | undefined;
  #startDone: Promise<void> = Promise.resolve();
  readonly #stops = new Set<Promise<void>>();
  #openRequests = 0;
  #sleepTimer: NodeJS.Timeout | undefined;

  constructor(options: SpaceOptions) {
    this.#options = options;
  }

  /** The commit is the one that runs or starts. The address has a port once it listens. */
  get state() {
    return { stage: this.#stage, message: this.#message, sha: this.#sha, port: this.#port };
  }

  /** Makes the address of an earlier run work. The next request wakes the Space. */
  resume(): void {
    this.#setStage("SLEEPING");
    this.#startDone = this.#listen().catch((error: unknown) => this.#setStage("RUNTIME_ERROR", messageOf(error)));
  }

  update(): void {
    this.#begin();
  }

  /** Stops what runs, whose disk is lost, and starts the current version. */
  restart(): void {
    this.#stopServing();
    this.#begin();
  }

  sleep(): void {
    this.#halt("SLEEPING");
  }

  pause(): void {
    this.#halt("PAUSED");
  }

  /** Resolves when the latest start has succeeded or failed. */
  async settled(): Promise<void> {
    let seen: Promise<void>;
    do {
      seen = this.#startDone;
      await seen;
    } while (seen !== this.#startDone);
  }

  async close(): Promise<void> {
    this.#halt("STOPPED");
    await this.settled();
    this.#server?.close();
    this.#server?.closeAllConnections();
    await Promise.all(this.#stops);
  }

  /** Makes the address work, if possible the one of an earlier run, because webhooks contain it. */
  #listen(): Promise<void> {
    this.#listening ??= this.#openServer().catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    return this.#listening;
  }

  async #openServer(): Promise<void> {
    const server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
    server.on("clientError", (_error, socket) => socket.destroy());
    this.#server = server;
    const { port: earlier, onPort } = this.#options;
    const open = (port: number) => openSocket(server, { host: "127.0.0.1", port });
    this.#port = await (earlier === undefined ? open(0) : open(earlier).catch(() => open(0)));
    onPort(this.#port);
  }

  #halt(stage: SpaceRuntime["stage"], message?: string): void {
    this.#giveUpStart();
    this.#stopServing();
    this.#setStage(stage, message);
  }

  #giveUpStart(): void {
    const start = this.#start;
    this.#start = undefined;
    if (start?.container) this.#stop(start.container);
  }

  #stopServing(): void {
    clearTimeout(this.#sleepTimer);
    const container = this.#serving;
    this.#serving = undefined;
    if (container) this.#stop(container);
  }

  #stop(container: Container, { drains = false }: { drains?: boolean } = {}): void {
    const stopped = container.stop({ drains }).finally(() => this.#stops.delete(stopped));
    this.#stops.add(stopped);
  }

  #setStage(stage: SpaceRuntime["stage"], message?: string): void {
    this.#stage = stage;
    this.#message = message;
    this.#options.changes.notify(this.#options.id);
  }

  #setStartStage({ container }: Start): void {
    this.#setStage(`${this.#serving ? "RUNNING_" : ""}${container ? "APP_STARTING" : "BUILDING"}`);
  }

  #begin(): void {
    this.#giveUpStart();
    const start: Start = {};
    this.#start = start;
    this.#setStartStage(start);
    this.#startDone = this.#run(start).catch((error: unknown) => {
      if (this.#start === start)
        this.#halt(error instanceof NoAppFile ? "NO_APP_FILE" : "BUILD_ERROR", messageOf(error));
    });
  }

  async #run(start: Start): Promise<void> {
    const { version: read, now } = this.#options;
    await this.#listen();
    if (this.#start !== start) return;
    const version = read();
    if ("stage" in version) return this.#halt(version.stage, version.message);
    const { commit, content, environment, secrets, modulesFolder } = version;
    const mask = createMask(secrets);
    const log = (target: SpaceLog) => (line: string) => {
      target.add({ timestamp: now(), data: mask(line) });
      this.#options.changes.notify(this.#options.id);
    };
    const at = new Date(now()).toISOString().replace("T", " ").slice(0, 19);
    log(this.build)(`===== Build Queued at ${at} / Commit SHA: ${commit.oid.slice(0, 7)} =====`);
    let image: Image;
    try {
      image = await buildImage(content, commit, { modulesFolder });
    } catch (error) {
      log(this.build)(messageOf(error));
      throw error;
    }
    // Everything after an `await` can be out of date.
    if (this.#start !== start) return rm(image.folder, { recursive: true, force: true });
    log(this.build)(`Copied the files. Starts: ${image.start.command.join(" ")}`);
    const container = await Container.start({ image, environment, onOutput: log(this.run) });
    if (this.#start !== start) return this.#stop(container);
    start.container = container;
    this.#sha = commit.oid;
    log(this.run)(`===== Application Startup at ${at} =====`);
    this.#setStartStage(start);
    const reason = await container.ready();
    if (this.#start !== start) return;
    if (reason !== undefined) return this.#halt("RUNTIME_ERROR", reason);
    this.#start = undefined;
    const replaced = this.#serving;
    this.#serving = container;
    if (replaced) this.#stop(replaced, { drains: true });
    this.#setStage("RUNNING");
    this.#awaitSleep();
    void container.ended.then((why) => {
      if (this.#serving !== container) return;
      this.#serving = undefined;
      // A newer version that starts beside it still replaces it.
      if (this.#start) this.#setStartStage(this.#start);
      else this.#halt("RUNTIME_ERROR", why ?? "exit code 0");
    });
  }

  #awaitSleep(): void {
    clearTimeout(this.#sleepTimer);
    const after = this.#options.sleepAfterMs();
    if (after === undefined || this.#openRequests > 0 || !this.#serving) return;
    this.#sleepTimer = setTimeout(() => this.sleep(), after).unref();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // A website whose name resolves to this machine must not reach the app (DNS rebinding).
    const host = URL.parse(`http://${incoming.headers.host}`)?.hostname ?? "";
    if (!isLoopbackHost(host) || !this.#options.isAllowed(incoming)) return refuse(outgoing, 404, "Not found");
    this.#openRequests += 1;
    clearTimeout(this.#sleepTimer);
    outgoing.once("close", () => {
      this.#openRequests -= 1;
      this.#awaitSleep();
    });
    if (this.#stage === "SLEEPING") this.#begin();
    if (!this.#serving) await this.settled();
    const container = this.#serving;
    if (outgoing.destroyed) return;
    if (!container) return refuse(outgoing, 503, `The Space does not run (${this.#stage}).`);
    outgoing.once("close", container.addRequest());
    forward(incoming, outgoing, container.port);
  }
}

function refuse(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${message}\n`);
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method, url } = incoming;
  const headers = { ...incoming.headers };
  // The app would accept a WebSocket, which this server does not forward.
  for (const name of hopByHopHeaders(headers.connection)) if (name !== "transfer-encoding") delete headers[name];
  const passed = { ...headers, "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "http" };
  const onward = request({ host: "127.0.0.1", port, method, path: url, headers: passed, agent: false }, (answer) => {
    answer.on("error", () => outgoing.destroy());
    try {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    } catch {
      // Node reads a status such as 99, but does not write it.
      answer.destroy();
      return refuse(outgoing, 502, "The Space sent an invalid response.");
    }
    answer.pipe(outgoing);
  });
  onward.on("error", () => {
    if (outgoing.headersSent) outgoing.destroy();
    else refuse(outgoing, 502, "The Space did not respond.");
  });
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
}
