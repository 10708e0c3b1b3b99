// @module-tag slow

import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { webhookPayload } from "../../../src/testing.ts";
import { runTrigger } from "../../cli/run-command.ts";
import { wide } from "../../support/browser.ts";
import {
  launchServer,
  type OpenServer,
  openInline,
  openServer,
  readClipboard,
  rowsOf,
  secret,
  shareBrowser,
  visit,
} from "./open-console.ts";

const browser = shareBrowser();

/** Returns the IDs in the list, newest first. */
function idsOf(page: Page): Promise<string[]> {
  return rowsOf(page).evaluateAll((rows) =>
    rows.map((row) => {
      const [, id]: string[] = JSON.parse(row.getAttribute("data-key") ?? "[]");
      return id ?? "";
    }),
  );
}

/** Waits until the list contains these deliveries, in any order. */
async function expectIds(page: Page, ids: readonly string[]): Promise<void> {
  await expect.poll(async () => (await idsOf(page)).toSorted(), { interval: 30 }).toEqual(ids.toSorted());
}

/** Returns the cells of the row of a delivery, by their columns. */
async function cellsOf(page: Page, id: string): Promise<Record<string, string>> {
  const cells = page.locator(`tr[data-key*='"${id}"'] td`);
  return Object.fromEntries(
    await cells.evaluateAll((all) =>
      all.map((cell) => [cell.className.split(" ")[0]?.replace("cell-", ""), cell.textContent?.trim()]),
    ),
  );
}

/** The URL of a server with a delivery in each state, which no test changes. */
let varied: string;
beforeAll(async () => {
  const opened = await launchServer((server) => {
    server.webhook("inline", ({ event }) => {
      if (event.scope === "repo.config") throw new Error("No GPU is left");
      return "done";
    });
    server.webhook("filtered", { repo: "dataset:acme/other" }, () => "done");
    server.webhook("retried", { background: true, attempts: 2, backoff: ["1h"] }, () => {
      throw new Error("Quota reached");
    });
    server.webhook("dying", { background: true, attempts: 1 }, () => {
      throw new Error("Disk full");
    });
    server.webhook("stored", { background: true }, () => "done");
  });
  const { deliver, untilStatus } = opened;
  const failing = webhookPayload("repo.config", { repo: { type: "model", name: "acme/model" } });
  const discussion = webhookPayload("discussion", { event: { action: "create" }, repo: { name: "globex/news" } });
  await deliver({ endpoint: "inline", id: "good" });
  await deliver({ endpoint: "inline", id: "bad", payload: failing });
  await deliver({ endpoint: "filtered", id: "ignored" });
  await deliver({ endpoint: "stored", id: "opened", payload: discussion });
  await deliver({ endpoint: "retried", id: "again" });
  await deliver({ endpoint: "dying", id: "dead-one", name: "globex/data" });
  await untilStatus("stored", "opened", "succeeded");
  await untilStatus("retried", "again", "retrying");
  await untilStatus("dying", "dead-one", "dead");
  varied = opened.url;
  return () => opened.server.close();
});

const allIds = ["good", "bad", "ignored", "opened", "again", "dead-one"];

test("The list shows inline and background deliveries with all their columns, and a click in a row opens the delivery", async () => {
  const page = await browser.open(varied);
  await expectIds(page, allIds);
  expect(await page.getByRole("columnheader").allTextContents()).toEqual([
    ...["Status", "Event", "Repository", "Endpoint", "Duration", "Attempts", "Next attempt or error", "Time"],
  ]);
  expect(await cellsOf(page, "again")).toEqual({
    ...{ status: "Retrying", event: "repo.content update", repository: "dataset acme/data main", endpoint: "retried" },
    ...{ duration: expect.stringMatching(/ ms$/), attempts: "1", next: expect.stringMatching(/^in (\d+ min|1 h)/) },
    time: expect.stringMatching(/\d\d:\d\d:\d\d$/),
  });
  expect(await cellsOf(page, "good")).toMatchObject({ status: "Succeeded", attempts: "1", next: "" });
  expect(await cellsOf(page, "bad")).toMatchObject({
    status: "Failed",
    repository: "acme/model",
    next: "No GPU is left",
  });
  expect(await cellsOf(page, "ignored")).toMatchObject({
    status: "Ignored",
    attempts: "0",
    next: expect.stringContaining("acme/other"),
  });
  expect(await cellsOf(page, "dead-one")).toMatchObject({ status: "Dead", attempts: "1", next: "Disk full" });
  const link = rowsOf(page).getByRole("link", { name: "Open globex/data on the Hub" });
  expect(await link.getAttribute("href")).toBe("https://huggingface.co/datasets/globex/data");
  expect(await link.getAttribute("rel")).toBe("noreferrer noopener");

  await page.locator('tr[data-key*="dead-one"] .subject bdi').click({ force: true });
  await expect.poll(() => page.url()).toContain("id=dead-one");
  await page.goBack();
  await page.locator('tr[data-key*="bad"] .cell-next').click({ force: true });
  await expect.poll(() => page.url()).toContain("id=bad");
});

