import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HubClient } from "../../src/hub/client.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { expectFree } from "../support/free-port.ts";
import { type LocaltunnelServer, startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { startProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { pack } from "./pack.ts";

const page = "docs/guides/local-development.md";

const skipped = process.env.SLOW_TESTS !== "1";
if (skipped) console.warn(`Skipped the commands of ${page}, which install the package. Set SLOW_TESTS=1 to run them.`);

/** Returns the commands of each block of the guide, with the heading of its section. */
async function readGuide(): Promise<{ heading: string; commands: string }[]> {
  const text = await readFile(join(root, page), "utf8");
  return text.split(/^#+ /m).flatMap((section) => {
    const heading = section.split("\n")[0] ?? "";
    const blocks = section.matchAll(/^( *)```sh\n(.*?)^ *```$/gms);
    return [...blocks].map(([, , commands = ""]) => ({ heading, commands: commands.trim() }));
  });
}

type Running = ReturnType<typeof startProgram>;

describe.skipIf(skipped)(`${page}, followed in an empty folder`, () => {
  let folder: string;
  let tarball: string;
  let hub: LocalHub;
  let tunnel: LocaltunnelServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "guide-"));
    tarball = await pack(await mkdtemp(join(tmpdir(), "guide-package-")));
    // Replacements for the Hub and the public tunnel server.
    hub = await LocalHub.launch();
    tunnel = await startLocaltunnelServer();
    // The guide uses the default ports.
    for (const port of [5050, 7860]) await expectFree(port);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([hub.close(), tunnel.close(), rm(folder, { recursive: true, force: true })]);
  });

  test("each command has the documented result", { timeout: 180_000 }, async () => {
    // Keep this process's environment, because it may configure npm's registry, but omit the variables that the package
    // reads.
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(HF_|HUB_|WEBHOOK_|PORT$|VITEST|NODE_(ENV|OPTIONS)$)/.test(name),
      ),
    );
    let dev: Running | undefined;
    const startedAt = performance.now();
    let firstUse: number | undefined;
    let commandCount = 1;
    try {
      // The quick start has already installed the package.
      const install = startProgram(["npm", "install", "--no-audit", "--no-fund", tarball], {
        cwd: folder,
        env: environment,
      });
      const installed = await install.ended;
      expect(installed.code, installed.output).toBe(0);
      for (const { heading, commands } of await readGuide()) {
        const isReal = heading === "Receive events from the real Hub";
        const script = commands.replace("HF_TOKEN=hf_…", "HF_TOKEN=hf_local");
        const env = isReal
          ? { ...environment, HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local", LOCALTUNNEL_HOST: tunnel.url }
          : environment;
        const isDev = /^npx hub-webhooks dev/m.test(script);
        if (isDev) await end(dev);
        commandCount += 1;
        // With "exec", signals go to the command instead of the shell.
        const lines = script.split("\n");
        const last = lines.pop() ?? "";
        const running = startProgram(["sh", "-ec", [...lines, isDev ? `exec ${last}` : last].join("\n")], {
          cwd: folder,
          env,
          detached: true,
        });
        if (isDev) {
          dev = running;
          await expect.poll(running.output, { timeout: 30_000 }).toContain("Press Ctrl+C to stop.");
          continue;
        }
        const { code, output } = await running.ended;
        expect(code, `${script}\n${output}`).toBe(0);
        if (firstUse === undefined && /trigger/.test(script)) {
          await expect.poll(() => dev?.output()).toMatch(/✓ 200 {2}on_change {2}dataset:local-user\/data/);
          firstUse = performance.now() - startedAt;
          console.log(`First use: ${commandCount} commands, ${(firstUse / 1000).toFixed(1)} s from an empty folder.`);
        }
      }
      expect(firstUse).toBeDefined();
      const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
      expect((await client.webhooks.list()).map(({ watched }) => watched)).toEqual([
        [{ type: "dataset", name: "me/data" }],
      ]);
      const [delivered] = await hub.push({ type: "dataset", name: "me/data" });
      expect(delivered).toMatchObject({ status: 200, answer: '{"seen":"me/data"}' });
      await end(dev);
      dev = undefined;
      expect(await client.webhooks.list()).toEqual([]);
    } finally {
      if (dev) interrupt(dev);
    }
  });
});

async function end(running: Running | undefined): Promise<void> {
  if (!running) return;
  interrupt(running);
  const { code, output } = await running.ended;
  // npx itself exits with the signal.
  expect(running.child.signalCode ?? code, output).toBeOneOf([0, "SIGINT"]);
  expect(output).toContain("Stopping: deleting the webhooks of this session.");
}

/** Sends SIGINT to npx and all its child processes, like Ctrl+C in a terminal. */
function interrupt({ child }: Running): void {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
    process.kill(-child.pid, "SIGINT");
}
