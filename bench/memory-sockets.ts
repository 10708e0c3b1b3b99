/*
 * Loaded with `--import` into a server to measure. Sends requests to its `http.Server` through sockets in memory, from the same
 * thread: no kernel and no second process take part, so the CPU time of a window varies little.
 */
import { Server, Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import { body, hubHeaders } from "./delivery.ts";
import { RequestBuffer } from "./request-buffer.ts";

/** A message to this process: how many windows to send. */
export interface MemoryLoad {
  windows: number;
}

/** The answer to a {@link MemoryLoad}. */
export interface MemoryResult {
  /** Microseconds of CPU time per request, of each window. */
  cpuPerRequest: readonly number[];
  /** Deliveries that ran meanwhile, as a share of the requests. */
  workedShare: number;
}

const connections = 64;
/**
 * Requests in one window: one for each connection, so that the inbox commits groups of the same size. On a busy machine, only such
 * short windows stay undisturbed.
 */
const windowRequests = connections;

/** The deliveries that a subject has run. If it sets `isCounted`, a window ends when all of its deliveries have run. */
export const work = {
  isCounted: false,
  done: 0,
  add(): void {
    work.done += 1;
    client?.onProgress();
  },
};

let server: Server | undefined;
const listen = Server.prototype.listen;
Server.prototype.listen = function (this: Server, ...given: unknown[]): Server {
  server = this;
  return Reflect.apply(listen, this, given);
};

/** A socket without a handle. The server reads what `push` adds. What the server writes goes to `onAnswer`. */
class MemorySocket extends Socket {
  readonly #reader = new AnswerReader();
  readonly #request: RequestBuffer;
  readonly #onAnswer: (status: number) => void;

  constructor(number: number, onAnswer: (status: number) => void) {
    super();
    Object.defineProperty(this, "remoteAddress", { value: "127.0.0.1" });
    this.#onAnswer = onAnswer;
    this.#request = new RequestBuffer(
      { port: 80, headers: hubHeaders, body, idHeader: "Webhook-Id", endpoints: 0 },
      number,
    );
  }

  send(): void {
    // A copy, because the server may keep the bytes while it reads the next request.
    this.push(Buffer.from(this.#request.renew()));
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: () => void): void {
    const status = this.#reader.read(typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk);
    callback();
    if (status > 0) this.#onAnswer(status);
  }

  override _writev = undefined;

  override _final(callback: () => void): void {
    callback();
  }
}

/** Sends requests on all connections. A connection sends its next request in the turn of the event loop after its response. */
class MemoryClient {
  readonly #idle: MemorySocket[] = [];
  #unanswered = 0;
  #sent = 0;
  #settle: PromiseWithResolvers<void> | undefined;

  constructor(target: Server) {
    for (let number = 0; number < connections; number += 1) this.#connect(target, number);
  }

  #connect(target: Server, number: number): void {
    const socket: MemorySocket = new MemorySocket(number, (status) => this.#onAnswer(socket, status));
    socket.on("close", () => {
      const index = this.#idle.indexOf(socket);
      if (index === -1) return this.#settle?.reject(new Error("The server closed a connection before its response."));
      // The server closes a connection after a thousand requests, or if the machine is so busy that it was idle for too long.
      this.#idle.splice(index, 1);
      this.#connect(target, number);
    });
    target.emit("connection", socket);
    this.#idle.push(socket);
  }

  /** Sends a request on each connection. Resolves when all are answered and, if the subject counts its work, have run. */
  window(): Promise<void> {
    this.#settle = Promise.withResolvers();
    // Like a server's requests, not from within the last response.
    setImmediate(() => {
      for (const socket of this.#idle.splice(0, windowRequests)) {
        this.#unanswered += 1;
        this.#sent += 1;
        socket.send();
      }
    });
    return this.#settle.promise;
  }

  onProgress(): void {
    if (this.#unanswered === 0 && (!work.isCounted || work.done >= this.#sent)) this.#settle?.resolve();
  }

  #onAnswer(socket: MemorySocket, status: number): void {
    if (status < 200 || status > 299) this.#settle?.reject(new Error(`The server answered ${status}.`));
    this.#idle.push(socket);
    this.#unanswered -= 1;
    this.onProgress();
  }
}

let client: MemoryClient | undefined;

async function measure({ windows }: MemoryLoad): Promise<MemoryResult> {
  if (!server) throw new Error("No server is listening.");
  client ??= new MemoryClient(server);
  const cpuPerRequest: number[] = [];
  const doneBefore = work.done;
  for (let window = 0; window < windows; window += 1) {
    const start = process.cpuUsage();
    await client.window();
    const { user, system } = process.cpuUsage(start);
    cpuPerRequest.push((user + system) / windowRequests);
  }
  return { cpuPerRequest, workedShare: (work.done - doneBefore) / (windowRequests * windows) };
}

process.on("message", (message) => {
  if (typeof message !== "object" || message === null || !("windows" in message)) return;
  measure(message as MemoryLoad).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