test("Deliveries appear and change while the list is open", async () => {
  const gate = Promise.withResolvers<string>();
  const { url, deliver } = await openServer((server) => {
    server.webhook("slow", { background: true }, () => gate.promise);
  });
  const page = await browser.open(url);
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  await deliver({ endpoint: "slow", id: "live" });
  const row = rowsOf(page);
  await row.getByText("Running").waitFor();
  // The console collects changes for a moment. The end of the attempt is a change of its own.
  gate.resolve("done");
  await row.getByText("Succeeded").waitFor();
  expect(await rowsOf(page).count()).toBe(1);
});

test("Any number of tabs can be open, because hidden ones leave their connections to the others", async () => {
  const { url, deliver } = await openInline();
  const first = await browser.open(url);
  // Chromium reports each page of a test as visible.
  const setHidden = (page: Page, isHidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { configurable: true, value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  for (let page = first, tabs = 1; tabs <= 7; tabs += 1) {
    await page.getByText("Live", { exact: true }).waitFor();
    await setHidden(page, true);
    page = await first.context().newPage();
    await page.goto(`${url}/_console/`);
  }
  await deliver({ endpoint: "inline", id: "missed" });
  expect(await idsOf(first)).toEqual([]);
  await setHidden(first, false);
  await expectIds(first, ["missed"]);
});

test("Rows do not move under the pointer: new ones wait behind a button", async () => {
  const { url, deliver } = await openInline();
  for (const id of ["first", "second"]) await deliver({ endpoint: "inline", id });
  const page = await browser.open(url);
  await expectIds(page, ["first", "second"]);
  await rowsOf(page).last().hover();
  const before = await rowsOf(page).last().boundingBox();
  await deliver({ endpoint: "inline", id: "third" });
  await page.getByRole("button", { name: "1 new", exact: true }).waitFor();
  await deliver({ endpoint: "inline", id: "fourth" });
  const button = page.getByRole("button", { name: "2 new", exact: true });
  await button.waitFor();
  expect(await idsOf(page)).toEqual(["second", "first"]);
  expect(await rowsOf(page).last().boundingBox()).toEqual(before);
  await button.click();
  expect(await idsOf(page)).toEqual(["fourth", "third", "second", "first"]);
  await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe("row-link");

  await deliver({ endpoint: "inline", id: "fifth" });
  await page.getByRole("button", { name: "1 new", exact: true }).waitFor();
  // Nothing points at the list any longer, neither the pointer nor the focus.
  await page.mouse.move(10, 10);
  await page.getByRole("button", { name: "Keyboard shortcuts" }).focus();
  await expectIds(page, ["fifth", "fourth", "third", "second", "first"]);
});

test("At least 18 rows fit on a screen of 1280 × 800 pixels, and rows wait while the list is scrolled down", async () => {
  const { url, deliver } = await openInline();
  await Promise.all(Array.from({ length: 60 }, () => deliver({ endpoint: "inline" })));
  const page = await browser.open(url, { viewport: wide });
  await rowsOf(page).nth(40).waitFor();
  const bottoms = await rowsOf(page).evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().bottom));
  expect(bottoms.filter((bottom) => bottom <= wide.height).length).toBeGreaterThanOrEqual(18);
  const scroller = page.locator(".list-scroller");
  await scroller.evaluate((element) => element.scrollTo({ top: 500 }));
  const shown = page.locator("tbody tr.delivery").nth(30);
  const before = await shown.boundingBox();
  await deliver({ endpoint: "inline", id: "newest" });
  await page.getByRole("button", { name: "1 new", exact: true }).click();
  await expect.poll(async () => (await idsOf(page))[0]).toBe("newest");
  expect(before).not.toBeNull();
  expect(await scroller.evaluate((element) => element.scrollTop)).toBe(0);
});

test("Each filter is in the URL, and can be reset", async () => {
  const page = await browser.open(varied);
  await expectIds(page, allIds);
  const choose = (label: string, value: string) => page.getByRole("combobox", { name: label }).selectOption(value);
  const filters: [set: () => Promise<unknown>, hash: string, ids: string[]][] = [
    [() => page.getByRole("button", { name: /^Dead/ }).click(), "status=dead", ["dead-one"]],
    [() => choose("Endpoint", "inline"), "endpoint=inline", ["good", "bad"]],
    [() => choose("Scope", "discussion"), "scope=discussion", ["opened"]],
    [() => choose("Action", "create"), "action=create", ["opened"]],
    [
      async () => {
        await page.getByLabel("Repository", { exact: true }).fill("dataset:globex/data");
        await page.keyboard.press("Enter");
      },
      "repository=dataset:globex/data",
      ["dead-one"],
    ],
    [() => choose("Time", "15m"), "last=15m", allIds],
    [() => page.getByLabel("Search deliveries").fill("globex"), "search=globex", ["opened", "dead-one"]],
  ];
  for (const [set, hash, ids] of filters) {
    await set();
    await page.waitForURL(`**#/deliveries?${hash}`);
    await expectIds(page, ids);
    const chips = page.getByRole("list", { name: "Active filters" });
    await chips.getByRole("button", { name: "Reset" }).click();
    await page.waitForURL("**#/deliveries");
    await expectIds(page, allIds);
  }
});

