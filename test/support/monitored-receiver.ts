import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { holdsSecret } from "./secrets.ts";

export interface MonitoredReceiverOptions {
  script: URL;
  inboxUrl: string;
  secret: string;
  consoleToken: string;
  findings: Findings;
  /** Allowed codes of lines of level "error". Any other error line is a finding. */
  expectedErrors: readonly string[];
  /** Returns how to reproduce the current case. */
  reproduction?: () => string;
}

/** The memory use that a process reports, in bytes. */
export interface MemoryUse {
  rss: number;
  heapUsed: number;
}

interface Line {
  level?: number;
  code?: string;
  outcome?: string;
  msg?: string;
  endpoints?: string[];
}

const errorLevel = 50;
/** Control characters that a terminal interprets when it displays a log. */
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

/** A receiver of the built package in a separate process, whose complete output is checked. */
export class MonitoredReceiver {
  readonly url: string;
  /** Resolves to the exit code or the signal. */
  readonly ended: Promise<unknown>;
  /** Number of lines in the log. */
  readonly lineCount: () => number;
  readonly #child: ChildProcess;
  #isStopping = false;

  private constructor(
    child: ChildProcess,
    { url, ended, lineCount }: Pick<MonitoredReceiver, "url" | "ended" | "lineCount">,
  ) {
    this.#child = child;
    this.url = url;
    this.ended = ended;
    this.lineCount = lineCount;
  }

  /** Starts a receiver and waits until it is ready. */
  static async start(options: MonitoredReceiverOptions): Promise<MonitoredReceiver> {
    const { script, inboxUrl, secret, consoleToken, findings, expectedErrors, reproduction = () => "" } = options;
    const child = spawn(process.execPath, ["--expose-gc", script.pathname], {
      env: {
        PATH: process.env.PATH,
        PORT: "0",
        WEBHOOK_SECRET: secret,
        INBOX_URL: inboxUrl,
        CONSOLE_TOKEN: consoleToken,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    if (!child.stdout || !child.stderr) throw new Error("The output of the receiver is not a pipe.");
    const note = (what: string, text: string) => findings.note(what, `${text.slice(0, 600)} ${reproduction()}`.trim());
    const ready = Promise.withResolvers<string>();
    let lineCount = 0;
    createInterface({ input: child.stdout }).on("line", (text) => {
      lineCount += 1;
      if (controlCharacters.test(text)) note("a line of the log has a raw control character", JSON.stringify(text));
      if ([secret, consoleToken].some((planted) => holdsSecret(text, planted))) note("a secret is in the log", text);
      const line = parseLine(text);
      if (!line) note("a line of the log is not JSON", JSON.stringify(text));
      else if (isUnexpected(line, expectedErrors)) note(`the log has an error: ${line.code ?? line.msg}`, text);
      const address = line?.endpoints?.[0]?.replace("POST ", "");
      if (address !== undefined) ready.resolve(new URL(address).origin);
    });
    createInterface({ input: child.stderr }).on("line", (text) => note("the receiver writes to standard error", text));
    const ended = once(child, "close").then(([code, signal]) => signal ?? code);
    void ended.then(() => ready.reject(new Error("The receiver exited before it was ready.")));
    const receiver = new MonitoredReceiver(child, { url: await ready.promise, ended, lineCount: () => lineCount });
    void ended.then((by) => {
      if (!receiver.#isStopping) note(`the receiver exited unexpectedly: ${by}`, "");
    });
    return receiver;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Requests the memory use of the process. Returns `undefined` if it exits first. */
  async measure(): Promise<MemoryUse | undefined> {
    if (this.hasEnded || this.#isStopping || !this.#child.connected) return undefined;
    const answered = once(this.#child, "message");
    this.#child.send("measure");
    const report = await Promise.race([answered.then(([message]) => message), this.ended.then(() => undefined)]);
    return isMemoryUse(report) ? report : undefined;
  }

  /** Stops the process and returns its exit code, or the signal that ended it. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<unknown> {
    this.#isStopping = true;
    this.#child.kill(signal);
    return this.ended;
  }
}

function isMemoryUse(value: unknown): value is MemoryUse {
  return typeof value === "object" && value !== null && "rss" in value && "heapUsed" in value;
}

function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Classifies lines by level and code, because messages can be reworded. */
function isUnexpected({ level, code }: Line, expectedErrors: readonly string[]): boolean {
  return code === "INTERNAL" || (level !== undefined && level >= errorLevel && !expectedErrors.includes(code ?? ""));
}

/** Findings by kind: the first case that shows it, and the number of occurrences. */
export class Findings {
  readonly #found = new Map<string, { count: number; shownBy: string }>();

  /**
   * @param what The problem, in the same words for all cases of a kind.
   * @param shownBy How to reproduce it.
   */
  note(what: string, shownBy = ""): void {
    const found = this.#found.get(what);
    if (found) found.count += 1;
    else {
      this.#found.set(what, { count: 1, shownBy });
      console.error(`FOUND: ${what}${shownBy && `\n  ${shownBy}`}`);
    }
  }

  get all(): readonly { what: string; count: number; shownBy: string }[] {
    return [...this.#found].map(([what, found]) => ({ what, ...found }));
  }
}
