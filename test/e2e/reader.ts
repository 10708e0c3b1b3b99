import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type Block, commandsOf } from "../docs/doc-page.ts";
import { type ProgramResult, startProgram } from "../support/program.ts";

/** What runs until it is ended, and what it writes once it is ready. */
const runningOn: readonly { command: RegExp; ready: RegExp }[] = [
  { command: /\bhub-webhooks (dev|hub)\b/, ready: /Press Ctrl\+C to stop\./ },
  { command: /\bhub-webhooks deliveries tail\b/, ready: /\bdead\b/ },
  { command: /\bnpm start(?!.*--once)|\bnode \S+\.ts/, ready: /\bis ready\b/ },
];

/** What looks for a Hub on this machine by itself. Everything else is led to the one in the place of the real Hub. */
const forLocalHub = /\bhub-webhooks (dev|hub|trigger)\b/;

/** How long anything may take, on a busy machine. In milliseconds. */
const patience = 60_000;

/** The last command of a line, behind what else stands in it and the variables that are set for it alone. */
const lastCommand = /((?:\w+=\S+\s+)*)((?:npx|npm|node) [^&;|]*)$/;

type Running = ReturnType<typeof startProgram>;

/** What {@link Reader} needs. */
export interface ReaderOptions {
  /** Where the commands run at first. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The address of what answers in the place of the Hub. */
  hubUrl: string;
}

/**
 * Somebody who follows a page: runs its commands one by one, in shells that hand on their variables and their folder,
 * ends what runs on before the next such command, and puts what is right here in the place of examples.
 */
export class Reader {
  readonly #options: ReaderOptions;
  /** What is to be sourced to go on where the command before has ended. */
  readonly #state: string;
  /** The first that was made: the one that the page goes on with. */
  #webhookId: string | undefined;
  #output = "";
  #running: Running | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#state = `${options.folder}.shell`;
  }

  /** Runs a block of commands. Each has to end with 0, or to get ready. */
  async run(block: Block): Promise<void> {
    for (const command of commandsOf(block)) await this.#runCommand(this.#real(command), block.place);
  }

  /** Writes a block into the file of this name. */
  async write(name: string, { text }: Block): Promise<void> {
    await writeFile(join(this.#options.folder, name), text);
  }

  /** Expects each line of a block in the output of the commands, except for ids, times, durations and URLs. */
  async expectOutput({ text, place }: Block): Promise<void> {
    const output = () => this.#output + (this.#running?.output() ?? "");
    const missing = () => {
      const lines = new Set(
        output()
          .split("\n")
          .map((line) => this.#alike(line)),
      );
      return text.split("\n").filter((line) => line.trim() !== "" && !lines.has(this.#alike(line)));
    };
    await expect
      .poll(missing, { timeout: 10_000 })
      .toEqual([])
      .catch((cause: unknown) => {
        throw new Error(`${place} is not in the output:\n${output()}`, { cause });
      });
  }

  /** Ends what runs on, as Ctrl+C does. */
  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (!running) return;
    signal(running, "SIGINT");
    const { code, output } = await endOf(running);
    // npm and npx themselves may end by the signal.
    expect(running.child.signalCode ?? code, output).toBeOneOf([0, 130, "SIGINT"]);
  }

  async #runCommand(command: string, place: string): Promise<void> {
    const { folder, env, hubUrl } = this.#options;
    const before = existsSync(this.#state) ? `. ${this.#state}` : ":";
    const hub = forLocalHub.test(command)
      ? `[ "\${HF_ENDPOINT-}" != ${hubUrl} ] || unset HF_ENDPOINT HF_TOKEN`
      : `export HF_ENDPOINT="\${HF_ENDPOINT-${hubUrl}}" HF_TOKEN="\${HF_TOKEN-hf_local}"`;
    // Nobody types here, but where a secret is asked for there is one.
    const input = `${folder}.input`;
    await writeFile(input, "s3cret\n");
    const kind = runningOn.find((known) => known.command.test(withoutComment(command)));
    if (kind) await this.end();
    const after = kind ? [] : [`{ export -p; echo "cd '$PWD'"; } >${this.#state}`];
    // "exec", so that what is ended is the command and not the shell.
    const line = kind ? withoutComment(command).replace(lastCommand, "$1exec $2") : command;
    const script = [`exec <${input}`, before, hub, "set -e", line, ...after].join("\n");
    const running = startProgram(["sh", "-c", script], { cwd: folder, env, detached: true });
    if (kind) {
      this.#running = running;
      const isReady = () => kind.ready.test(running.output());
      await expect
        .poll(() => isReady() || hasEnded(running), { timeout: patience, message: `${place}: ${command}` })
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

  /** The command with a token and a secret for their placeholders, and ids that exist for those of the page. */
  #real(command: string): string {
    return command
      .replaceAll("hf_…", "hf_local")
      .replaceAll("=…", "=s3cret")
      .replaceAll(idPattern, (id) => this.#webhookId ?? id);
  }

  #alike(line: string): string {
    return line
      .replaceAll(this.#options.hubUrl, "https://huggingface.co")
      .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{24})\b/g, "<id>")
      .replaceAll(/\d\d:\d\d:\d\d/g, "<time>")
      .replaceAll(/[\d.]+ (ms|s)\b/g, "<duration>");
  }
}

const idPattern = /\b[0-9a-f]{24}\b/g;

function withoutComment(command: string): string {
  return command.replace(/\s+# .*$/, "");
}

function hasEnded({ child }: Running): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Sends a signal to a command and to all that it has started. */
function signal(running: Running, name: NodeJS.Signals): void {
  if (running.child.pid !== undefined && !hasEnded(running)) process.kill(-running.child.pid, name);
}

/** How a command ends: by force, where it does not by itself. */
async function endOf(running: Running): Promise<ProgramResult> {
  const timer = setTimeout(() => signal(running, "SIGKILL"), patience);
  try {
    return await running.ended;
  } finally {
    clearTimeout(timer);
  }
}
