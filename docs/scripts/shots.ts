/**
 * Takes the screenshots of the docs from real runs of the built package:
 *
 *     npm run docs:shots
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../../test/support/browser.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const images = fileURLToPath(new URL("../images/", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "docs-shots-"));
const browser = await launchBrowser();
try {
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/hub-webhooks"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await shootQuickStart(browser);
  await shootDashboard(browser);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

/** The landing page after the quick start. */
async function shootQuickStart(browser: Browser): Promise<void> {
  await using _dev = await start(["hub-webhooks", "dev", "--create"], /Press Ctrl\+C to stop/);
  await finish(["hub-webhooks", "trigger", "dataset:local-user/data"]);
  await shoot(browser, { url: "http://127.0.0.1:7860", file: "landing.png" });
}

/** The dashboard with deliveries that succeeded, failed and wait. */
async function shootDashboard(browser: Browser): Promise<void> {
  writeFileSync(
    join(folder, "bot.ts"),
    `import { WebhooksServer } from "hub-webhooks";
const server = new WebhooksServer();
server.webhook("retrain", { background: true, scope: "repo.content" }, async ({ repo }) => {
  if (repo.name.endsWith("/slow")) await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (repo.name.endsWith("/flaky")) throw new Error("The training service answered 503.");
  return { training: repo.name };
});
await server.launch();
`,
  );
  const env = { DASHBOARD_TOKEN: "docs", WEBHOOK_SECRET: "s3cret", INBOX_URL: "sqlite::memory:" };
  await using _server = await start(["node", "bot.ts"], /is ready/, env);
  for (const name of ["me/data", "me/images", "me/flaky", "me/texts", "me/slow"]) {
    const url = "http://127.0.0.1:7860/webhooks/retrain";
    await finish(["hub-webhooks", "trigger", `dataset:${name}`, "--url", url, "--secret", "s3cret"]);
  }
  const credentials = { username: "me", password: "docs" };
  await shoot(browser, { url: "http://127.0.0.1:7860/_deliveries", file: "dashboard.png", credentials });
}

async function shoot(
  browser: Browser,
  { url, file, credentials }: { url: string; file: string; credentials?: { username: string; password: string } },
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "light",
    ...(credentials && { httpCredentials: credentials }),
  });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "networkidle" });
  await page.screenshot({ path: join(images, file) });
  await context.close();
}

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [program = "", ...args] = command;
  const isOurs = program === "hub-webhooks";
  const all = [...(isOurs ? [join(root, "dist/cli/bin.js")] : []), ...args];
  return spawn(process.execPath, all, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Starts a program that runs until it is disposed of, and waits for its output. */
async function start(command: readonly string[], ready: RegExp, env?: Readonly<Record<string, string>>) {
  const child = run(command, env);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk);
    });
  }
  while (!ready.test(output)) {
    if (child.exitCode !== null) throw new Error(`${command.join(" ")} exited:\n${output}`);
    await sleep(50);
  }
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

async function finish(command: readonly string[]): Promise<void> {
  const [code] = await once(run(command), "exit");
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}.`);
}
