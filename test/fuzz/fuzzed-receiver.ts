import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { holdsSecret } from "../faults/leak.ts";
import type { Findings } from "../support/findings.ts";

const script = fileURLToPath(new URL("receiver.ts", import.meta.url));

/** What a log on a screen must not hold as it is: a terminal would obey it. */
const control = /[\u0000-\u001f\u007f-\u009f]/;

/** A receiver of the built package in a process of its own, whose every word is looked at. */
export class FuzzedReceiver {
  readonly url: string;
  /** How many lines it has logged. */
  lines = 0;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** Starts one, and waits until it is ready. `latest` tells what was sent lately. */
  static async start(options: {
    secrets: readonly [string, string];
    inboxUrl: string;
    findings: Findings;
    latest: () => string;
  }): Promise<FuzzedReceiver> {
    const { secrets, inboxUrl, findings, latest } = options;
    const [secret, dashboardToken] = secrets;
    const child = spawn(process.execPath, ["--expose-gc", script], {
      env: {
        PATH: process.env.PATH,
        PORT: "0",
        WEBHOOK_SECRET: secret,
        DASHBOARD_TOKEN: dashboardToken,
        INBOX_URL: inboxUrl,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    if (!child.stdout || !child.stderr) throw new Error("What the receiver says cannot be read.");
    const ready = Promise.withResolvers<string>();
    let receiver: FuzzedReceiver | undefined;
    createInterface({ input: child.stdout }).on("line", (text) => {
      if (receiver) receiver.lines += 1;
      if (control.test(text))
        findings.note("a line of the log has a raw control character", `${JSON.stringify(text)}, ${latest()}`);
      if (holdsSecret([text], secret) || holdsSecret([text], dashboardToken))
        findings.note("the secret is in the log", `${text}, ${latest()}`);
      const line = parseLine(text);
      if (!line) findings.note("a line of the log is no JSON", `${JSON.stringify(text)}, ${latest()}`);
      if (line?.code === "INTERNAL" || /nobody handled|before it reached/.test(line?.msg ?? "")) {
        findings.note(`the log says ${line?.code}: ${line?.msg}`, `${text}, ${latest()}`);
      }
      const address = line?.endpoints?.[0]?.replace("POST ", "");
      if (address !== undefined) ready.resolve(new URL(address).origin);
    });
    createInterface({ input: child.stderr }).on("line", (text) =>
      findings.note("it writes to standard error", `${text}, ${latest()}`),
    );
    child.on("exit", (code, signal) => {
      if (signal !== "SIGTERM" && code !== 0) findings.note(`the process has ended: ${signal ?? code}`, latest());
      ready.reject(new Error("The receiver has ended."));
    });
    receiver = new FuzzedReceiver(child, await ready.promise);
    return receiver;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** What it holds after its garbage was collected, in MiB. */
  async memory(): Promise<{ rss: number; heapUsed: number }> {
    const answered = once(this.#child, "message");
    this.#child.send("memory");
    const [{ rss, heapUsed }] = await answered;
    return { rss: rss / 2 ** 20, heapUsed: heapUsed / 2 ** 20 };
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await exited;
  }
}

function parseLine(text: string): { code?: string; msg?: string; endpoints?: string[] } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
