import { connect, type Socket } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import { RequestBuffer, type RequestOptions } from "./request-buffer.ts";

/** The first question to the load generator: open connections. */
export interface LoadOptions extends RequestOptions {
  connections: number;
}

/** The second question to the load generator: keep all connections busy until one of the limits is reached. */
export interface LoadRun {
  seconds: number;
  requests: number;
  /**
   * Requests per second, each sent at a fixed time. Default: each connection sends its next request after a response.
   */
  perSecond?: number;
}

/** The answer to a {@link LoadQuestion}. */
export interface LoadResult {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  /** The CPU time of the load generator. */
  cpuMicroseconds: number;
}

/** Latencies are counted in steps of 10 microseconds, up to one second. */
const steps = 100_000;
const stepsPerMs = 100;

class Connection {
  readonly #socket: Socket;
  readonly #request: RequestBuffer;
  readonly #answers = new AnswerReader();
  readonly opened: Promise<void>;
  sentAt = 0;

  constructor(options: LoadOptions, number: number, onAnswer: (connection: Connection, status: number) => void) {
    this.#request = new RequestBuffer(options, number);
    const buffer = Buffer.allocUnsafe(16_384);
    const onBytes = (length: number) => {
      const status = this.#answers.read(buffer.subarray(0, length));
      if (status > 0) onAnswer(this, status);
      return true;
    };
    this.#socket = connect({
      host: "127.0.0.1",
      port: options.port,
      noDelay: true,
      onread: { buffer, callback: onBytes },
    });
    this.#socket.on("close", () => fail("The server closed a connection."));
    this.opened = new Promise((resolve) => this.#socket.once("connect", resolve));
  }

  /** Sends a request that was due at `at`, in milliseconds of `performance.now()`. */
  send(at = performance.now()): void {
    this.sentAt = at;
    this.#socket.write(this.#request.renew());
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

let connections: Connection[] = [];
let onAnswer: (connection: Connection) => void = () => {};

async function open(options: LoadOptions): Promise<void> {
  connections = Array.from({ length: options.connections }, (_, number) => {
    return new Connection(options, number, (connection, status) => {
      // A server that refuses requests is fast, so its figure would be meaningless.
      if (status < 200 || status > 299) fail(`The server answered ${status}.`);
      onAnswer(connection);
    });
  });
  await Promise.all(connections.map((connection) => connection.opened));
}

/** Waits for every response, so that the counted requests are the requests that the server handled. */
function run({ seconds, requests, perSecond }: LoadRun): Promise<LoadResult> {
  return perSecond === undefined ? runFlatOut({ seconds, requests }) : runEvenly({ seconds, perSecond });
}

/** The latency of a request that waits for a free connection starts at the time at which it was due. */
function runEvenly({ seconds, perSecond }: { seconds: number; perSecond: number }): Promise<LoadResult> {
  const latencies = new Uint32Array(steps);
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  const total = Math.floor(seconds * perSecond);
  const idle = [...connections];
  let sent = 0;
  let answered = 0;
  const sendDue = () => {
    // The first request is due at once.
    const due = Math.min(total, 1 + Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    while (sent < due && idle.length > 0) {
      const connection = idle.pop();
      connection?.send(startedAt + (sent / perSecond) * 1_000);
      sent += 1;
    }
  };
  return new Promise((resolve) => {
    const timer = setInterval(sendDue, 1);
    onAnswer = (connection) => {
      count(latencies, performance.now() - connection.sentAt);
      idle.push(connection);
      answered += 1;
      if (answered < total) return sendDue();
      clearInterval(timer);
      resolve(resultOf({ latencies, answered, startedAt, cpuAtStart }));
    };
  });
}

function runFlatOut({ seconds, requests }: { seconds: number; requests: number }): Promise<LoadResult> {
  const latencies = new Uint32Array(steps);
  const cpuAtStart = process.cpuUsage();
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1_000;
  let sent = Math.min(connections.length, requests);
  let answered = 0;
  return new Promise((resolve) => {
    onAnswer = (connection) => {
      const now = performance.now();
      count(latencies, now - connection.sentAt);
      answered += 1;
      if (now < deadline && sent < requests) {
        sent += 1;
        connection.send();
      } else if (answered === sent) {
        resolve(resultOf({ latencies, answered, startedAt, cpuAtStart }));
      }
    };
    for (const connection of connections.slice(0, sent)) connection.send();
  });
}

function count(latencies: Uint32Array, ms: number): void {
  const step = Math.min(steps - 1, Math.round(ms * stepsPerMs));
  latencies[step] = (latencies[step] ?? 0) + 1;
}

function resultOf({ latencies, answered, startedAt, cpuAtStart }: Counted): LoadResult {
  const { user, system } = process.cpuUsage(cpuAtStart);
  return {
    requests: answered,
    seconds: (performance.now() - startedAt) / 1_000,
    p50Ms: percentile(latencies, answered * 0.5),
    p99Ms: percentile(latencies, answered * 0.99),
    cpuMicroseconds: user + system,
  };
}

interface Counted {
  latencies: Uint32Array;
  answered: number;
  startedAt: number;
  cpuAtStart: NodeJS.CpuUsage;
}

function percentile(latencies: Uint32Array, rank: number): number {
  let seen = 0;
  for (const [step, count] of latencies.entries()) {
    seen += count;
    if (seen >= rank) return step / stepsPerMs;
  }
  return Number.NaN;
}

process.on("message", async (question: LoadOptions | LoadRun) => {
  if ("port" in question) {
    await open(question);
    process.send?.("opened");
  } else process.send?.(await run(question));
});
process.on("disconnect", () => process.exit());
process.send?.("ready");
