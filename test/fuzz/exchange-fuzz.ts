import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type { Findings } from "../support/monitored-receiver.ts";
import { chunk, requestBytes } from "../support/raw-socket.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type ExchangeCase, makeExchange, type Step, steps } from "./exchange-case.ts";

export interface ExchangeFuzzOptions {
  findings: Findings;
  seed: number;
  /** A folder for the dev session. */
  folder: string;
}

const concurrency = 8;
/** Longer than every timeout of the servers. */
const maxConnectionMs = 15_000;
const secret = "Exchange-5ecret-1b7e";
const consoleToken = "Exchange-pa55word-77c1";
/** A line that is longer than a commit may contain. */
const longLineBytes = 17 * 1024 * 1024;

/**
 * Cancels, destroys, ends, and fails requests and answers at every step, from the client's and from the server's side, on a
 * receiver, a dev session, and its local Hub. The processes must keep running, close or drain each connection, and answer the
 * next request.
 */
export class ExchangeFuzz {
  cases = 0;
  /** The number of cases by target, side, and step. */
  readonly counts = new Map<string, number>();
  readonly #options: ExchangeFuzzOptions;
  readonly #children: ChildProcess[] = [];
  #urls = { receiver: "", dev: "", hub: "" };
  #uploadPath = "";
  #isStopping = false;
  #hasEnded = false;

  private constructor(options: ExchangeFuzzOptions) {
    this.#options = options;
  }

  static async start(options: ExchangeFuzzOptions): Promise<ExchangeFuzz> {
    const fuzz = new ExchangeFuzz(options);
    const receiver = fuzz.#spawn("exchange-server.ts");
    const dev = fuzz.#spawn("exchange-dev.ts");
    const [[{ url }], [{ url: devUrl, hubUrl, uploadPath }]] = await Promise.all([
      once(receiver, "message"),
      once(dev, "message"),
    ]);
    fuzz.#urls = { receiver: url, dev: devUrl, hub: hubUrl };
    fuzz.#uploadPath = uploadPath;
    return fuzz;
  }

