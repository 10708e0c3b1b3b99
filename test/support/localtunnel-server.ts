import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";

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
  mode?: Misbehaviour;
  /** Fields of a registration's answer to replace, such as `{ url: "ftp://example.com" }`. */
  answer?: Record<string, unknown>;
}

/** A localtunnel server on this machine. */
export interface LocaltunnelServer extends AsyncDisposable {
  /** What to give as the option `host`. */
  readonly url: string;
  /** The paths of the registrations asked for, such as `/?new`. */
  readonly registrations: readonly string[];
  /** How many connections its clients hold open at this moment. */
  readonly connections: number;
  /** Ends everything at once, as a crash does. Safe to call twice. */
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
 * ```
 */
export async function startLocaltunnelServer(options: LocaltunnelServerOptions = {}): Promise<LocaltunnelServer> {
  const { mode, answer } = options;
  const registrations: string[] = [];
  const tunnels: LoopbackTunnel[] = [];
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

  async function register(path: string, response: ServerResponse): Promise<void> {
    const tunnel = new LoopbackTunnel();
    tunnels.push(tunnel);
    const { clientPort, publicPort } = await tunnel.listen();
    if (mode === "closed-port") await tunnel.close();
    const registration = {
      id: path === "/?new" ? "quiet-owl-12" : path.slice(1),
      url: mode === "no-url" ? undefined : `http://127.0.0.1:${publicPort}`,
      port: deafPort?.port ?? clientPort,
      max_conn_count: 4,
      ...answer,
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(registration));
  }

  const port = await listen(http);
  async function close(): Promise<void> {
    http.closeAllConnections();
    await Promise.all([closeServer(http), deafPort?.close(), ...tunnels.map((tunnel) => tunnel.close())]);
  }
  if (mode === "refuse") await close();

  return {
    url: `http://127.0.0.1:${port}`,
    registrations,
    get connections() {
      return tunnels.reduce((sum, tunnel) => sum + tunnel.connections, 0);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** One tunnel: what a visitor says at its public port goes through an idle connection of the client, and back. */
class LoopbackTunnel {
  readonly #clients = new Set<Socket>();
  readonly #idleClients = new Set<Socket>();
  readonly #visitors = new Set<Socket>();
  readonly #waitingVisitors = new Set<Socket>();
  readonly #clientServer = createServer((client) => this.#receive(client, this.#clients, this.#idleClients));
  readonly #publicServer = createServer((visitor) => this.#receive(visitor, this.#visitors, this.#waitingVisitors));

  get connections(): number {
    return this.#clients.size;
  }

  async listen(): Promise<{ clientPort: number; publicPort: number }> {
    return { clientPort: await listen(this.#clientServer), publicPort: await listen(this.#publicServer) };
  }

  async close(): Promise<void> {
    for (const socket of [...this.#clients, ...this.#visitors]) socket.destroy();
    await Promise.all([closeServer(this.#clientServer), closeServer(this.#publicServer)]);
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

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  return address.port;
}

/** Resolves at once when the server is closed already. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
