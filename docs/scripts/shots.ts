/**
 * Takes the screenshots of the docs from real runs of the built package, each in the light and the dark theme:
 *
 *     npm run docs:shots
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { launchBrowser } from "../../test/support/browser.ts";
import { toPalettePng } from "./palette-png.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const images = fileURLToPath(new URL("../images/", import.meta.url));

const temporary = mkdtempSync(join(tmpdir(), "docs-shots-"));
/** The user's project, with a copy of the package: stacks leave out frames of packages, but not of this repository. */
const folder = join(temporary, "my-bot");
const installed = join(folder, "node_modules/hub-webhooks");

/** The landing page after the quick start. */
async function shootLandingPage(page: Page, encoder: Page): Promise<void> {
  await using _dev = await start(["dev", "--create"], /Press Ctrl\+C to stop/);
  await finish(["trigger", "dataset:local-user/data"]);
  await page.goto("http://127.0.0.1:7860", { waitUntil: "networkidle" });
  await shoot(page, { name: "landing", encoder });
}

/** The console of a session with deliveries of each status. */
async function shootConsole(page: Page, encoder: Page): Promise<void> {
  const file = join(folder, "bot.ts");
  writeFileSync(file, bot);
  await using dev = await start(["dev", "bot.ts"], /Press Ctrl\+C to stop/);
  const [, link = ""] = /^ *console +(\S+)/m.exec(dev.output()) ?? [];
  const [, hubUrl = ""] = /^ *Hub +(http\S+)/m.exec(dev.output()) ?? [];
  await page.goto(link);
  await page.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
  for (const event of events) await fire(hubUrl, event);
  // Until the last attempts have failed.
  await sleep(4_000);
  await page.reload();

  const rows = page.locator(".row-link");
  await page.getByText("Dead", { exact: true }).nth(1).waitFor();
  await shoot(page, { name: "console-deliveries", encoder });

  await page.goto(`${consoleUrl(page)}#/deliveries?status=dead`);
  await rows.first().click();
  await page.getByText("Attempt 3").waitFor();
  await shoot(page, { name: "console-delivery", encoder });

  await page.goto(`${consoleUrl(page)}#/send?scope=discussion.comment&action=create&repository=dataset:acme/reviews`);
  await page.getByText("Receives").first().waitFor();
  await shoot(page, { name: "console-send", encoder });

  await page.goto(`${consoleUrl(page)}#/webhooks`);
  await rows.first().click();
  await page.getByRole("heading", { name: "Attempts" }).waitFor();
  await shoot(page, { name: "console-webhooks", encoder });

  await page.goto(`${consoleUrl(page)}#/deliveries`);
  writeFileSync(file, bot.replace("server.webhook(", "server.webhok("));
  await page.getByRole("dialog").waitFor();
  await shoot(page, { name: "console-reload", encoder });
}

const bot = `import { RetryAfterError, WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

server.webhook(
  "retrain",
  { watch: "org:acme", scope: "repo.content", background: true, backoff: ["1s", "1s"] },
  async ({ repo, updatedRefs }, { log, delivery, signal }) => {
    log.info({ repo: repo.name, revision: updatedRefs?.[0]?.newSha }, "Starting a training job.");
    if (repo.name === "acme/playground") await new Promise((resolve) => signal.addEventListener("abort", resolve));
    if (repo.name === "acme/sentiment") throw new RetryAfterError("20m");
    if (repo.name === "acme/salaries") {
      log.warn({ attempt: delivery.attempt }, "The trainer has no free GPU.");
      throw new Error("The trainer answered 503: out of GPU memory.");
    }
    return { job: "train-" + delivery.id.slice(0, 8), dataset: repo.name };
  },
);

server.webhook("reply", { watch: "org:acme", scope: "discussion.comment" }, async ({ comment }, { log }) => {
  log.info({ author: comment?.author.id }, "Answering a comment.");
  if (comment?.content?.includes("urgent")) throw new TypeError("Cannot read properties of undefined (reading 'id')");
  return { answered: true };
});

server.webhook("check_card", { watch: "dataset:acme/translations", scope: "repo.config", background: true }, ({ repo }) => repo.name);

export default server;
await server.launch();
`;

interface Event {
  repo: string;
  scope?: string;
  comment?: string;
}

const pushed = ["reviews", "translations", "reviews", "notes", "translations", "reviews"];
const events: readonly Event[] = [
  ...pushed.map((name) => ({ repo: `dataset:acme/${name}` })),
  { repo: "dataset:acme/reviews", scope: "discussion.comment", comment: "@bot which license is this?" },
  { repo: "dataset:acme/salaries" },
  { repo: "dataset:acme/translations", scope: "repo.config" },
  { repo: "dataset:acme/reviews", scope: "discussion.comment", comment: "@bot urgent: the split is wrong" },
  { repo: "model:acme/sentiment" },
  { repo: "dataset:acme/translations", scope: "discussion.comment", comment: "@bot thanks!" },
  { repo: "dataset:acme/reviews" },
  { repo: "space:acme/playground" },
];

/** Sends an event from the local Hub, and waits until each endpoint has answered. */
async function fire(hubUrl: string, { repo, scope = "repo.content", comment }: Event): Promise<void> {
  const [type, name] = repo.split(":");
  const response = await fetch(`${hubUrl}/_local/events?wait=true`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      repo: { type, name },
      event: { scope, action: scope === "discussion.comment" ? "create" : "update" },
      ...(comment !== undefined && { comment: { content: comment } }),
    }),
  });
  if (!response.ok) throw new Error(`The local Hub answered ${response.status}: ${await response.text()}`);
}

/** Returns the URL of the open console without its route. */
function consoleUrl(page: Page): string {
  return page.url().split("#", 1)[0] ?? "";
}

/** Takes a screenshot in both themes: `name.png` and `name-dark.png`. */
async function shoot(page: Page, { name, encoder }: { name: string; encoder: Page }): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // The last requests of a view, and toasts and tooltips of the action before.
    await page.mouse.move(960, 4);
    await sleep(1_000);
    const png = await page.screenshot({ animations: "disabled", caret: "hide" });
    const file = join(images, colorScheme === "dark" ? `${name}-dark.png` : `${name}.png`);
    writeFileSync(file, await toPalettePng(encoder, png));
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Runs a command of the built package. */
function run(args: readonly string[]) {
  return spawn(process.execPath, [join(installed, "dist/cli/bin.js"), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Starts a command that runs until it is disposed of, and waits for its output. */
async function start(args: readonly string[], ready: RegExp) {
  const child = run(args);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += String(chunk);
    });
  }
  while (!ready.test(output)) {
    if (child.exitCode !== null) throw new Error(`${args.join(" ")} exited:\n${output}`);
    await sleep(50);
  }
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

async function finish(args: readonly string[]): Promise<void> {
  const [code] = await once(run(args), "exit");
  if (code !== 0) throw new Error(`${args.join(" ")} exited with ${code}.`);
}

const browser = await launchBrowser();
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const encoder = await context.newPage();
  const page = await context.newPage();
  for (const name of ["dist", "templates", "package.json"]) {
    cpSync(join(root, name), join(installed, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await shootLandingPage(page, encoder);
  await shootConsole(page, encoder);
} finally {
  await browser.close();
  rmSync(temporary, { recursive: true, force: true });
}
