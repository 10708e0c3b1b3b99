import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type { Findings } from "../support/monitored-receiver.ts";
import { chunk, requestBytes } from "../support/raw-socket.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type ExchangeCase, makeExchange, type Step, steps } from "./exchange-case.ts";
import type { OpenResources } from "./exchange-hook.ts";

export interface ExchangeFuzzOptions {
  findings: Findings;
  seed: number;
  /** A folder for the dev session. */
  folder: string;
}

const concurrency = 24;
/** How long a server may send nothing, and keep the connection open: longer than its timeouts. */
const maxSilenceMs = 15_000;
const secret = "Exchange-5ecret-1b7e";
const consoleToken = "Exchange-pa55word-77c1";
/** How often an action must be planned for a step until it is a finding that it never ran. */
const minPlanned = 40;
/** A line that is longer than a commit may contain. */
const longLineBytes = 17 * 1024 * 1024;

/**
 * Cancels, destroys, ends, and fails requests and answers at every step, from the client's and from the server's side, on a
 * receiver, a dev session, and its local Hub. The processes must keep running, close or drain each connection, and answer the
 * next request.
 */
export class ExchangeFuzz {
  cases = 0;
  /** How often each action was planned and ran. */
  readonly #actions = new Map<string, Map<Step, { planned: number; ran: number }>>();
  readonly #options: ExchangeFuzzOptions;
  readonly #children: ChildProcess[] = [];
  #urls = { receiver: "", dev: "", hub: "" };
  #uploadPaths: readonly string[] = [];
  #isStopping = false;
  #hasEnded = false;

  private constructor(options: ExchangeFuzzOptions) {
    this.#options = options;
  }

  static async start(options: ExchangeFuzzOptions): Promise<ExchangeFuzz> {
    const fuzz = new ExchangeFuzz(options);
    const receiver = fuzz.#spawn("exchange-server.ts");
    const dev = fuzz.#spawn("exchange-dev.ts");
    const [[{ url }], [{ url: devUrl, hubUrl, uploadPaths }]] = await Promise.all([
      once(receiver, "message"),
      once(dev, "message"),
    ]);
    fuzz.#urls = { receiver: url, dev: devUrl, hub: hubUrl };
    fuzz.#uploadPaths = uploadPaths;
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
    await this.#checkOpenResources();
    this.#checkActions();
  }