  /** The option that reproduces about the latest case. */
  get #reproduction(): string {
    return `--seed ${this.#options.seed} --exchange ${this.cases}`;
  }

  async run(isOver: () => boolean): Promise<void> {
    const worker = async () => {
      while (!isOver() && !this.#hasEnded) {
        this.cases += 1;
        await this.try(this.cases);
        if (this.cases % 40 === 0) await this.#sendValidRequests();
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    await this.#sendValidRequests();
    await this.#countConnections();
  }

  async try(number: number): Promise<void> {
    const { findings, seed } = this.#options;
    const tried = makeExchange(new SeededRandom(seed * 1_000_003 + number));
    const { target, client, server } = tried;
    this.#count(target, "client", client?.step);
    this.#count(target, "server", server?.step);
    const isClosed = await this.#exchange(tried, new SeededRandom(number));
    if (!isClosed && !this.#hasEnded)
      findings.note(
        `${target}: a connection is neither closed nor drained (${tried.entrance})`,
        `--seed ${seed} --exchange ${number} ${JSON.stringify(tried)}`,
      );
  }

  /** Prints the number of cases by target, side, and step. */
  print(): void {
    console.log(`Exchanges: ${this.cases} connections`);
    for (const target of ["receiver", "dev", "hub"]) {
      for (const side of ["client", "server"]) {
        const counts = steps.map((step) => `${step} ${this.counts.get(`${target} ${side} ${step}`) ?? 0}`);
        console.log(`  ${target}, ${side}: ${counts.join(", ")}`);
      }
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
  }

  #count(target: string, side: string, step: Step | undefined): void {
    if (!step) return;
    const key = `${target} ${side} ${step}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  #spawn(script: string): ChildProcess {
    const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname, this.#options.folder], {
      env: {
        PATH: process.env.PATH,
        WEBHOOK_SECRET: secret,
        CONSOLE_TOKEN: consoleToken,
        LOG_LEVEL: "silent",
        INBOX_URL: `sqlite:${this.#options.folder}/receiver.db`,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#children.push(child);
    const { findings } = this.#options;
    let errors = "";
    child.stderr?.on("data", (text) => {
      errors = `${errors}${text}`.slice(-2_000);
    });
    if (child.stdout)
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith("UNHANDLED")) findings.note(`${script}: ${line}`, this.#reproduction);
      });
    child.once("close", (code, signal) => {
      this.#hasEnded = true;
      if (!this.#isStopping) findings.note(`${script} exited: ${signal ?? code}`, `${errors} ${this.#reproduction}`);
    });
    return child;
  }

  /** Runs a case. Returns whether the server closed the connection, or answered another request on it. */
  #exchange(tried: ExchangeCase, random: SeededRandom): Promise<boolean> {
    const { client } = tried;
    const { hostname, port } = new URL(this.#urls[tried.target]);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = 0;
    let changed = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<boolean>();
    const wake = () => {
      changed.resolve();
      changed = Promise.withResolvers<void>();
    };
    const timer = setTimeout(() => {
      closed.resolve(false);
      socket.destroy();
    }, maxConnectionMs);
    socket.on("data", (bytes) => {
      received += bytes.length;
      wake();
    });
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(timer);
      wake();
      closed.resolve(true);
    });
    /** Waits until so many bytes arrived, the connection closed, or nothing arrived for some time. */
    const arrived = async (bytes: number) => {
      while (received < bytes && !socket.destroyed && !socket.readableEnded) {
        const before = received;
        await Promise.race([changed.promise, pause(60)]);
        if (received === before) return;
      }
    };
    const isOver = () => socket.destroyed || socket.writableEnded;
    const act = async (step: Step) => {
      if (client?.step !== step || isOver()) return;
      if (client.action === "finish") socket.end();
      else if (client.action === "reset") socket.resetAndDestroy();
      else if (client.action === "close") socket.destroy();
      else if (client.action === "garbage") socket.write("garbage\r\n\r\n\0");
      else if (client.action === "stall") await pause(random.below(300));
      else socket.pause();
    };
    const send = async (bytes: Uint8Array) => {
      for (let turns = random.below(4); turns > 0; turns -= 1) await turn();
      if (random.chance(0.2)) await pause(random.below(5));
      if (!isOver()) socket.write(bytes);
    };
    const run = async () => {
      const { head, parts } = this.#request(tried, random);
      const cut = random.below(head.length);
      if (client?.step === "in the head") {
        await send(head.subarray(0, cut));
        await act("in the head");
        await send(head.subarray(cut));
      } else await send(head);
      await act("before the body");
      const middle = Math.floor(parts.length / 2);
      for (const [index, part] of parts.entries()) {
        if (index === middle) await act("in the body");
        await send(part);
      }
      await act("after the body");
      await arrived(1);
      await act("at the head of the answer");
      await arrived(300);
      await act("in the answer");
      await arrived(Number.POSITIVE_INFINITY);
      await act("after the answer");
      socket.resume();
      // The next request on the connection is answered, or the connection is closed.
      if (!isOver()) socket.end(`GET /health HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    };
    socket.once("connect", () => void run());
    return closed.promise;
  }

  #request(tried: ExchangeCase, random: SeededRandom): { head: Buffer; parts: Buffer[] } {
    const { target, entrance, framing, server } = tried;
    const body = this.#body(tried);
    const parts: Buffer[] = [];
    const partBytes = Math.max(1, Math.ceil(body.length / tried.parts));
    for (let at = 0; at < body.length; at += partBytes) {
      const part = body.subarray(at, at + partBytes);
      parts.push(framing === "chunked" ? chunk(part) : part);
    }
    if (framing === "chunked") parts.push(chunk(""));
    const method =
      entrance === "download" || (entrance === "console" && random.chance(0.5))
        ? "GET"
        : entrance === "upload"
          ? "PUT"
          : "POST";
    const head = requestBytes({
      method,
      path: this.#path(entrance),
      headers: {
        Host: new URL(this.#urls[target]).host,
        "X-Webhook-Secret": secret,
        "Content-Type": entrance === "commit" || entrance === "long line" ? "application/x-ndjson" : "application/json",
        ...(entrance === "console" && { Authorization: `Bearer ${consoleToken}` }),
        ...(target === "hub" && entrance !== "upload" && { Authorization: "Bearer hf_local" }),
        ...(server && { "X-Plan": JSON.stringify(server) }),
        "X-Answer-Bytes": String(tried.answerBytes),
        ...(framing === "expect" && { Expect: "100-continue" }),
        ...(framing === "chunked" ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(body.length) }),
      },
    });
    return { head, parts };
  }

  #path(entrance: ExchangeCase["entrance"]): string {
    if (entrance === "route") return "/route";
    if (entrance === "console") return "/_console/api/stream";
    if (entrance === "commit" || entrance === "long line") return "/api/models/local-user/net/commit/main";
    if (entrance === "upload") return this.#uploadPath;
    if (entrance === "download") return "/local-user/net/resolve/main/large.bin";
    if (entrance === "control") return "/_local/trigger";
    return `/webhooks/${entrance}`;
  }

  #body({ entrance, bodyBytes, server }: ExchangeCase): Buffer {
    if (entrance === "download") return Buffer.alloc(0);
    if (entrance === "upload") return Buffer.alloc(300_000);
    if (entrance === "long line") return Buffer.alloc(longLineBytes, "x");
    if (entrance !== "commit") return Buffer.from(JSON.stringify("x".repeat(bodyBytes)));
    // The local Hub stops reading at the first invalid line.
    const valid = `${JSON.stringify({ key: "header", value: { summary: "Fuzz" } })}\n`;
    const file = `${JSON.stringify({ key: "file", value: { path: "a.txt", content: "x".repeat(bodyBytes) } })}\n`;
    if (!server) return Buffer.from(valid + file);
    const invalid = "not JSON\n";
    if (server.step === "before the body") return Buffer.from(invalid + valid + file);
    return Buffer.from(server.step === "in the body" ? valid + invalid + file : valid + file + invalid);
  }

  /** Notes a finding unless each target answers a valid request with 2xx. */
  async #sendValidRequests(): Promise<void> {
    if (this.#hasEnded) return;
    const { receiver, dev, hub } = this.#urls;
    const delivery = {
      method: "POST",
      headers: { "x-webhook-secret": secret, "content-type": "application/json" },
      body: "{}",
    };
    for (const [url, init] of [
      [`${receiver}/webhooks/inline`, delivery],
      [`${dev}/webhooks/inline`, delivery],
      [`${hub}/api/models/local-user/net`, { headers: { authorization: "Bearer hf_local" } }],
    ] as const) {
      const status = await fetch(url, { ...init, signal: AbortSignal.timeout(maxConnectionMs) }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        (error: unknown) => String(error),
      );
      if (status !== 200)
        this.#options.findings.note(
          `${url.replace(/:\d+/, "")} answers ${status} to a valid request`,
          this.#reproduction,
        );
    }
  }

  /** Notes a finding if connections stay open on a server after their clients closed them. */
  async #countConnections(): Promise<void> {
    for (const [index, child] of this.#children.entries()) {
      let open = Number.POSITIVE_INFINITY;
      // All timeouts of the servers are shorter. A dev session keeps a connection to its server open.
      for (let tries = 0; tries < 90 && open > index && !this.#hasEnded; tries += 1) {
        const reported = once(child, "message");
        child.send("count");
        [open] = await reported;
        if (open > index) await pause(500);
      }
      if (open > index && !this.#hasEnded)
        this.#options.findings.note(`child ${index}: ${open} connections stay open`, this.#reproduction);
    }
  }
}
