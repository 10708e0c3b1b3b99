import { rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../test/support/browser.ts";
import { Child } from "./child.ts";
import {
  type FrameTimes,
  measureFrames,
  measurePage,
  measureUntil,
  openConsolePage,
  type PageSize,
} from "./console-page.ts";
import { hubHeaders, variedDelivery } from "./delivery.ts";
import { inboxFolder } from "./inbox-folder.ts";
import { median, printHeading, printNote, printTable, spread } from "./report.ts";
import type { BenchOptions } from "./trial.ts";
import { variedInbox } from "./varied-inbox.ts";

const perSecond = 50;
const stored = 10_000;
const million = 1_000_000;

/** Measures the console in Chromium: with live deliveries, and with a million stored ones. */
export async function measureConsole({ rounds, seconds }: BenchOptions): Promise<void> {
  const browser = await launchBrowser();
  try {
    await measureLive(browser, seconds);
    await measureMillion(browser, rounds);
  } finally {
    await browser.close();
    rmSync(inboxFolder, { recursive: true, force: true });
  }
}

/** Starts a receiver with a console. `readHeap` collects garbage, and returns the heap of the process in MiB. */
async function startReceiver(inboxUrl: string) {
  process.env.INBOX_URL = inboxUrl;
  const server = new Child({ file: "subjects/console-receiver.ts", nodeOptions: ["--expose-gc"] });
  const port = await server.next<number>(60_000);
  return {
    url: `http://127.0.0.1:${port}`,
    readHeap: async () => (await server.ask<NodeJS.MemoryUsage>("memory")).heapUsed / 2 ** 20,
    stop: () => server.stop(),
  };
}

async function deliver(url: string, number: number): Promise<void> {
  const { id, body } = variedDelivery(number);
  const endpoint = number % 2 === 0 ? "inline" : "background";
  const headers = { ...hubHeaders, "Webhook-Id": id };
  const answer = await fetch(`${url}/webhooks/${endpoint}`, { method: "POST", headers, body });
  await answer.arrayBuffer();
}

/** Sends deliveries at a fixed rate. Returns their number. */
async function deliverFor(url: string, seconds: number): Promise<number> {
  const startedAt = performance.now();
  let sent = 0;
  const answers: Promise<void>[] = [];
  while (sent < perSecond * seconds) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
    for (; sent < due; sent += 1) answers.push(deliver(url, sent));
    await wait(1_000 / perSecond);
  }
  await Promise.all(answers);
  return sent;
}

async function measureLive(browser: Browser, seconds: number): Promise<void> {
  process.stderr.write(`  ${seconds} s of live deliveries\n`);
  const { url: inboxUrl } = await variedInbox(stored);
  const server = await startReceiver(inboxUrl);
  try {
    const { page, firstPaintMs, firstRowMs } = await openConsolePage(browser, server.url);
    const [atFirst, heapAtFirst] = [await measurePage(page), await server.readHeap()];
    const idle = await measureFrames(page, () => wait(3_000));
    const send = () => deliverFor(server.url, seconds / 3).then(() => {});
    const results: [string, FrameTimes][] = [["no deliveries, 3 s", idle]];
    results.push(["nothing points at the list", await measureFrames(page, send)]);
    await page.mouse.move(600, 500);
    results.push(["the pointer is over the list", await measureFrames(page, send)]);
    await page.mouse.move(600, 10);
    await page
      .locator("tr.delivery")
      .first()
      .click({ position: { x: 5, y: 5 } });
    await page.getByRole("tree", { name: "Payload" }).waitFor();
    await page.mouse.move(600, 10);
    results.push(["a delivery is open", await measureFrames(page, send)]);
    const [atLast, heapAtLast] = [await measurePage(page), await server.readHeap()];
    printHeading(`Console: ${perSecond} deliveries per second for ${seconds} s, ${stored} stored before`);
    printTable(
      ["", "frames", "longest ms", "over 50 ms", "longest task ms"],
      results.map(([name, { frames, longestMs, over50, longestTaskMs }]) => [
        ...[name, `${frames}`, longestMs.toFixed(0), `${over50}`],
        longestTaskMs === 0 ? "< 50" : longestTaskMs.toFixed(0),
      ]),
    );
    printNote(`First paint after ${firstPaintMs.toFixed(0)} ms, first row after ${firstRowMs.toFixed(0)} ms.`);
    printNote(
      `Heap after a garbage collection: ${describeSize(atFirst, heapAtFirst)} at first, ${describeSize(atLast, heapAtLast)} at last.`,
    );
    await page.context().close();
  } finally {
    await server.stop();
  }
}

function describeSize({ heapMebibytes, elements, nodes }: PageSize, serverHeap: number): string {
  return `${heapMebibytes.toFixed(1)} MiB in the page (${elements} elements in the document, ${nodes} nodes in memory) and ${serverHeap.toFixed(1)} MiB in the server`;
}

/** The steps that are measured: the name, the action, and the condition that ends it. */
function stepsOf(): readonly (readonly [name: string, action: string, condition: string])[] {
  const table = `document.querySelector("table.deliveries")`;
  // Another filter creates another table.
  const go = (hash: string) => `${table}?.setAttribute("data-old", ""); location.hash = ${JSON.stringify(hash)}`;
  const isNew = `${table}?.dataset.old === undefined && document.querySelector("tr.delivery")`;
  const toEnd = `const list = document.querySelector(".list-scroller"); list.scrollTo({ top: list.scrollHeight })`;
  return [
    ["the next page", toEnd, `Number(${table}?.getAttribute("aria-rowcount")) > 150`],
    ["filter by repository", go("#/deliveries?repository=owner-123/data-123"), isNew],
    ["filter by status dead", go("#/deliveries?status=dead"), isNew],
    ["search a repository", go("#/deliveries?search=owner-77%2Fdata-77"), isNew],
    ["search words of an error", go("#/deliveries?search=worker%20disk"), isNew],
    ["search a common word", go("#/deliveries?search=owner"), isNew],
    ["search without a result", go("#/deliveries?search=nothinglikethis"), `document.querySelector(".empty-state")`],
    ["all again", go("#/deliveries"), isNew],
    [
      "open a delivery",
      `document.querySelector("tr.delivery .row-link").click()`,
      `document.querySelector('[role="tree"]')`,
    ],
  ];
}

async function measureMillion(browser: Browser, rounds: number): Promise<void> {
  process.stderr.write("  a million stored deliveries\n");
  const { url: inboxUrl } = await variedInbox(million);
  const server = await startReceiver(inboxUrl);
  const times = new Map<string, number[]>();
  const add = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms]);
  try {
    for (let round = 1; round <= rounds; round += 1) {
      process.stderr.write(`  round ${round} of ${rounds}\n`);
      const { page, firstPaintMs, firstRowMs } = await openConsolePage(browser, server.url);
      add("first paint", firstPaintMs);
      add("first row", firstRowMs);
      await measureSteps(page, add);
      await page.context().close();
    }
  } finally {
    await server.stop();
  }
  printHeading(`Console: a million stored deliveries in SQLite (${rounds} rounds)`);
  printTable(
    ["", "ms", "min to max"],
    [...times].map(([name, own]) => [name, median(own).toFixed(0), spread(own)]),
  );
  printNote("Times end with the frame that shows the result.");
}

async function measureSteps(page: Page, add: (name: string, ms: number) => void): Promise<void> {
  for (const [name, action, condition] of stepsOf()) {
    add(name, await measureUntil(page, action, `Boolean(${condition})`));
  }
}
