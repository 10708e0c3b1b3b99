import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type Block, commandsOf } from "../docs/doc-page.ts";
import { type ProgramResult, startProgram } from "../support/program.ts";

/** Commands that run until they are stopped, and the output that shows that they are ready. */
const longRunning: readonly { command: RegExp; ready: RegExp }[] = [
  { command: /\bhub-webhooks (dev|hub)\b/, ready: /Press Ctrl\+C to stop\./ },
  { command: /\bhub-webhooks deliveries tail\b/, ready: /\bdead\b/ },
  { command: /\bnpm start(?!.*--once)|\bnode \S+\.ts/, ready: /\bis ready\b/ },
];

/** Commands that find a Hub on this machine. All others use the replacement for the real Hub. */
const usesLocalHub = /\bhub-webhooks (dev(?! --hub real)|hub|trigger)\b/;

/** Maximum time for a step on a busy machine, in milliseconds. */
const timeoutMs = 60_000;
/** The value of `CONSOLE_TOKEN=…` in the docs: servers refuse shorter tokens than 16 characters. */
export const consoleToken = "t0ken-of-the-owner";

/** Matches the last command of a line, with the variables that are set for it. */
const lastCommand = /((?:\w+=\S+\s+)*)((?:npx|npm|node) [^&;|]*)$/;

type Running = ReturnType<typeof startProgram>;

export interface PageRunnerOptions {
  /** The initial working directory. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The URL of the replacement for the real Hub. */
  hubUrl: string;
}

/**
 * Runs the commands of a page in order, as a user would. Variables and the working directory carry over between
 * commands. A long-running command is stopped before the next one starts. Placeholders are replaced by valid values.
 */
export class PageRunner {
  readonly #options: PageRunnerOptions;
  /** A shell script with the variables and working directory of the last command. */
  readonly #state: string;
  /** The ID of the first created webhook. It replaces the IDs in later commands. */
  #webhookId: string | undefined;
  #output = "";
  #running: Running | undefined;

  constructor(options: PageRunnerOptions) {
    this.#options = options;
    this.#state = `${options.folder}.shell`;
  }

  /** Runs a block of commands. Each must exit with 0 or become ready. */
  async run(block: Block): Promise<void> {
    for (const command of commandsOf(block)) await this.#runCommand(this.#fillPlaceholders(command), block.place);
  }

  /** Writes a block to a file with this name. */
  async write(name: string, { text }: Block): Promise<void> {
    await writeFile(join(this.#options.folder, name), text);
  }

  /** Expects each line of a block in the commands' output, ignoring IDs, times, durations, and URLs. */
  async expectOutput({ text, place }: Block): Promise<void> {
    const output = () => this.#output + (this.#running?.output() ?? "");
    const missing = () => {
      const lines = new Set(
        output()
          .split("\n")
          .map((line) => this.#normalize(line)),
      );
      return text.split("\n").filter((line) => line.trim() !== "" && !lines.has(this.#normalize(line)));
    };
    await expect
      .poll(missing, { timeout: 10_000 })
      .toEqual([])
      .catch((cause: unknown) => {
        throw new Error(`${place} is not in the output:\n${output()}`, { cause });
      });
  }

  /** Stops the long-running command, like Ctrl+C. */
  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    signal(running, "SIGINT");
    const { code, output } = await endOf(running);
    // npm and npx themselves may exit with the signal.
    expect(running.child.signalCode ?? code, output).toBeOneOf([0, 130, "SIGINT"]);
  }

  async #runCommand(command: string, place: string): Promise<void> {
    const { folder, env, hubUrl } = this.#options;
    const before = existsSync(this.#state) ? `. ${this.#state}` : ":";
    const hub = usesLocalHub.test(command)
      ? `[ "\${HF_ENDPOINT-}" != ${hubUrl} ] || unset HF_ENDPOINT HF_TOKEN`
      : `export HF_ENDPOINT="\${HF_ENDPOINT-${hubUrl}}" HF_TOKEN="\${HF_TOKEN-hf_local}"`;
    // Standard input contains a secret, in case a command asks for one.
    const input = `${folder}.input`;
    await writeFile(input, "s3cret\n");
    const kind = longRunning.find((known) => known.command.test(withoutComment(command)));
    if (kind) await this.end();
    const after = kind ? [] : [`{ export -p; echo "cd '$PWD'"; } >${this.#state}`];
    // With "exec", signals go to the command instead of the shell.
    const line = kind ? withoutComment(command).replace(lastCommand, "$1exec $2") : command;
    const script = [`exec <${input}`, before, hub, "set -e", line, ...after].join("\n");
    const running = startProgram(["sh", "-c", script], { cwd: folder, env, detached: true });
    if (kind) {
      this.#running = running;
      const isReady = () => kind.ready.test(running.output());
      await expect
        .poll(() => isReady() || hasEnded(running), { timeout: timeoutMs, message: `${place}: ${command}` })
        .toBe(true);
      if (hasEnded(running)) this.#running = undefined;
      expect(running.output(), `${place}: ${command}`).toMatch(kind.ready);
      return;
    }
    const { code, output } = await endOf(running);
    expect(code, `${place}: ${command}\n${output}`).toBe(0);
    this.#output += output;
    this.#webhookId ??= output.match(idPattern)?.[0];
  }

  /** Returns the command with placeholders replaced by a token, a secret, and existing IDs. */
  #fillPlaceholders(command: string): string {
    return command
      .replaceAll("hf_…", "hf_local")
      .replaceAll("CONSOLE_TOKEN=…", `CONSOLE_TOKEN=${consoleToken}`)
      .replaceAll("=…", "=s3cret")
      .replaceAll(idPattern, (id) => this.#webhookId ?? id);
  }

  #normalize(line: string): string {
    return (
      line
        .replaceAll(this.#options.hubUrl, "https://huggingface.co")
        .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{24})\b/g, "<id>")
        .replaceAll(/\d\d:\d\d:\d\d/g, "<time>")
        .replaceAll(/[\d.]+ (ms|s)\b/g, "<duration>")
        // Without a terminal, there are no keys.
        .replace("(once; key o opens it again)", "(valid once)")
    );
  }
}

const idPattern = /\b[0-9a-f]{24}\b/g;

function withoutComment(command: string): string {
  return command.replace(/\s+# .*$/, "");
}

function hasEnded({ child }: Running): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Sends a signal to a command and all its child processes. */
function signal(running: Running, name: NodeJS.Signals): void {
  if (running.child.pid !== undefined && !hasEnded(running)) process.kill(-running.child.pid, name);
}

/** Waits until a command exits and kills it after a timeout. */
async function endOf(running: Running): Promise<ProgramResult> {
  const timer = setTimeout(() => signal(running, "SIGKILL"), timeoutMs);
  try {
    return await running.ended;
  } finally {
    clearTimeout(timer);
  }
}
