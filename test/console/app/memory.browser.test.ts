// @module-tag slow

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openInline, paneOf, rowsOf, shareBrowser, visit } from "./open-console.ts";

const browser = shareBrowser();

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
