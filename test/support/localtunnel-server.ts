import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listenOnPort } from "./free-port.ts";

/** How a server answers a registration when it does not do so properly. */
export type Misbehaviour =
  | "refuse" // Nothing listens.
  | "silent" // Takes the request and never answers.
  | "forbidden" // 403
  | "broken" // 500
  | "redirect" // 302
  | "html" // 200 and a web page, as a captive portal does.
  | "garbage" // Not HTTP at all.
  | "no-url" // A tunnel without its URL.
  | "closed-port" // A tunnel at whose port nobody listens.
  | "deaf-port"; // A tunnel at whose port a firewall swallows everything.

/** The options of {@link startLocaltunnelServer}. */
export interface LocaltunnelServerOptions {
  /** The port of the server itself. Default: any free one. */
  port?: number;
  mode?: Misbehaviour;
  /** Fields of a registration's answer to replace, such as `{ url: "ftp://example.com" }`. */
  answer?: Record<string, unknown>;
}

/**
 * A localtunnel server on this machine. It has one public URL for each name: whoever wishes for a name gets the same URL
 * each time, also after a crash, unless the name is in use or was given away.
 */
export interface LocaltunnelServer extends AsyncDisposable {
  /** What to give as the option `host`. It stays the same when the server crashes and comes back. */
  readonly url: string;
  /** The paths of the registrations asked for, such as `/?new`. */
  readonly registrations: readonly string[];
  /** How many connections its clients hold open at this moment. */
  readonly connections: number;
  /** Changes how registrations are answered from now on; `undefined` for properly. */
  misbehave(mode: Exclude<Misbehaviour, "refuse" | "deaf-port"> | undefined): void;
  /** Ends every tunnel and hangs up on everybody, until {@link LocaltunnelServer.comeBack}. Its ports stay its own. */
  crash(): Promise<void>;
  /** Works again after a crash, with no tunnel open. */
  comeBack(): void;
  /** Gives all names used so far to somebody else: who wishes for one gets another name, so another URL. */
  giveNamesAway(): void;
  /** Forgets its tunnels while their connections stand, as after a restart behind a balancer: visitors get 404. */
  forget(): void;
  /** Takes visitors and leaves them waiting while the clients' connections stand, until the next registration. */
  stall(): void;
  /** Ends everything at once, for good. Safe to call twice. */
  close(): Promise<void>;
}

/** What must never reach a terminal: an escape code that clears the screen. */
const hostileText = "\u001b[2J<b>captive portal</b>";

/**
 * Starts a server that speaks localtunnel's protocol over real sockets: a registration by HTTP, a port where the
 * client keeps idle connections, and a public port of which every connection is piped through one of those.
 *
 * @example
 * ```ts
 * await using host = await startLocaltunnelServer();
 * await using tunnel = await openTunnel({ port, host: host.url });
 * await host.crash(); // "down"
 * host.giveNamesAway();
 * host.comeBack(); // "urlChanged", then "up"
 * ```
 */
