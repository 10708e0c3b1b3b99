// @module-tag slow

import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { looks, narrow } from "../../support/browser.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import {
  consoleToken,
  expectNoSidewaysScrolling,
  expectUsable,
  openInline,
  openServer,
  readClipboard,
  rowsOf,
  secret,
  shareBrowser,
} from "./open-console.ts";

const browser = shareBrowser();
const options = { hash: "#/inbox" };

function declareAll(server: WebhooksServer): void {
  server.webhook("inline", () => "done");
  server.webhook("works", { background: true, retention: "36h" }, () => "done");
  server.webhook("dying", { background: true, attempts: 1 }, () => {
    throw new Error("Disk full");
  });
  server.webhook("update_the_dataset_cards_of_all_translations", { background: true }, () => "done");
}

/** Opens a server with deliveries in several states. */
async function openFilled() {
  const file = inboxFile();
  const opened = await openServer(declareAll, { inbox: `sqlite:${file}` });
  const { deliver, untilStatus, server } = opened;
  await server.inbox.pause("update_the_dataset_cards_of_all_translations");
  for (const id of ["first", "second"]) {
    await deliver({ endpoint: "dying", id });
    await untilStatus("dying", id, "dead");
  }
  await deliver({ endpoint: "works", id: "first" });
  await untilStatus("works", "first", "succeeded");
  await deliver({ endpoint: "update_the_dataset_cards_of_all_translations", id: "first" });
  return { ...opened, file };
}

/** Opens a server whose inbox cannot be opened. */
async function openUnavailable(): Promise<string> {
  const server = new WebhooksServer({
    ...{ secret, consoleToken, logger: createMemoryLogger() },
    inbox: "redis://user:pl4nted-9a27c1d0@127.0.0.1:1/3",
  });
  server.webhook("works", { background: true }, () => "done");
  onTestFinished(() => server.close());
  const fetch = (request: Request) => server.fetch(request);
  const { url } = await listen(createServer(getRequestListener(fetch, { overrideGlobalObjects: false })));
  return url;
}

