// @module-tag slow

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startDev } from "../../../src/dev/dev-session.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { openProject, optionsIn } from "../../dev/dev-project.ts";
import { expectAccessible, looks } from "../../support/browser.ts";
import { freePort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import {
  expectUsable,
  launchServer,
  type OpenServer,
  openInline,
  openServer,
  paneOf,
  readClipboard,
  rowsOf,
  shareBrowser,
  toastOf,
  visit,
} from "./open-console.ts";

const browser = shareBrowser();

/** Launches a server with a delivery in each state. */
async function launchFilled(): Promise<OpenServer> {
  const gate = Promise.withResolvers<void>();
  const opened = await launchServer((server) => {
    server.webhook("inline", ({ repo }, { log }) => {
      log.info({ repo: repo.name }, "Training");
      return { rows: 3 };
    });
    server.webhook("failing", ({ repo }, { log }) => {
      log.error({ repo: repo.name }, "No GPU");
      throw new Error("No GPU is left");
    });
    server.webhook("filtered", { repo: "dataset:acme/other" }, () => "done");
    server.webhook("dying", { background: true, attempts: 1 }, () => {
      throw new Error("Disk full");
    });
    server.webhook("retried", { background: true, attempts: 3, backoff: ["110ms", "1h"] }, () => {
      throw new Error("Quota reached");
    });
    server.webhook("slow", { background: true }, (_, { signal }) => {
      signal.addEventListener("abort", () => gate.resolve());
      return gate.promise;
    });
    server.webhook("paused", { background: true }, () => "done");
  });
  const { deliver, untilStatus, server } = opened;
  await server.inbox.pause("paused");
  for (const endpoint of ["inline", "failing", "filtered", "dying", "retried", "slow", "paused"]) {
    await deliver({ endpoint, id: "first" });
  }
  await untilStatus("dying", "first", "dead");
  await waitFor(async () =>
    expect((await server.inbox.get("first", { endpoint: "retried" }))?.attempts).toHaveLength(2),
  );
  await untilStatus("slow", "first", "running");
  return opened;
}

/** On a phone, the status filter and the navigation scroll sideways. */
const overlapped = [/status-toggle/, /\.total/, /data-color/, /navigation/];

const check = (page: Page) => expectUsable(page, { overlapped });

describe("In both color schemes and widths,", () => {
  let filled: OpenServer;
  beforeAll(async () => {
    filled = await launchFilled();
    return () => filled.server.close();
  });

  test("the sign-in page is accessible", async () => {
    const { url } = await openInline();
    browser.allow(/status of 401/);
    for (const { colorScheme, viewport } of looks) {
      const page = await browser.open(url, { colorScheme, viewport, isSignedIn: false });
      await page.getByLabel("Console token").fill("wrong");
      await check(page);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").waitFor();
      await check(page);
    }
  });

  test("the list of deliveries and its dialogs are accessible", async () => {
    const { url } = filled;
    for (const { colorScheme, viewport } of looks) {
      const page = await browser.open(url, { colorScheme, viewport });
      await expect.poll(() => rowsOf(page).count()).toBe(7);
      await check(page);
      await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
      await page.getByRole("dialog").waitFor();
      await check(page);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Replay dead…" }).click();
      await page.getByRole("dialog").getByText("1 dead delivery will run again").waitFor();
      await check(page);
      await page.keyboard.press("Escape");
      await visit(page, "#/deliveries?status=dead,failed&last=1h&search=full");
      await expect.poll(() => rowsOf(page).count()).toBe(1);
      await check(page);
      await visit(page, "#/deliveries?search=nothing");
      await page.getByRole("heading", { name: "No delivery matches the filters" }).waitFor();
      const filters = page.getByRole("button", { name: "Filters", exact: true });
      if (await filters.isVisible()) await filters.click();
      await check(page);
      await page.getByRole("combobox", { name: "Time" }).selectOption("custom");
      await page.getByRole("dialog", { name: "Received between" }).waitFor();
      await check(page);
    }
  });

  test("the endpoints, empty views, and failures are accessible", async () => {
    const { url } = filled;
    for (const { colorScheme, viewport } of looks) {
      const page = await browser.open(url, { colorScheme, viewport, hash: "#/endpoints" });
      await expect.poll(() => page.getByRole("article").count()).toBe(7);
      await check(page);
      await visit(page, "#/jobs");
      await page.getByRole("heading", { name: "This page does not exist here" }).waitFor();
      await check(page);
      await page.getByRole("link", { name: "go to the first one" }).click();
      await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
      browser.allow(/status of 404/);
      await visit(page, "#/deliveries/one?endpoint=inline&id=gone");
      await page.getByRole("heading", { name: "This delivery is no longer stored" }).waitFor();
      await check(page);
      await page.route(`${url}/_console/api/endpoints*`, (route) => route.abort());
      browser.allow(/ERR_FAILED/);
      await page.goto(`${url}/_console/#/endpoints`);
      await page.reload();
      await page.getByRole("heading", { name: "The server is not reachable" }).waitFor();
      await check(page);
    }
  });

  test("deliveries, messages, and the editor are accessible", async () => {
    const { url } = filled;
    browser.allow(/status of 422/);
    for (const { colorScheme, viewport } of looks) {
      const page = await browser.open(url, { colorScheme, viewport });
      for (const endpoint of ["failing", "filtered", "retried", "slow", "inline"]) {
        await visit(page, `#/deliveries/one?endpoint=${endpoint}&id=first`);
        await paneOf(page).locator(".facts").getByText(endpoint, { exact: true }).waitFor();
        await paneOf(page).getByRole("tree", { name: "Payload" }).waitFor();
        await check(page);
      }
      await paneOf(page).getByRole("button", { name: "Raw" }).click();
      await paneOf(page).getByRole("button", { name: "Replay", exact: true }).click();
      const toast = toastOf(page, "The delivery runs again.");
      await toast.waitFor();
      await check(page);
      await toast.getByRole("button", { name: "Close message" }).click();
      await toast.waitFor({ state: "detached" });
      await paneOf(page).getByRole("button", { name: "Edit and replay" }).click();
      const editor = page.getByRole("textbox", { name: "Payload" });
      await editor.fill((await editor.inputValue()).replace('"dataset"', "7"));
      await page.keyboard.press("Control+Enter");
      await page.getByRole("button", { name: /^Line \d+$/ }).waitFor();
      // axe counts the marks behind the text as if they were not clipped by the editor's frame.
      const marked = [/editor-mark/, /^dialog > p$/, /^p > bdi$/, /^li > button$/];
      await expectUsable(page, { overlapped: [...overlapped, ...marked] });
    }
  });

  test("an empty list, and the code to copy instead of endpoints, are accessible", async () => {
    const { url } = await openServer(() => {});
    for (const { colorScheme, viewport } of looks) {
      const page = await browser.open(url, { colorScheme, viewport });
      await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
      await check(page);
      await visit(page, "#/endpoints");
      await page.getByRole("heading", { name: "No endpoints yet" }).waitFor();
      await check(page);
      await page.getByRole("button", { name: "Copy command" }).click();
      await expect.poll(() => readClipboard(page)).toContain("server.webhook(");
    }
  });
});

describe("An error page is accessible, fits the width, and loads no other files", () => {
  /** Opens a URL in each color scheme and width. */
  async function checkPage(url: string, status: number, check: (page: Page) => Promise<void>) {
    // The browser also logs responses with status 4xx or 5xx as errors.
    browser.allow(/^Failed to load resource/);
    for (const { colorScheme, viewport, width } of looks) {
      const page = await browser.newPage({ colorScheme, viewport });
      expect((await page.goto(url))?.status()).toBe(status);
      await check(page);
      await expectAccessible(page);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
  }

  test.each([
    ["/nowhere", 404, "Page not found"],
    ["/webhooks/retrain", 405, "This URL only accepts deliveries"],
  ])("of a server at %s", async (path, status, heading) => {
    const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
    onTestFinished(() => server.close());
    server.webhook("retrain", () => {});
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    await checkPage(`${url}${path}`, status, async (page) => {
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(heading);
      // The fonts of the tokens have names in quotes.
      const font = await page.locator("code").evaluate((code) => getComputedStyle(code).fontFamily);
      expect(font).toContain('"Liberation Mono"');
    });
  });

  test("of a file that does not load, with the position of the error", async () => {
    const project = await openProject({
      "server.ts": "const deep = () => {\n  throw new TypeError('boom');\n};\ndeep();\nexport {};",
    });
    const broken = Promise.withResolvers<void>();
    const port = await freePort();
    const stop = new AbortController();
    const starting = startDev({
      ...optionsIn(project, { waitForFile: true, port, signal: stop.signal }),
      onEvent: ({ event }) => (event === "broken" ? broken.resolve() : undefined),
    }).catch(() => {});
    onTestFinished(async () => {
      stop.abort();
      await starting;
    });
    await broken.promise;
    await checkPage(`http://127.0.0.1:${port}/`, 503, async (page) => {
      expect(await page.locator("main").innerText()).toContain("TypeError: boom");
      expect(await page.locator("pre").innerText()).toContain("server.ts:4:1");
    });
  });
});