export async function startLocaltunnelServer(options: LocaltunnelServerOptions = {}): Promise<LocaltunnelServer> {
  const { answer } = options;
  let { mode } = options;
  let crashed = false;
  const registrations: string[] = [];
  const doors = new Map<string, PublicDoor>();
  const givenAway = new Set<string>();
  const deafPort = mode === "deaf-port" ? await openDeafPort() : undefined;

  const http = createHttpServer((request, response) => {
    const path = request.url ?? "";
    registrations.push(path);
    if (mode === "silent") return;
    if (mode === "garbage") return void response.socket?.end(hostileText);
    if (mode === "redirect") return void response.writeHead(302, { location: "/?new" }).end();
    if (mode === "forbidden") return void response.writeHead(403).end(hostileText);
    if (mode === "broken") return void response.writeHead(500).end(hostileText);
    if (mode === "html") return void response.setHeader("content-type", "text/html").end(`<html>${hostileText}`);
    void register(path, response);
  });
  http.on("connection", (socket) => {
    if (crashed) socket.resetAndDestroy();
  });

  async function register(path: string, response: ServerResponse): Promise<void> {
    const name = freeName(path === "/?new" ? undefined : path.slice(1));
    const door = doors.get(name) ?? new PublicDoor();
    doors.set(name, door);
    const { clientPort, publicPort } = await door.open();
    if (mode === "closed-port") await door.shut();
    const registration = {
      id: name,
      url: mode === "no-url" ? undefined : `http://127.0.0.1:${publicPort}`,
      port: deafPort?.port ?? clientPort,
      max_conn_count: 4,
      ...answer,
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(registration));
  }

  function freeName(wished: string | undefined): string {
    const isFree = (name: string) => !givenAway.has(name) && !doors.get(name)?.isInUse;
    if (wished !== undefined && isFree(wished)) return wished;
    let number = 12;
    while (!isFree(`quiet-owl-${number}`)) number += 1;
    return `quiet-owl-${number}`;
  }

  const port = await listenOnPort(http, { port: options.port });
  async function close(): Promise<void> {
    http.closeAllConnections();
    await Promise.all([closeServer(http), deafPort?.close(), ...[...doors.values()].map((door) => door.close())]);
  }
  if (mode === "refuse") await close();

  return {
    url: `http://127.0.0.1:${port}`,
    registrations,
    get connections() {
      return [...doors.values()].reduce((sum, door) => sum + door.connections, 0);
    },
    misbehave(next) {
      mode = next;
    },
    async crash() {
      crashed = true;
      http.closeAllConnections();
      await Promise.all([...doors.values()].map((door) => door.shut()));
    },
    comeBack() {
      crashed = false;
    },
    giveNamesAway() {
      for (const name of doors.keys()) givenAway.add(name);
    },
    forget() {
      for (const door of doors.values()) door.behaviour = "forgotten";
    },
    stall() {
      for (const door of doors.values()) door.behaviour = "stalled";
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The public port of a name: what a visitor says there goes through an idle connection of the client, and back. */
class PublicDoor {
  behaviour: "open" | "shut" | "forgotten" | "stalled" = "shut";
  readonly #clients = new Set<Socket>();
  readonly #idleClients = new Set<Socket>();
  readonly #visitors = new Set<Socket>();
  readonly #waitingVisitors = new Set<Socket>();
  readonly #publicServer = createServer((visitor) => this.#receiveVisitor(visitor));
  #clientServer: Server | undefined;
  #publicPort: Promise<number> | undefined;

  get connections(): number {
    return this.#clients.size;
  }

  get isInUse(): boolean {
    return this.#clients.size > 0 && this.behaviour === "open";
  }

  async open(): Promise<{ clientPort: number; publicPort: number }> {
    await this.shut();
    this.#publicPort ??= listenOnPort(this.#publicServer);
    this.#clientServer = createServer((client) => this.#receive(client, this.#clients, this.#idleClients));
    const ports = { clientPort: await listenOnPort(this.#clientServer), publicPort: await this.#publicPort };
    this.behaviour = "open";
    return ports;
  }

  /** The public port stays open, so that no other program takes it, and hangs up on everybody. */
  async shut(): Promise<void> {
    this.behaviour = "shut";
    for (const socket of [...this.#clients, ...this.#visitors]) socket.destroy();
    if (this.#clientServer) await closeServer(this.#clientServer);
    this.#clientServer = undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.shut(), closeServer(this.#publicServer)]);
  }

  #receiveVisitor(visitor: Socket): void {
    if (this.behaviour === "shut") visitor.resetAndDestroy();
    else if (this.behaviour === "forgotten") refuseVisitor(visitor);
    else this.#receive(visitor, this.#visitors, this.#waitingVisitors);
  }

  #receive(socket: Socket, all: Set<Socket>, free: Set<Socket>): void {
    all.add(socket);
    free.add(socket);
    socket.on("error", () => {}); // A reset; "close" follows.
    socket.once("close", () => {
      all.delete(socket);
      free.delete(socket);
    });
    this.#pair();
  }

  #pair(): void {
    if (this.behaviour !== "open") return;
    const [client] = this.#idleClients;
    const [visitor] = this.#waitingVisitors;
    if (client === undefined || visitor === undefined) return;
    this.#idleClients.delete(client);
    this.#waitingVisitors.delete(visitor);
    visitor.pipe(client).pipe(visitor);
    visitor.once("close", () => client.destroy());
    client.once("close", () => visitor.end());
  }
}

/** Answers as localtunnel's server does where it knows no tunnel of the name. */
function refuseVisitor(visitor: Socket): void {
  visitor.on("error", () => {});
  visitor.once("data", () =>
    visitor.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 3\r\n\r\n404"),
  );
}

/** A port that swallows what is sent to it: its process never accepts, and its short queue is filled at once. */
async function openDeafPort(): Promise<{ port: number; close(): Promise<void> }> {
  const script = `
    const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      require("node:fs").writeSync(1, String(server.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const process = spawn(globalThis.process.execPath, ["--eval", script], { stdio: ["ignore", "pipe", "ignore"] });
  const [output] = await once(process.stdout, "data");
  const port = Number(output);
  const queue = Array.from({ length: 4 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => {}));
  await Promise.all(queue.slice(0, 2).map((socket) => once(socket, "connect")));
  return {
    port,
    async close() {
      for (const socket of queue) socket.destroy();
      if (process.kill("SIGKILL")) await once(process, "exit");
    },
  };
}

/** Resolves at once when the server is closed already. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
