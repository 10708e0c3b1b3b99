import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Delivery, StoredDelivery } from "../../src/index.ts";
import type { LogLine } from "../support/memory-logger.ts";
import { packageEnvironment } from "./on-built-package.ts";
import type { HostedOptions, HostRequest } from "./receiver-host.ts";

const script = fileURLToPath(new URL("receiver-host.ts", import.meta.url));

/** The host process's answer to a request. */
interface HostAnswer {
  number: number;
  answer?: unknown;
  error?: string;
}

/** A log line or delivery that the host process reports for one receiver. */
type Told = { receiver: number } & ({ line: LogLine } | { delivery: Delivery });

type Asked = HostRequest extends infer Request ? (Request extends unknown ? Omit<Request, "number"> : never) : never;

/** A separate process that runs the receivers of a test file. */
class Host {
  readonly receivers = new Map<number, HostedReceiver>();
  errorOutput = "";
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  constructor() {
    this.#child = spawn(process.execPath, [script], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...packageEnvironment },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // Preserves the types of bytes and errors.
      serialization: "advanced",
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.errorOutput += text;
    });
    this.#child.on("message", (message: HostAnswer | Told) => this.#recordEvents(message));
    this.#child.on("exit", (code, signal) => {
      const ended = new Error(`The process of the receivers has ended (${signal ?? code}): ${this.errorOutput}`);
      for (const { reject } of this.#waiting.values()) reject(ended);
    });
  }

  /** Sends a request to the host process. Resolves after all earlier log lines and deliveries have arrived. */
  ask(request: Asked): Promise<unknown> {
    this.#asked += 1;
    const number = this.#asked;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(number, waiting);
    this.#child.send({ ...request, number }, (error) => error && waiting.reject(error));
    return waiting.promise.finally(() => this.#waiting.delete(number));
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }

  #recordEvents(message: HostAnswer | Told): void {
    if ("number" in message) {
      const waiting = this.#waiting.get(message.number);
      if (message.error === undefined) waiting?.resolve(message.answer);
      else waiting?.reject(new Error(message.error));
      return;
    }
    const receiver = this.receivers.get(message.receiver);
    if ("line" in message) receiver?.log.push(message.line);
    else receiver?.received.push(message.delivery);
  }
}

let host: Host | undefined;
let opened = 0;

/** A receiver in the host process, which the receivers of a test file share. */
export class HostedReceiver {
  readonly log: LogLine[] = [];
  readonly received: Delivery[] = [];
  url = "";
  readonly #host: Host;
  readonly #number: number;

  private constructor(ownHost: Host, number: number) {
    this.#host = ownHost;
    this.#number = number;
    ownHost.receivers.set(number, this);
  }

  static async open(options: Omit<HostedOptions, "environment">): Promise<HostedReceiver> {
    host ??= new Host();
    opened += 1;
    const receiver = new HostedReceiver(host, opened);
    const names = ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS", "INBOX_URL"];
    const environment = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    const answer = await host.ask({ ask: "open", receiver: opened, options: { ...options, environment } });
    if (typeof answer === "object" && answer !== null && "url" in answer) receiver.url = String(answer.url);
    return receiver;
  }

  /** Waits until all lines that the receiver has logged have arrived. */
  async sync(): Promise<void> {
    await this.#host.ask({ ask: "sync", receiver: this.#number });
  }

  /** Returns the delivery stored in the receiver's inbox. */
  async stored(id: string): Promise<Partial<StoredDelivery> | undefined> {
    const found = await this.#host.ask({ ask: "stored", receiver: this.#number, id });
    return typeof found === "object" && found !== null ? found : undefined;
  }

  /** @throws {Error} If the host process wrote to standard error. */
  async close(): Promise<void> {
    await this.#host.ask({ ask: "close", receiver: this.#number });
    this.#host.receivers.delete(this.#number);
    if (this.#host.errorOutput !== "") throw new Error(`On standard error: ${this.#host.errorOutput}`);
  }
}

/** Stops the host process of this test file. */
export function endHost(): void {
  host?.end();
  host = undefined;
}
