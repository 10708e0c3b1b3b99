import type { Browser, Page } from "playwright-core";

/** What the page reports of its frames. */
export interface FrameTimes {
  frames: number;
  /** The longest time between two frames, in milliseconds. */
  longestMs: number;
  /** The number of frames that came more than 50 ms after the previous one. */
  over50: number;
  /** The longest task of the page, in milliseconds. `0`: none took 50 ms. */
  longestTaskMs: number;
}

/** The sizes of a page, after garbage collection. */
export interface PageSize {
  heapMebibytes: number;
  /** The elements in the document. */
  elements: number;
  /** The DOM nodes in memory. More than in the document: removed nodes that a script still refers to. */
  nodes: number;
}

/** Runs in the page before its scripts. Records frames, long tasks, and when the first row appears. */
function recordTimes(): void {
  const record = { frames: 0, longestMs: 0, over50: 0, longestTaskMs: 0, firstRowMs: 0 };
  Reflect.set(window, "record", record);
  let last = 0;
  const frame = (now: number) => {
    if (last > 0) {
      record.frames += 1;
      record.longestMs = Math.max(record.longestMs, now - last);
      if (now - last > 50) record.over50 += 1;
    }
    last = now;
    if (record.firstRowMs === 0 && document.querySelector("tr.delivery")) record.firstRowMs = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) record.longestTaskMs = Math.max(record.longestTaskMs, duration);
  }).observe({ type: "longtask" });
}

/** Opens the console, signed in. Returns the page and the times of its start, in milliseconds. */
export async function openConsolePage(browser: Browser, url: string) {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  const page = await context.newPage();
  const answer = await page.request.post(`${url}/_console/api/session`, { data: { token: "token-of-the-benchmark" } });
  if (!answer.ok()) throw new Error(`The console answered ${answer.status()}.`);
  await page.addInitScript(recordTimes);
  await page.goto(`${url}/_console/#/deliveries`);
  await page.locator("tr.delivery").first().waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  const firstPaintMs = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const firstRowMs = await page.evaluate<number>("record.firstRowMs");
  return { page, firstPaintMs: firstPaintMs ?? Number.NaN, firstRowMs };
}

/** Measures the frames of a page while `action` runs. */
export async function measureFrames(page: Page, action: () => Promise<void>): Promise<FrameTimes> {
  await page.evaluate("Object.assign(record, { frames: 0, longestMs: 0, over50: 0, longestTaskMs: 0 })");
  await action();
  return page.evaluate<FrameTimes>("record");
}

/** Collects garbage, and measures the memory of a page. */
export async function measurePage(page: Page): Promise<PageSize> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes } = await session.send("Memory.getDOMCounters");
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  await session.detach();
  return { heapMebibytes: usedSize / 2 ** 20, elements, nodes };
}

/** Measures from an action until the next frame in which a condition on the list is true, in milliseconds. */
export async function measureUntil(page: Page, action: string, condition: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const check = () => {
      if (${condition}) resolve(performance.now() - startedAt);
      else if (performance.now() - startedAt > 30_000) reject(new Error("The page did not change: " + location.hash));
      else requestAnimationFrame(check);
    };
    ${action};
    requestAnimationFrame(check);
  })`);
}