test("Filters combine, stay after a reload, and each one has a chip that removes it", async () => {
  const page = await browser.open(varied, { hash: "#/deliveries?status=failed,dead,retrying&search=full" });
  await expectIds(page, ["dead-one"]);
  await page.getByRole("button", { name: "Remove filter Search: full" }).click();
  await expectIds(page, ["bad", "again", "dead-one"]);
  await page.reload();
  await expectIds(page, ["bad", "again", "dead-one"]);
  await page.getByRole("button", { name: /^Failed/ }).click();
  await expectIds(page, ["again", "dead-one"]);
  expect(await page.getByLabel("Search deliveries").inputValue()).toBe("");
});

test("Times are local, and in UTC on hover, and a time range is chosen in a dialog, which checks its order", async () => {
  const now = Date.UTC(2020, 0, 2, 3);
  let hours = 0;
  const { url, deliver } = await openInline({ now: () => now + hours * 3_600_000 });
  for (const id of ["first", "second", "third"]) {
    await deliver({ endpoint: "inline", id });
    hours += 1;
  }
  const page = await browser.open(url, { timezoneId: "America/New_York" });
  await expectIds(page, ["first", "second", "third"]);
  const time = rowsOf(page).locator("time").last();
  expect(await time.textContent()).toBe("Jan 1, 2020 22:00:00");
  expect(await time.getAttribute("title")).toBe("2020-01-02T03:00:00.000Z");
  await page.getByRole("combobox", { name: "Time" }).selectOption("custom");
  const dialog = page.getByRole("dialog", { name: "Received between" });
  await dialog.getByLabel("From").fill("2020-01-01T22:30:00");
  await dialog.getByLabel("Until").fill("2020-01-01T22:15:00");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await dialog.getByRole("alert").getByText("The end must be later than the start.").waitFor();
  await dialog.getByLabel("Until").fill("2020-01-01T23:30:00");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expectIds(page, ["second"]);
  expect(page.url()).toContain(`from=${now + 1_800_000}&until=${now + 5_400_000}`);
});

