// @module-tag slow

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { narrow, wide } from "../../support/browser.ts";
import {
  declareInline,
  expectNoSidewaysScrolling,
  launchServer,
  openInline,
  openServer,
  paneOf,
  rowsOf,
  shareBrowser,
  visit,
} from "./open-console.ts";

const browser = shareBrowser();

let url: string;
beforeAll(async () => {
  const opened = await launchServer(declareInline);
  for (const id of ["first", "second", "third"]) await opened.deliver({ endpoint: "inline", id });
  ({ url } = opened);
  return () => opened.server.close();
});

/** Opens a console with three deliveries: `first`, `second`, and `third`, which is the newest. */
async function openThree(): Promise<Page> {
  const page = await browser.open(url);
  await expect.poll(() => rowsOf(page).count()).toBe(3);
  return page;
}

/** Returns the ID of the row that has the focus. */
function focusedId(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const key = document.activeElement?.closest("tr")?.getAttribute("data-key");
    return key ? JSON.parse(key)[1] : undefined;
  });
}

function openId(page: Page): string | null {
  return new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("id");
}

test("j and k select a row, Enter opens it, and Escape closes it and returns to its row", async () => {
  const page = await openThree();
  await page.keyboard.press("j");
  expect(await focusedId(page)).toBe("third");
  await page.keyboard.press("j");
  expect(await focusedId(page)).toBe("second");
  await page.keyboard.press("k");
  expect(await focusedId(page)).toBe("third");
  await page.keyboard.press("k");
  expect(await focusedId(page)).toBe("third");
  await page.keyboard.press("Enter");
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  expect(openId(page)).toBe("third");
  await page.keyboard.press("j");
  await page.waitForURL(/id=second/);
  await page.keyboard.press("Escape");
  await paneOf(page).waitFor({ state: "detached" });
  await expect.poll(() => focusedId(page)).toBe("second");
});

test("e opens the editor of the open delivery", async () => {
  const page = await browser.open(url, { hash: "#/deliveries/one?endpoint=inline&id=first" });
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "Edit and replay" });
  await dialog.waitFor();
  // In the editor, the first Escape frees the Tab key. The dialog closes with the next one.
  await dialog.getByRole("textbox", { name: "Payload" }).focus();
  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("The question mark lists every shortcut, and the focus returns when the help closes", async () => {
  const page = await openThree();
  await page.keyboard.press("j");
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  expect(await dialog.locator("kbd").allTextContents()).toEqual(["/", "j", "k", "Enter", "Escape", "r", "e", "?"]);
  await page.keyboard.press("j");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => focusedId(page)).toBe("third");
});

test("The slash goes to the search, Escape leaves it and keeps the text, and shortcuts do nothing while typing or with modifier keys", async () => {
  const page = await openThree();
  await page.keyboard.press("/");
  const search = page.getByLabel("Search deliveries");
  expect(await search.evaluate((field) => document.activeElement === field)).toBe(true);
  await page.keyboard.type("jkre?/");
  expect(await search.inputValue()).toBe("jkre?/");
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.locator(".toast").count()).toBe(0);
  await search.fill("acme");
  await page.keyboard.press("Escape");
  await page.waitForURL("**#/deliveries?search=acme");
  expect(await search.inputValue()).toBe("acme");
  expect(await search.evaluate((field) => document.activeElement === field)).toBe(false);
  await expect.poll(() => rowsOf(page).count()).toBe(3);
  await page.keyboard.press("Control+j");
  await page.keyboard.press("Alt+j");
  expect(await focusedId(page)).toBeUndefined();
});

