import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listenOnPort } from "./free-port.ts";

/** Ways in which a server fails to register a tunnel. */
export type ServerFault =
  | "refuse" // Nothing listens.
  | "silent" // Accepts the request and never responds.
  | "forbidden" // 403
  | "broken" // 500
  | "redirect" // 302
  | "html" // 200 with a web page, like a captive portal.
  | "garbage" // Not HTTP.
  | "no-url" // A tunnel without a URL.
  | "closed-port" // A tunnel with a port on which no process listens.
  | "deaf-port"; // A tunnel with a port behind a firewall that drops all packets.

/** Options of {@link startLocaltunnelServer}. */
export interface LocaltunnelServerOptions {
  /** The server's own port. Default: a free port. */
  port?: number;
  mode?: ServerFault;
  /** Fields that replace those of the registration response, such as `{ url: "ftp://example.com" }`. */
  answer?: Record<string, unknown>;
}

/**
 * A localtunnel server. Each name has one public URL, which stays the same after a crash, unless the name is in use or
 * was given away.
 */
export interface LocaltunnelServer extends AsyncDisposable {
  /** The value of the `host` option. It stays the same after a crash. */
  readonly url: string;
  /** Paths of the registration requests, such as `/?new`. */
  readonly registrations: readonly string[];
  /** Number of open connections from tunnel clients. */
  readonly connections: number;
  /** Sets how registrations fail; `undefined` restores normal responses. */
  misbehave(mode: Exclude<ServerFault, "refuse" | "deaf-port"> | undefined): void;
  /** Closes all tunnels and refuses connections until {@link LocaltunnelServer.comeBack}. Keeps the ports reserved. */
  crash(): Promise<void>;
  /** Accepts connections again after a crash, without open tunnels. */
  comeBack(): void;
  /** Reserves all names used so far for another client, so that a request for one gets another name and URL. */
  giveNamesAway(): void;
  /**
   * Drops its tunnels while the client connections stay open, like a restart behind a load balancer. Visitors get 404.
   */
  forget(): void;
  /** Accepts visitors without forwarding them, while the client connections stay open, until the next registration. */
  stall(): void;
  /** Stops the server permanently. Can be called more than once. */
  close(): Promise<void>;
}

/** An escape sequence that clears the screen. It must never reach a terminal. */
const hostileText = "\u001b[2J<b>captive portal</b>";

/**
 * Starts a server that implements localtunnel's protocol over real sockets: registration over HTTP, a port for the
 * client's idle connections, and a public port whose connections are piped through them.
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
  const listeners = new Map<string, PublicListener>();
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
    const listener = listeners.get(name) ?? new PublicListener();
    listeners.set(name, listener);
    const { clientPort, publicPort } = await listener.open();
    if (mode === "closed-port") await listener.shut();
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
    const isFree = (name: string) => !givenAway.has(name) && !listeners.get(name)?.isInUse;
    if (wished !== undefined && isFree(wished)) return wished;
    let number = 12;
    while (!isFree(`quiet-owl-${number}`)) number += 1;
    return `quiet-owl-${number}`;
  }

  const port = await listenOnPort(http, { port: options.port });
  async function close(): Promise<void> {
    http.closeAllConnections();
    await Promise.all([
      closeServer(http),
      deafPort?.close(),
      ...[...listeners.values()].map((listener) => listener.close()),
    ]);
  }
  if (mode === "refuse") await close();

  return {
    url: `http://127.0.0.1:${port}`,
    registrations,
    get connections() {
      return [...listeners.values()].reduce((sum, listener) => sum + listener.connections, 0);
    },
    misbehave(next) {
      mode = next;
    },
    async crash() {
      crashed = true;
      http.closeAllConnections();
      await Promise.all([...listeners.values()].map((listener) => listener.shut()));
    },
    comeBack() {
      crashed = false;
    },
    giveNamesAway() {
      for (const name of listeners.keys()) givenAway.add(name);
    },
    forget() {
      for (const listener of listeners.values()) listener.behavior = "forgotten";
    },
    stall() {
      for (const listener of listeners.values()) listener.behavior = "stalled";
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Opens the public port of a name. Each visitor is piped through one of the client's idle connections. */
class PublicListener {
  behavior: "open" | "shut" | "forgotten" | "stalled" = "shut";
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
    return this.#clients.size > 0 && this.behavior === "open";
  }

  async open(): Promise<{ clientPort: number; publicPort: number }> {
    await this.shut();
    this.#publicPort ??= listenOnPort(this.#publicServer);
    this.#clientServer = createServer((client) => this.#receive(client, this.#clients, this.#idleClients));
    const ports = { clientPort: await listenOnPort(this.#clientServer), publicPort: await this.#publicPort };
    this.behavior = "open";
    return ports;
  }

  /** Keeps the public port reserved and closes each connection immediately. */
  async shut(): Promise<void> {
    this.behavior = "shut";
    for (const socket of [...this.#clients, ...this.#visitors]) socket.destroy();
    if (this.#clientServer) await closeServer(this.#clientServer);
    this.#clientServer = undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.shut(), closeServer(this.#publicServer)]);
  }

  #receiveVisitor(visitor: Socket): void {
    if (this.behavior === "shut") visitor.resetAndDestroy();
    else if (this.behavior === "forgotten") refuseVisitor(visitor);
    else this.#receive(visitor, this.#visitors, this.#waitingVisitors);
  }

  #receive(socket: Socket, all: Set<Socket>, free: Set<Socket>): void {
    all.add(socket);
    free.add(socket);
    socket.on("error", () => {}); // Connection reset; "close" follows.
    socket.once("close", () => {
      all.delete(socket);
      free.delete(socket);
    });
    this.#pair();
  }

  #pair(): void {
    if (this.behavior !== "open") return;
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

/** Responds like localtunnel's server to an unknown tunnel name. */
function refuseVisitor(visitor: Socket): void {
  visitor.on("error", () => {});
  visitor.once("data", () =>
    visitor.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 3\r\n\r\n404"),
  );
}

/** Returns a port that never accepts connections: its process is stopped and its short accept queue is full. */
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

/** Resolves immediately if the server is already closed. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
