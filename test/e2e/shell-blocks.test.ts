// @module-tag slow

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
import { type Block, pages, projectOf, readBlocks, shellLanguages } from "../docs/doc-page.ts";
import { expectFree } from "../support/free-port.ts";
import { type LocaltunnelServer, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { type PackageRegistry, pack, startPackageRegistry } from "./pack.ts";
import { consoleToken, PageRunner } from "./page-runner.ts";

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