test("The view shows where the inbox is and what it contains, and each number links to its deliveries", async () => {
  const { url, file } = await openFilled();
  const page = await browser.open(url, options);
  const storage = page.getByRole("region", { name: "Storage" });
  await storage.getByRole("heading", { name: "SQLite file" }).waitFor();
  for (const text of ["Open", "Survives process restarts", file])
    await storage.getByText(text, { exact: true }).waitFor();
  await storage.getByRole("button", { name: "Copy location" }).click();
  await expect.poll(() => readClipboard(page)).toBe(file);

  const table = page.getByRole("table");
  const works = table.getByRole("row", { name: /works/ });
  expect(await works.getByRole("cell").allInnerTexts()).toEqual(["0", "0", "0", "1", "0", "0", "1 d 12 h"]);
  await table
    .getByRole("row", { name: /translations/ })
    .getByText("Paused")
    .waitFor();
  const total = table.getByRole("row", { name: /All endpoints/ });
  expect(await total.getByRole("cell").allInnerTexts()).toEqual(["1", "0", "2", "1", "0", "0", ""]);
  expect(await table.getByText("inline").count()).toBe(0);

  await table.getByRole("row", { name: /dying/ }).getByRole("link", { name: "2" }).click();
  await page.waitForURL("**#/deliveries?endpoint=dying&status=dead");
  await expect.poll(() => rowsOf(page).count()).toBe(2);
  await page.goBack();
  await page.getByRole("link", { name: "Replay dead" }).click();
  await page.waitForURL("**#/deliveries?status=dead");
  await page.getByRole("button", { name: "Replay dead…" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Pause or resume" }).click();
  await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
});

test("The numbers change while the view is open", async () => {
  const { url, deliver } = await openServer(declareAll);
  const page = await browser.open(url, options);
  const row = page.getByRole("row", { name: /dying/ });
  await row.waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await row.getByRole("link").count()).toBe(0);
  await deliver({ endpoint: "dying" });
  await row.getByRole("link", { name: "1" }).waitFor();
});

test("Without background endpoints, the view shows code that adds one", async () => {
  const file = inboxFile();
  const { url } = await openInline({ inbox: `sqlite:${file}` });
  const page = await browser.open(url, options);
  await page.getByRole("heading", { name: "No endpoint runs in the background" }).waitFor();
  await page.getByText(file).waitFor();
  await page.getByRole("button", { name: "Copy command" }).click();
  await expect.poll(() => readClipboard(page)).toContain("background: true");
});

test("An inbox that cannot be opened shows the code and the next step, but no password", async () => {
  const page = await browser.open(await openUnavailable(), options);
  const storage = page.getByRole("region", { name: "Storage" });
  await storage.getByText("INBOX_UNUSABLE").waitFor();
  await storage.getByText("Check INBOX_URL").waitFor();
  for (const text of ["Unavailable", "127.0.0.1:1"]) await storage.getByText(text, { exact: true }).waitFor();
  expect(await page.content()).not.toMatch(/pl4nted|user:/);
});

test("Problems, warnings, and large numbers fit on a phone", async () => {
  const { url } = await openFilled();
  const page = await browser.open(url, { hash: "#/deliveries", viewport: narrow });
  const info = await (await page.request.get(`${url}/_console/api/inbox`)).json();
  const [endpoint] = info.contents.endpoints;
  const counts = {
    ...{ queued: 98_765, running: 4_096, dead: 12_345_678 },
    ...{ succeeded: 987_654_321, ignored: 54_321, cancelled: 54_321 },
  };
  const address = `/data/${"very-long-name".repeat(9)}/inbox.db`;
  const shown = {
    ...info,
    state: "degraded",
    location: { ...info.location, address },
    problems: [
      { code: "INBOX_DAMAGED", severity: "degraded", message: `Records of ${address} are missing.` },
      { code: "INBOX_STALLED", severity: "unavailable", message: "Deliveries could not be claimed." },
    ],
    contents: {
      endpoints: [
        { ...endpoint, name: "a".repeat(128), counts, isServed: false, isPaused: true },
        { ...endpoint, name: "other", counts },
      ],
    },
  };
  await page.route(`${url}/_console/api/inbox`, (route) => route.fulfill({ json: shown }));
  await page.goto(`${url}/_console/#/inbox`);
  await page.getByText("Not on this server").waitFor();
  await page.getByText("INBOX_STALLED").waitFor();
  await expectNoSidewaysScrolling(page);
  const frame = page.locator(".table-frame");
  expect(await frame.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  await expectUsable(page);
});

describe.each(looks)("In $colorScheme, $width pixels wide,", ({ colorScheme, viewport }) => {
  const look = { ...options, colorScheme, viewport };

  test("the inbox is accessible", async () => {
    const { url } = await openFilled();
    const page = await browser.open(url, look);
    await page.getByRole("row", { name: /All endpoints/ }).waitFor();
    await expectUsable(page);
  });

  test("an inbox that a restart erases, an unavailable one, and the empty view are accessible", async () => {
    vi.stubEnv("SPACE_ID", "acme/bot");
    vi.stubEnv("SPACE_HOST", "acme-bot.hf.space");
    const space = await browser.open((await openServer(declareAll)).url, look);
    await space.getByText("Erased when the Space restarts").waitFor();
    await expectUsable(space);
    const unavailable = await browser.open(await openUnavailable(), look);
    await unavailable.getByText("INBOX_UNUSABLE").waitFor();
    await expectUsable(unavailable);
    const empty = await browser.open((await openServer(() => {})).url, look);
    await empty.getByRole("heading", { name: "No endpoint runs in the background" }).waitFor();
    await expectUsable(empty);
  });
});