test("A search keeps what the user types while it starts", async () => {
  const page = await browser.open(varied);
  await expectIds(page, allIds);
  const search = page.getByLabel("Search deliveries");
  await search.evaluate((field) => {
    const type = (text: string) => {
      if (field instanceof HTMLInputElement) field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    type("acme");
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    type("acme/mod");
  });
  await page.waitForURL("**#/deliveries?search=acme/mod");
  await expectIds(page, ["bad"]);
  expect(await search.inputValue()).toBe("acme/mod");
});

test("A search that was typed just before a click is added to what the click does, unless it leaves the list", async () => {
  const page = await browser.open(varied);
  await page.clock.install();
  await page.reload();
  await expectIds(page, allIds);
  /** Types, and clicks before the typed text is searched. */
  const typeThenClick = async (text: string, clicked: Locator) => {
    const given = { text, target: await clicked.elementHandle() };
    await page.getByLabel("Search deliveries").evaluate((field, { text, target }) => {
      if (field instanceof HTMLInputElement) field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      if (target instanceof HTMLElement) target.click();
    }, given);
  };
  await typeThenClick("globex", page.getByRole("button", { name: /^Dead/ }));
  await page.waitForURL("**#/deliveries?status=dead&search=globex");
  await expectIds(page, ["dead-one"]);
  await typeThenClick("acme", page.getByRole("navigation").getByRole("link", { name: "Endpoints" }));
  await page.getByRole("heading", { name: "Endpoints" }).waitFor();
  await page.clock.fastForward(1_000);
  expect(new URL(page.url()).hash).toBe("#/endpoints");
});

test("Scrolling loads the next page, and a full page links to older deliveries", async () => {
  const declare = (server: OpenServer["server"]) => void server.webhook("stored", { background: true }, () => "done");
  const { url, deliver } = await openServer(declare, { inbox: "sqlite::memory:" });
  for (let first = 0; first < 620; first += 62) {
    const ids = Array.from({ length: 62 }, (_, index) => `number-${first + index}`);
    await Promise.all(ids.map((id) => deliver({ endpoint: "stored", id })));
  }
  const page = await browser.open(url);
  const rowCount = () => page.getByRole("table").getAttribute("aria-rowcount");
  await expect.poll(rowCount).toBe("101");
  const scroller = page.locator(".list-scroller");
  const scrollToEnd = () => scroller.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
  /** Scrolls to the end, page by page, until the footer contains this text. */
  const scrollUntil = async (text: string | RegExp) => {
    const readFooter = async () => {
      await scrollToEnd();
      // Does not wait for the footer, because a list that has just loaded must be scrolled again.
      return (await page.locator(".list-footer").allInnerTexts()).join();
    };
    await expect.poll(readFooter, { interval: 50 }).toMatch(text);
  };
  await scrollUntil("Show older deliveries");
  expect(await rowCount()).toBe("501");
  // Only the rows near the view are in the document.
  expect(await rowsOf(page).count()).toBeLessThan(120);
  await page.getByRole("link", { name: "Show older deliveries" }).click();
  await page.waitForURL(/until=\d+/);
  await scrollUntil(/^\d+ deliveries\.$/);
  const readLast = async () => {
    await scrollToEnd();
    return idsOf(page);
  };
  await expect.poll(readLast).toContain("number-0");
  await page.goBack();
  await expect.poll(rowCount).toBe("101");
});

test("Without deliveries, the list shows a command that sends one, and it works", async () => {
  const watched = { watch: "dataset:acme/data" } as const;
  const { url } = await openServer((server) => void server.webhook("inline", watched, () => "done"));
  const page = await browser.open(url);
  await page.getByRole("heading", { name: "No deliveries yet" }).waitFor();
  await page.getByRole("button", { name: "Copy command" }).click();
  await expect.poll(() => readClipboard(page)).toContain("npx hub-webhooks trigger dataset:acme/data");
  const command = await readClipboard(page);
  const args = command.replace(/^npx hub-webhooks trigger /, "");
  expect(await runTrigger(args, { env: { WEBHOOK_SECRET: secret } })).toMatchObject({ exitCode: 0 });
  await rowsOf(page).getByText("Succeeded").waitFor();
  expect(await rowsOf(page).innerText()).toContain("acme/data");
});

test("The repository filter suggests repositories, and accepts a part of a name", async () => {
  const { url, deliver } = await openInline();
  for (const name of ["acme/data", "acme/notes", "globex/data"]) await deliver({ endpoint: "inline", name });
  const page = await browser.open(url);
  await expect.poll(() => rowsOf(page).count()).toBe(3);
  const field = page.getByLabel("Repository", { exact: true });
  const suggested = page.locator("datalist#repositories option");
  expect(await field.getAttribute("list")).toBe("repositories");
  const suggestions = () => suggested.evaluateAll((options) => options.map((option) => option.getAttribute("value")));
  const all = ["dataset:acme/data", "dataset:acme/notes", "dataset:globex/data"];
  expect(await suggestions()).toEqual(all);
  await field.fill("cme");
  // The list is rendered again while the user types.
  await deliver({ endpoint: "inline", name: "globex/data" });
  await expect.poll(() => rowsOf(page).count()).toBe(4);
  expect(await field.inputValue()).toBe("cme");
  await field.press("Enter");
  await expect.poll(() => rowsOf(page).count()).toBe(2);
  expect(await suggestions()).toEqual(all);
  await page.getByRole("button", { name: "Remove filter Repository: cme" }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(4);
  expect(await field.inputValue()).toBe("");
});

test("An empty result shows what was searched, and the filters can be reset", async () => {
  const { url, deliver } = await openInline();
  await deliver({ endpoint: "inline" });
  const page = await browser.open(url, { hash: "#/deliveries?repository=nothing&status=dead" });
  await page.getByRole("heading", { name: "No delivery matches the filters" }).waitFor();
  await page.getByText("Status: Dead · Repository: nothing · Any time").waitFor();
  await page.getByText("All deliveries were searched.").waitFor();
  await visit(page, "#/deliveries?repository=nothing&last=1h");
  await page.getByText("Repository: nothing · Last hour").waitFor();

  // An inbox examines a limited number of deliveries at a time.
  const searchedUntil = Date.now() - 60_000;
  await page.route("**/api/deliveries?*", async (route) => {
    if (route.request().url().includes("cursor=")) return route.continue();
    await route.fulfill({ json: { deliveries: [], totals: {}, next: "~1~inline~x", searchedUntil } });
  });
  await page.reload();
  await page.getByText(/^Searched back to .*\.$/).waitFor();
  await page.getByRole("button", { name: "Search further" }).click();
  await page.getByText("All deliveries were searched.").waitFor();
  await page.unroute("**/api/deliveries?*");
  await page.getByRole("button", { name: "Reset filters" }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(1);
});