  async try(number: number): Promise<void> {
    const { findings, seed } = this.#options;
    const tried = makeExchange(new SeededRandom(seed * 1_000_003 + number));
    const { target, client, server } = tried;
    if (client) this.#count("planned", { target, by: "client", ...client });
    if (server) this.#count("planned", server);
    const silent = await this.#exchange(tried, number);
    if (silent && !this.#hasEnded)
      findings.note(
        `${target}: a connection is neither closed nor drained (${tried.entrance})`,
        `--seed ${seed} --exchange ${number} ${JSON.stringify({ ...silent, ...tried })}`,
      );
  }

  /** Prints how often each action ran, by target, side, and step. */
  print(): void {
    console.log(`Exchanges: ${this.cases} connections. Actions that ran, by step:`);
    const rows = [...this.#actions].toSorted(([left], [right]) => left.localeCompare(right));
    const table = [
      ["", ...steps],
      ...rows.map(([action, counts]) => [action, ...steps.map((step) => String(counts.get(step)?.ran ?? ""))]),
    ];
    const widths = ["", ...steps].map((_step, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
    for (const [name = "", ...counts] of table) {
      const cells = counts.map((count, index) => count.padStart(widths[index + 1] ?? 0));
      console.log(`  ${[name.padEnd(widths[0] ?? 0), ...cells].join("  ")}`);
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

  #count(
    figure: "planned" | "ran",
    { target, by, action, step }: { target: string; by: string; action: string; step: Step },
  ): void {
    const name = `${target}, ${by}: ${action}`;
    const ofAction = this.#actions.get(name) ?? new Map<Step, { planned: number; ran: number }>();
    this.#actions.set(name, ofAction);
    const counts = ofAction.get(step) ?? { planned: 0, ran: 0 };
    ofAction.set(step, counts);
    counts[figure] += 1;
  }

  #spawn(script: string): ChildProcess {
    const child = spawn(process.execPath, [new URL(script, import.meta.url).pathname, this.#options.folder], {
      env: {
        PATH: process.env.PATH,
        TMPDIR: this.#options.folder,
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
        if (line.startsWith("UNHANDLED")) findings.note(`${script}: ${line}`, `${this.#reproduction} ${errors}`);
        if (line.startsWith("RAN ")) this.#count("ran", JSON.parse(line.slice("RAN ".length)));
      });
    child.once("close", (code, signal) => {
      this.#hasEnded = true;
      if (!this.#isStopping) findings.note(`${script} exited: ${signal ?? code}`, `${errors} ${this.#reproduction}`);
    });
    return child;
  }

  /**
   * Runs a case. The server must close the connection, or answer another request on it. Returns the number of received bytes if
   * it does not.
   */
  #exchange(tried: ExchangeCase, number: number): Promise<{ received: number } | undefined> {
    const random = new SeededRandom(number);
    const { client } = tried;
    const { hostname, port } = new URL(this.#urls[tried.target]);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = 0;
    let changed = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<{ received: number } | undefined>();
    const wake = () => {
      changed.resolve();
      changed = Promise.withResolvers<void>();
    };
    let timer: NodeJS.Timeout | undefined;
    socket.on("data", (bytes) => {
      received += bytes.length;
      timer?.refresh();
      wake();
    });
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(timer);
      wake();
      closed.resolve(undefined);
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
      this.#count("ran", { target: tried.target, by: "client", ...client });
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
      const { head, parts } = this.#request(tried, { number, random });
      if (tried.isPipelined) await send(this.#slowRequest(tried.target));
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
    socket.once("connect", async () => {
      await run();
      if (socket.closed) return;
      timer = setTimeout(() => {
        closed.resolve({ received });
        socket.destroy();
      }, maxSilenceMs);
    });
    return closed.promise;
  }

  /** Returns a request whose answer takes some time. */
  #slowRequest(target: ExchangeCase["target"]): Buffer {
    const path = target === "hub" ? "/local-user/net/resolve/main/large.bin" : "/slow";
    return requestBytes({
      method: "GET",
      path,
      headers: { Host: new URL(this.#urls[target]).host, Authorization: "Bearer hf_local" },
    });
  }

  #request(
    tried: ExchangeCase,
    { number, random }: { number: number; random: SeededRandom },
  ): { head: Buffer; parts: Buffer[] } {
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
      path: this.#path(tried),
      headers: {
        Host: new URL(this.#urls[target]).host,
        "X-Webhook-Secret": secret,
        "Content-Type": entrance === "commit" || entrance === "long line" ? "application/x-ndjson" : "application/json",
        ...(entrance === "console" && { Authorization: `Bearer ${consoleToken}` }),
        ...(target === "hub" && entrance !== "upload" && { Authorization: "Bearer hf_local" }),
        ...(server && { "X-Plan": JSON.stringify(server) }),
        "X-Exchange": String(number),
        "X-Answer-Bytes": String(tried.answerBytes),
        ...(framing === "expect" && { Expect: "100-continue" }),
        ...(framing === "chunked" ? { "Transfer-Encoding": "chunked" } : { "Content-Length": String(body.length) }),
      },
    });
    return { head, parts };
  }

  #path({ entrance, answerBytes }: ExchangeCase): string {
    if (entrance === "route") return "/route";
    if (entrance === "console") return "/_console/api/stream";
    if (entrance === "commit" || entrance === "long line") return "/api/models/local-user/net/commit/main";
    if (entrance === "upload") return this.#uploadPaths[answerBytes === 0 ? 1 : 0] ?? "";
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
    if (server?.by !== "code") return Buffer.from(valid + file);
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
      const status = await fetch(url, { ...init, signal: AbortSignal.timeout(maxSilenceMs) }).then(
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

  /** Notes a finding if connections or files stay open on a server after their clients closed the connections. */
  async #checkOpenResources(): Promise<void> {
    for (const [index, child] of this.#children.entries()) {
      // A dev session keeps a connection to its server open.
      const isDone = ({ connections, files }: OpenResources) => connections <= index && files.length === 0;
      let open: OpenResources | undefined;
      // All timeouts of the servers are shorter.
      for (let tries = 0; tries < 90 && !(open && isDone(open)) && !this.#hasEnded; tries += 1) {
        if (tries > 0) await pause(500);
        const reported = once(child, "message");
        child.send("count");
        [open] = await reported;
      }
      if (open && !isDone(open) && !this.#hasEnded)
        this.#options.findings.note(
          `child ${index}: resources stay open`,
          `${JSON.stringify(open)} ${this.#reproduction}`,
        );
    }
  }

  /** Notes a finding if an action was often planned but never ran, because its step then is not tested. */
  #checkActions(): void {
    for (const [action, bySteps] of this.#actions) {
      for (const [step, { planned, ran }] of bySteps)
        if (ran === 0 && planned >= minPlanned)
          this.#options.findings.note(`${action}, ${step}: never ran`, `planned ${planned} times`);
    }
  }
}