test("Enter on a button uses the button, and the shortcuts of a view end with it", async () => {
  const page = await openThree();
  await page.keyboard.press("j");
  await page.getByRole("button", { name: "Keyboard shortcuts" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  expect(openId(page)).toBeNull();
  await page.keyboard.press("Escape");
  await visit(page, "#/endpoints");
  await page.getByRole("article").first().waitFor();
  // The focus is in the view.
  await page.keyboard.press("Enter");
  expect(new URL(page.url()).hash).toBe("#/endpoints");
});

test("The Tab key goes through the page in its order, first to a link that skips the header", async () => {
  const page = await openThree();
  await page.keyboard.press("Tab");
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  expect(await focused()).toBe("Skip to content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("All");
});

test("The theme is that of the system, of the query, or the chosen one, which stays", async () => {
  const page = await openThree();
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  expect(dark).not.toBe(light);
  const expectTheme = async (search: string, color: string) => {
    await page.goto(`${url}/_console/${search}#/deliveries`);
    await rowsOf(page).first().waitFor();
    expect(await background()).toBe(color);
  };
  await expectTheme("?__theme=light", light);
  await page.emulateMedia({ colorScheme: "light" });
  await expectTheme("?__theme=dark", dark);
  await expectTheme("", light);
  const button = page.getByRole("button", { name: /^Theme: / });
  // The first click changes the colors.
  await button.click();
  expect(await button.getAttribute("aria-label")).toBe("Theme: dark");
  await page.reload();
  await rowsOf(page).first().waitFor();
  expect(await background()).toBe(dark);
});

test("Nothing moves if the user asks for reduced motion", async () => {
  const page = await openThree();
  await page.emulateMedia({ reducedMotion: "reduce" });
  await rowsOf(page).first().click();
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  const running = await page.evaluate(
    () => document.getAnimations().filter(({ playState }) => playState === "running").length,
  );
  expect(running).toBe(0);
});

test("No view scrolls sideways at any width", async () => {
  const long = { endpoint: "with-a-name-that-is-as-long-as-a-name-can-be-without-a-space-in-it", id: "i".repeat(200) };
  const { url, deliver } = await openServer((server) => {
    for (const endpoint of ["inline", long.endpoint]) server.webhook(endpoint, () => "done");
  });
  await deliver({ endpoint: "inline", id: "first" });
  await deliver({ ...long, name: `acme/${"n".repeat(90)}` });
  const page = await browser.open(url);
  const expectNoScrolling = async () => {
    for (const width of [narrow.width, 700, wide.width, 2_560]) {
      await page.setViewportSize({ width, height: 800 });
      await expectNoSidewaysScrolling(page);
    }
  };
  await expect.poll(() => rowsOf(page).count()).toBe(2);
  await expectNoScrolling();
  await visit(page, `#/deliveries/one?endpoint=${long.endpoint}&id=${long.id}`);
  await paneOf(page).getByText("Attempt 1 succeeded").waitFor();
  await expectNoScrolling();
  await visit(page, "#/endpoints");
  await page.getByRole("article").first().waitFor();
  await expectNoScrolling();
});

/** Collects garbage, and counts what the page keeps. */
async function countRetained(page: Page): Promise<{ nodes: number; listeners: number; functions: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  // The first collection can leave what finalizers release.
  for (let time = 0; time < 2; time += 1) await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  // An effect or a subscription that was not ended keeps its functions.
  const { result } = await session.send("Runtime.evaluate", { expression: "Function.prototype" });
  const { objects } = await session.send("Runtime.queryObjects", { prototypeObjectId: result.objectId ?? "" });
  const functions = await session.send("Runtime.callFunctionOn", {
    ...{ objectId: objects.objectId ?? "", functionDeclaration: "function () { return this.length; }" },
    returnByValue: true,
  });
  await session.detach();
  const read = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { nodes: read("Nodes"), listeners: read("JSEventListeners"), functions: Number(functions.result.value) };
}

/** The nodes of a few rows. A row has about 27, and each round of the test replaces 15 rows. */
const maxMoreNodes = 200;
/** The page creates some functions on first use. */
const maxMoreFunctions = 100;

/** Checks that a page keeps no more after it did something for a longer time. */
async function expectNoMore(page: Page, run: () => Promise<void>): Promise<void> {
  const before = await countRetained(page);
  await run();
  const after = await countRetained(page);
  expect(after.nodes - before.nodes).toBeLessThan(maxMoreNodes);
  expect(after.listeners).toBeLessThanOrEqual(before.listeners);
  expect(after.functions - before.functions).toBeLessThan(maxMoreFunctions);
}

async function openWithRows() {
  const opened = await openInline();
  const ids = Array.from({ length: 60 }, (_, number) => `d-${number}`);
  await Promise.all(ids.map((id) => opened.deliver({ endpoint: "inline", id })));
  const page = await browser.open(opened.url);
  await rowsOf(page).first().waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  return { ...opened, page };
}

test("The page keeps no rows that were removed while a delivery is open", async () => {
  const { page, deliver } = await openWithRows();
  await visit(page, "#/deliveries/one?endpoint=inline&id=d-1");
  await paneOf(page).getByRole("tree", { name: "Payload" }).waitFor();
  /** Sends deliveries, and waits until the list and the pane have rendered again. */
  const send = async (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      const reloaded = page.waitForResponse((response) => response.url().includes("/api/deliveries/one"));
      await Promise.all(Array.from({ length: 15 }, () => deliver({ endpoint: "inline" })));
      await reloaded;
    }
  };
  await send(2);
  await expectNoMore(page, () => send(4));
});

test("Views and deliveries that were closed leave nothing in the page", async () => {
  const { page } = await openWithRows();
  const visitAll = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await visit(page, `#/deliveries/one?endpoint=inline&id=d-${time}`);
      await paneOf(page).getByRole("tree", { name: "Payload" }).waitFor();
      await visit(page, "#/endpoints");
      await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
    }
    await visit(page, "#/deliveries");
    await rowsOf(page).first().waitFor();
  };
  await visitAll(3);
  await expectNoMore(page, () => visitAll(15));
});
