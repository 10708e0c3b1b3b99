// @module-tag slow

import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { exampleNames, projectExamples } from "../../src/cli/commands/init-project.ts";
import { HubClient } from "../../src/hub/client.ts";
import { NonRetriableError, WebhooksServer } from "../../src/index.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { type Block, commandsOf, pages, projectOf, readBlocks, shellLanguages } from "../docs/doc-page.ts";
import { expectFree } from "../support/free-port.ts";
import { type LocaltunnelServer, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { type ProgramResult, runProgram, startProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { type PackageRegistry, pack, startPackageRegistry } from "./pack.ts";

/**
 * Runs the installed package directly, because npx takes longer than most commands. `dev` and packages that are not
 * installed run with npx.
 */
const npx = `#!/bin/sh
if [ "$1" = hub-webhooks ] && [ "$2" != dev ] && [ -x node_modules/.bin/hub-webhooks ]; then
  shift
  exec node_modules/.bin/hub-webhooks "$@"
fi
PATH="\${PATH#*:}"
exec npx "$@"
`;

/** Starts what a page assumes to be running or present before its first command. */
const preparations: Record<string, (place: { folder: string }) => Promise<void>> = {
  "docs/guides/operate-deliveries.md": startWithDeliveries,
  "docs/reference/hub-api.md": async () => {
    const hub = await LocalHub.launch({ port: 5050 });
    onTestFinished(() => hub.close());
  },
  "docs/guides/local-hub.md": async () => {
    const server = new WebhooksServer({ secret: "s3cret", logger: createMemoryLogger() });
    server.webhook("retrain", () => {});
    await start(server, 7860);
  },
};

/** Checks the results of a page beyond exit codes. */
const results: Record<string, (place: { hub: LocalHub; runner: PageRunner }) => Promise<void>> = {
  "docs/guides/local-development.md": async ({ hub, runner }) => {
    const { webhooks } = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const watched = async () => (await webhooks.list()).map((webhook) => webhook.watched);
    const data = { type: "dataset", name: "me/data" } as const;
    expect(await watched()).toContainEqual([data]);
    expect(await hub.push(data)).toMatchObject([{ status: 200, answer: '{"seen":"me/data"}' }]);
    await runner.end();
    expect(await watched()).not.toContainEqual([data]);
  },
  "docs/guides/run-as-a-job.md": async () => {
    const jobs = () => fetch("http://127.0.0.1:5050/_local/jobs").then((response) => response.json());
    await expect.poll(jobs, { timeout: 30_000 }).toMatchObject([{ status: { stage: "COMPLETED" } }]);
  },
  "docs/guides/observe.md": async () => {
    const headers = { authorization: `Basic ${btoa(`me:${consoleToken}`)}` };
    expect(await (await fetch("http://127.0.0.1:7860/metrics", { headers })).text()).toContain("hub_webhooks_");
  },
  "docs/guides/register-webhooks.md": async ({ hub }) => {
    const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const url = "https://me-bot.hf.space/webhooks/retrain";
    expect(await client.webhooks.list()).toContainEqual(expect.objectContaining({ url, secret: expect.anything() }));
  },
};

/** Returns the blocks of a page that a user runs, writes to a file, or compares with output. */
function stepsOf(page: string): Block[] {
  return readBlocks(page).filter(({ language, mark }) =>
    shellLanguages.includes(language) ? mark?.name !== "not run" : mark?.name === "file" || mark?.name === "output",
  );
}

const followed = pages.filter((page) => stepsOf(page).some(({ language }) => shellLanguages.includes(language)));

describe("The commands of", () => {
  let folder: string;
  let registry: PackageRegistry;
  let tunnel: LocaltunnelServer;
  let hub: LocalHub;
  let environment: Record<string, string | undefined>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "docs-commands-"));
    const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    registry = await startPackageRegistry({ tarball: await pack(folder), manifest, folder });
    hub = await LocalHub.launch();
    // Keep this process's environment, because it may configure npm's registry, but omit the variables that the package
    // reads.
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(HF_|HUB_|WEBHOOK_|PORT$|VITEST|NODE_(ENV|OPTIONS)$)/.test(name),
    );
    tunnel = await startLocaltunnelServer();
    environment = {
      ...Object.fromEntries(own),
      CURL_HOME: folder,
      LOCALTUNNEL_HOST: tunnel.url,
      ...registry.env,
    };
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", "npx"), npx, { mode: 0o755 });
    environment.PATH = `${join(folder, "bin")}:${environment.PATH}`;
    // By default, curl exits with 0 even for an error status.
    await writeFile(join(folder, ".curlrc"), "fail-with-body\nsilent\nshow-error\n");
    const installed = join(folder, "installed");
    await mkdir(installed);
    await writeFile(join(installed, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const install = await runProgram(["npm", "install", manifest.name], { cwd: installed, env: environment });
    expect(install.code, install.output).toBe(0);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([hub.close(), tunnel.close()]);
    await registry[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * Creates a folder for a page: with a copy of its project, empty if the page installs the package, or else with the
   * package installed.
   */
  async function makeFolder(page: string): Promise<string> {
    const own = join(folder, page.replaceAll(/\W/g, "-"));
    const project = projectOf(page);
    const commands = stepsOf(page).map(({ text }) => text);
    const modules = join(own, "node_modules");
    const example = exampleNames.find((name) => page === `examples/${name}/README.md`);
    // A project that `init` creates from an example depends on these packages.
    const dependencies: Record<string, string> = example ? projectExamples[example].dependencies : {};
    const packages = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    const installsMore = packages.length > 0 || commands.some((text) => /^npm install\b/m.test(text));
    const installsItself = commands.some((text) => /^npm install( --save-exact)?( hub-webhooks)?$/m.test(text));
    await mkdir(own);
    if (!installsItself) {
      const installed = join(folder, "installed");
      await cp(join(installed, "package.json"), join(own, "package.json"));
      if (installsMore) await cp(join(installed, "node_modules"), modules, { recursive: true, verbatimSymlinks: true });
      else await symlink(join(installed, "node_modules"), modules);
      // Pages without a server file use the one that `dev --create` writes.
      await cp(join(root, "templates", "starter", "server.ts"), join(own, "server.ts"));
    }
    if (packages.length > 0) {
      const install = await runProgram(["npm", "install", ...packages], { cwd: own, env: environment });
      expect(install.code, install.output).toBe(0);
    }
    if (project) await cp(project, own, { recursive: true, filter: (path) => !path.includes("node_modules") });
    return own;
  }

  test.each(followed)("%s have the documented results", { timeout: 240_000 }, async (page) => {
    const steps = stepsOf(page);
    const own = await makeFolder(page);
    // The pages use the default ports.
    for (const port of [5050, 7860]) await expectFree(port);
    await preparations[page]?.({ folder: own });
    // Pages that read this variable expect the user to have set it.
    const hasSecret = steps.some(({ text }) => text.includes("$WEBHOOK_SECRET"));
    const env = hasSecret ? { ...environment, WEBHOOK_SECRET: "s3cret" } : environment;
    const runner = new PageRunner({ folder: own, env, hubUrl: hub.url });
    try {
      for (const step of steps) {
        if (step.mark?.name === "file") await runner.write(step.mark.value, step);
        else if (step.mark?.name === "output") await runner.expectOutput(step);
        else await runner.run(step);
      }
      await results[page]?.({ hub, runner });
    } finally {
      await runner.end();
    }
  });
});

/** Runs a server on the inbox of a page's folder. Every half second, it receives a delivery that becomes dead. */
async function startWithDeliveries({ folder }: { folder: string }): Promise<void> {
  const server = new WebhooksServer({
    secret: "s3cret",
    logger: createMemoryLogger(),
    inbox: `sqlite:${join(folder, ".hub-webhooks", "inbox.db")}`,
  });
  server.webhook("retrain", { background: true }, () => {
    throw new NonRetriableError("There is nothing to train with.");
  });
  const { url: baseUrl } = await start(server, 7860);
  const deliver = async (id: string = crypto.randomUUID()) => {
    const payload = webhookPayload("repo.content", { repo: { type: "dataset", name: "me/data" } });
    const { status } = await fetch(deliveryRequest({ endpoint: "retrain", payload, id, baseUrl, secret: "s3cret" }));
    expect(status).toBe(202);
  };
  // The IDs that the pages use.
  for (const id of ["0f3c9a1e-7d52-4c8b-9f10-2b6a51f0c7de", "0f3c9a1e-delivery-id"]) await deliver(id);
  await expect.poll(() => server.inbox.counts()).toMatchObject({ retrain: { dead: 2 } });
  const stop = new AbortController();
  const delivering = (async () => {
    for (; !stop.signal.aborted; await wait(500)) await deliver();
  })();
  // Before the server closes, which would reset the connection of a delivery.
  onTestFinished(() => {
    stop.abort();
    return delivering;
  });
}

async function start(server: WebhooksServer, port: number): Promise<{ url: string }> {
  const running = await server.launch({ port, handleSignals: false });
  onTestFinished(() => server.close());
  return running;
}

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
const consoleToken = "t0ken-of-the-owner";

/** Matches the last command of a line, with the variables that are set for it. */
const lastCommand = /((?:\w+=\S+\s+)*)((?:npx|npm|node) [^&;|]*)$/;

type Running = ReturnType<typeof startProgram>;

interface PageRunnerOptions {
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
class PageRunner {
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
