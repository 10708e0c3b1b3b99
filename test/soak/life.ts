import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { holdsSecret } from "../faults/leak.ts";
import type { Findings } from "../support/findings.ts";
import type { Holding } from "./receiver.ts";

/** What a process held at a moment. */
export interface Sample extends Holding {
  /** Seconds since the process was ready. */
  at: number;
  /** Open files and sockets; none where the system does not tell. */
  handles: number;
}

/** What a receiver is started with. */
export interface LifeOptions {
  inboxUrl: string;
  secret: string;
  dashboardToken: string;
  findings: Findings;
}

const script = fileURLToPath(new URL("receiver.ts", import.meta.url));

/** One process of a receiver, from its start to its end. */
export class Life {
  readonly url: string;
  readonly samples: Sample[] = [];
  /** How many lines it logged, by level and code. */
  readonly said = new Map<string, number>();
  isEnding = false;
  readonly #child: ChildProcess;
  readonly #startedAt = performance.now();
  readonly #ended: Promise<unknown[]>;

  private constructor(child: ChildProcess, { url, ended }: { url: string; ended: Promise<unknown[]> }) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
  }

  /** Starts a receiver, and waits until it is ready. */
  static async begin({ inboxUrl, secret, dashboardToken, findings }: LifeOptions): Promise<Life> {
    const child = spawn(process.execPath, ["--expose-gc", script], {
      env: {
        PATH: process.env.PATH,
        PORT: "0",
        WEBHOOK_SECRET: secret,
        INBOX_URL: inboxUrl,
        DASHBOARD_TOKEN: dashboardToken,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    if (!child.stdout || !child.stderr) throw new Error("What the receiver says cannot be read.");
    const ended = once(child, "close");
    const ready = Promise.withResolvers<string>();
    const said = new Map<string, number>();
    createInterface({ input: child.stdout }).on("line", (text) => {
      const line = readLine(text);
      if (!line) findings.note("a line of the log is no JSON", JSON.stringify(text.slice(0, 200)));
      if (holdsSecret([text], secret)) findings.note("the secret is in the log");
      const kind = `${line?.level} ${line?.code ?? line?.outcome ?? "-"}`;
      said.set(kind, (said.get(kind) ?? 0) + 1);
      if (
        line?.code === "INTERNAL" ||
        /nobody handled|could not be closed|background task of the inbox failed/.test(line?.msg ?? "")
      ) {
        findings.note(`the log says ${line?.msg}`, text.slice(0, 600));
      }
      const address = line?.endpoints?.[0]?.replace("POST ", "");
      if (address !== undefined) ready.resolve(new URL(address).origin);
    });
    createInterface({ input: child.stderr }).on("line", (text) => findings.note("it writes to standard error", text));
    void ended.then(() => ready.reject(new Error("The receiver ended before it was ready.")));
    const life = new Life(child, { url: await ready.promise, ended });
    for (const [kind, count] of said) life.said.set(kind, count);
    return life;
  }

  /** Seconds since it was ready. */
  get age(): number {
    return (performance.now() - this.#startedAt) / 1_000;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Asks it what it holds. */
  async sample(): Promise<Sample | undefined> {
    if (this.hasEnded || this.isEnding || !this.#child.connected) return undefined;
    const answered = once(this.#child, "message");
    this.#child.send("sample");
    const holding = await Promise.race([answered.then(([message]) => message), this.#ended.then(() => undefined)]);
    if (!isHolding(holding)) return undefined;
    const sample = { ...holding, at: this.age, handles: openHandles(this.#child.pid) };
    this.samples.push(sample);
    return sample;
  }

  /** Ends it, and returns how it ended: its exit code, or the signal. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<unknown> {
    this.isEnding = true;
    this.#child.kill(signal);
    const [code, by] = await this.#ended;
    return by ?? code;
  }
}

interface Line {
  level?: number;
  code?: string;
  outcome?: string;
  msg?: string;
  endpoints?: string[];
}

function readLine(text: string): Line | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isHolding(value: unknown): value is Holding {
  return typeof value === "object" && value !== null && "heapUsed" in value;
}

function openHandles(pid: number | undefined): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}
