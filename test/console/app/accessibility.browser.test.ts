// @module-tag slow

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { looks } from "../../support/browser.ts";
import {
  expectUsable,
  type OpenPageOptions,
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

/** Opens a server with a delivery in each state, and a page that is signed in. */
async function openFilled(options: OpenPageOptions): Promise<OpenServer & { page: Page }> {
  const gate = Promise.withResolvers<void>();
  const opened = await openServer((server) => {
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
  await expect
    .poll(() => server.inbox.get("first", { endpoint: "retried" }).then((found) => found?.attempts.length))
    .toBe(2);
  await untilStatus("slow", "first", "running");
  return { ...opened, page: await browser.open(opened.url, options) };
}

/** On a phone, the status filter and the navigation scroll sideways. */
const overlapped = [/status-toggle/, /\.total/, /data-color/, /navigation/];

describe.each(looks)("In $colorScheme, $width pixels wide,", ({ colorScheme, viewport }) => {
  const options = { colorScheme, viewport };
  const check = (page: Page) => expectUsable(page, { overlapped });

  test("the sign-in page is accessible", async () => {
    const { url } = await openInline();
    browser.allow(/status of 401/);
    const page = await browser.open(url, { ...options, isSignedIn: false });
    await page.getByLabel("Console token").fill("wrong");
    await check(page);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await check(page);
  });

  test("the list of deliveries and its dialogs are accessible", async () => {
    const { page } = await openFilled(options);
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
  });

  test("deliveries, messages, and the editor are accessible", async () => {
    const { page } = await openFilled(options);
    browser.allow(/status of 422/);
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
  });

  test("the endpoints, empty views, and failures are accessible", async () => {
    const { page, url } = await openFilled({ ...options, hash: "#/endpoints" });
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
  });

  test("an empty list, and the code to copy instead of endpoints, are accessible", async () => {
    const { url } = await openServer(() => {});
    const page = await browser.open(url, options);
    await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
    await check(page);
    await visit(page, "#/endpoints");
    await page.getByRole("heading", { name: "No endpoints yet" }).waitFor();
    await check(page);
    await page.getByRole("button", { name: "Copy command" }).click();
    await expect.poll(() => readClipboard(page)).toContain("server.webhook(");
  });
});
