import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { HubPageInfo } from "../../../src/local-hub/page/info.ts";
import { expectAccessible, launchBrowser, looks, narrow, wide } from "../../support/browser.ts";
import {
  fullInfo,
  hostileInfo,
  hostileTexts,
  type PageServer,
  sampleEntry,
  sampleInfo,
  sampleWebhook,
  servePage,
} from "./sample-info.ts";

const longLog = sampleWebhook({
  log: Array.from({ length: 30 }, (_, index) => sampleEntry({ logId: `e${index}`, attempt: index + 1 })),
});
const scenes: Readonly<Record<string, HubPageInfo>> = {
  full: fullInfo,
  empty: sampleInfo({ webhooks: [] }),
  hostile: hostileInfo,
  long: sampleInfo({ webhooks: [longLog] }),
};

let browser: Browser;
let server: PageServer | undefined;
/** Every problem that the browser reported: a blocked script or style, a missing asset, an uncaught error. */
let complaints: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  server?.close();
  const heard = complaints;
  complaints = [];
  expect(heard).toEqual([]);
});

describe("The page is accessible", () => {
  test.each(looks.flatMap((look) => ["full", "empty"].map((scene) => ({ scene, ...look }))))(
    "with the scene “$scene”, $colorScheme, $width pixels wide, every entry open",
    async ({ scene, colorScheme, viewport }) => {
      const { page } = await open(scenes[scene], { colorScheme, viewport });
      await openAll(page);
      await expectAccessible(page);
    },
  );
});

describe("The page", () => {
  test.each([
    { scene: "full", width: 360 },
    { scene: "full", width: 320 },
    { scene: "empty", width: 360 },
    { scene: "hostile", width: 360 },
    { scene: "hostile", width: 1280 },
  ])(
    "shows the scene “$scene”, every entry open, at $width pixels without horizontal scrolling",
    async ({ scene, width }) => {
      const { page } = await open(scenes[scene], { viewport: { width, height: 740 } });
      await openAll(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const edges = await page
        .locator("body *:not(.unseen)")
        .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().right));
      expect(Math.max(...edges)).toBeLessThanOrEqual(width);
    },
  );
});

test("Without JavaScript every entry can be opened, and there are no buttons without a function", async () => {
  const { page } = await open(fullInfo, { javaScriptEnabled: false });
  await page.locator("summary").first().click();
  expect(await page.getByText('"scope": "repo.content"').first().isVisible()).toBe(true);
  expect(await page.getByRole("button").count()).toBe(0);
});

test("In forced colors the status of an entry stays readable and its marker visible", async () => {
  const { page } = await open(fullInfo, { forcedColors: "active" });
  const row = page.locator("summary").nth(1);
  expect(await row.innerText()).toContain("500");
  const [mark, ground] = await row
    .locator(".dot")
    .evaluate((dot) => [getComputedStyle(dot).backgroundColor, getComputedStyle(document.body).backgroundColor]);
  expect(mark).not.toBe(ground);
});

test("The Tab key reaches everything in reading order with a visible outline, and Enter opens an entry", async () => {
  const { page } = await open(sampleInfo());
  const stops = await walk(page);
  const names = [
    "Webhooks",
    "Jobs",
    "API",
    "Pause updates",
    "Copy the id of this webhook",
    "The log as JSON",
    "200 repo.content · update dataset me/data 3 minutes ago 12 ms",
  ];
  expect(stops).toEqual(names.map((name) => `${name} | solid 3px`));
  await page.locator("summary").focus();
  await page.keyboard.press("Enter");
  expect((await walk(page)).slice(0, 3)).toEqual([
    "Replay this delivery | solid 3px",
    "Copy the payload | solid 3px",
    expect.stringMatching(/^\{ "event": .* solid 3px$/),
  ]);
});

describe("A copy button", () => {
  test("copies the payload as JSON, including that of an entry that arrived later", async () => {
    const { page, server } = await openStill(sampleInfo({ webhooks: [sampleWebhook({ log: [] })] }), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    server.info = sampleInfo();
    await page.clock.runFor(2000);
    await page.locator("summary").click();
    await page.getByRole("button", { name: "Copy the payload" }).click();
    await page.getByRole("status").getByText("Copied the payload.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(JSON.parse(copied)).toEqual(JSON.parse(sampleEntry().request.body));
  });
});

describe("The Replay button", () => {
  test("sends the delivery again, waits, shows the status, and adds the new entry without scrolling", async () => {
    const { page, server } = await openStill(sampleInfo());
    const answered = Promise.withResolvers<Response>();
    server.replay = () => answered.promise;
    await page.locator("summary").click();
    const button = page.locator("[data-replay]").last();
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Replaying.").waitFor();
    expect(await button.getAttribute("aria-disabled")).toBe("true");
    // A second click while it waits sends nothing.
    await page.keyboard.press("Enter");
    const place = await button.evaluate((element) => element.getBoundingClientRect().top);
    server.info = withLog([sampleEntry({ logId: "new", attempt: 2 }), sampleEntry()]);
    answered.resolve(Response.json({ status: 202 }));
    await page.getByRole("status").getByText("Replayed: the answer was 202.").waitFor();
    await page.locator(".log > li").nth(1).waitFor();
    expect(await button.locator("[data-label]").textContent()).toBe("202");
    expect(await button.getAttribute("aria-disabled")).toBeNull();
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.locator("details").evaluateAll((rows) => rows.map((row) => row.hasAttribute("open")))).toEqual([
      false,
      true,
    ]);
    expect(await button.evaluate((element) => element.getBoundingClientRect().top)).toBeCloseTo(place, 0);
    expect(server.replays).toEqual([
      {
        path: "/_local/webhooks/66d4a0e1b2c3d4e5f6a7b8c9/replay/66d4a1f0c0ffee0000000001",
        type: "application/json",
        body: "{}",
      },
    ]);
  });

  test.each([
    {
      what: "a receiver that did not respond",
      replay: () => Response.json({ status: null }),
      label: "No answer",
      message: "Replayed, but there was no answer: the newest entry says why.",
    },
    {
      what: "an error response",
      replay: () => Response.json({ error: "There is no webhook <b>66d4</b>." }),
      status: 404,
      label: "Failed",
      message: "Not replayed: There is no webhook <b>66d4</b>.",
    },
    {
      what: "a response that is not JSON",
      replay: () => new Response("<h1>Bad gateway</h1>"),
      status: 502,
      label: "Failed",
      message: "Not replayed: HTTP 502",
    },
  ])("shows the result of $what", async ({ replay, status, label, message }) => {
    const { page, server } = await openStill(sampleInfo());
    server.replay = () => new Response(replay().body, { status: status ?? 200 });
    await replayFirst(page);
    await page.getByRole("status").getByText(message).waitFor();
    expect(await page.locator("[data-replay] [data-label]").textContent()).toBe(label);
    expect(await page.locator("[data-outcome]").textContent()).toBe(message);
    expect(await page.locator("[data-replay]").getAttribute("aria-disabled")).toBeNull();
    if (status) complaints = complaints.filter((complaint) => !complaint.includes(`status of ${status}`));
  });

  test("reports an unreachable local Hub, and can be clicked again", async () => {
    const { page, server } = await openStill(sampleInfo());
    server.close();
    await replayFirst(page);
    await page.getByRole("status").getByText("The local Hub does not answer").waitFor();
    expect(await page.locator("[data-replay] [data-label]").textContent()).toBe("Failed");
    expect(await page.locator("[data-replay]").getAttribute("aria-disabled")).toBeNull();
    complaints = complaints.filter((complaint) => !complaint.includes("ERR_CONNECTION"));
  });
});

describe("An open page", () => {
  test("shows and announces new entries, and keeps entries open", async () => {
    const { page, server } = await openStill(sampleInfo());
    await page.locator("summary").click();
    server.info = withLog([sampleEntry({ logId: "n2" }), sampleEntry({ logId: "n1" }), sampleEntry()]);
    await page.clock.runFor(2000);
    await page.getByRole("status").getByText("2 new entries.").waitFor();
    expect(await page.locator("details").evaluateAll((rows) => rows.map((row) => row.hasAttribute("open")))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("keeps the same elements if nothing has changed", async () => {
    const { page, server } = await openStill(fullInfo);
    await page.evaluate(() => {
      const { dataset } = document.body;
      dataset.changes = "0";
      const observer = new MutationObserver((records) => {
        dataset.changes = String(Number(dataset.changes) + records.length);
      });
      const everything = { subtree: true, childList: true, attributes: true, characterData: true };
      observer.observe(document.querySelector("main") ?? document, everything);
    });
    const asked = server.views;
    await expect
      .poll(async () => {
        await page.clock.runFor(2000);
        return server.views;
      })
      .toBeGreaterThan(asked + 2);
    expect(await page.locator("body").getAttribute("data-changes")).toBe("0");
  });

  test("does not move the content while the user reads it", async () => {
    const { page, server } = await openStill(scenes.long, { viewport: narrow });
    const row = page.locator("summary").nth(20);
    await row.scrollIntoViewIfNeeded();
    const read = page.locator("summary", { hasText: /attempt 21\b/ });
    const place = await read.evaluate((element) => element.getBoundingClientRect().top);
    server.info = withLog([sampleEntry({ logId: "n1" }), ...longLog.log.slice(0, 29)]);
    await page.clock.runFor(2000);
    await page.getByRole("status").getByText("1 new entry.").waitFor();
    expect(await read.evaluate((element) => element.getBoundingClientRect().top)).toBeCloseTo(place, 0);
  });

  test("keeps an open entry that has left the log, and removes closed ones", async () => {
    const { page, server } = await openStill(withLog([sampleEntry({ logId: "e2" }), sampleEntry({ logId: "e1" })]));
    await page.locator("summary").last().click();
    server.info = withLog([sampleEntry({ logId: "e3" })]);
    await page.clock.runFor(2000);
    await page.getByRole("status").getByText("1 new entry.").waitFor();
    const ids = await page.locator(".log > li").evaluateAll((rows) => rows.map(({ id }) => id.split("-").at(-1)));
    expect(ids).toEqual(["e3", "e1"]);
  });

  test("shows the first webhook when it is created, and then its state", async () => {
    const { page, server } = await openStill(scenes.empty);
    server.info = sampleInfo();
    await page.clock.runFor(2000);
    await page.getByRole("heading", { name: "1 webhook, ready" }).waitFor();
    expect(await page.getByText("No webhook yet").count()).toBe(0);
    expect(await page.title()).toBe("1 webhook · local Hub · hub-webhooks");
    server.info = sampleInfo({ webhooks: [sampleWebhook({ state: "suspended" })] });
    await page.clock.runFor(4000);
    await page.getByText("hub-webhooks enable").waitFor();
    expect(await page.locator(".state").textContent()).toBe("suspended");
  });

  test("sends no requests while it is paused, and continues when it is resumed", async () => {
    const { page, server } = await openStill(sampleInfo());
    await page.getByRole("button", { name: "Pause updates" }).click();
    const asked = server.views;
    await page.clock.runFor(10_000);
    // The response to a request that was sent earlier arrives earlier.
    await page.evaluate(() => fetch("/"));
    expect(server.views).toBe(asked + 1);
    await page.getByRole("button", { name: "Resume updates" }).click();
    await page.clock.runFor(2000);
    await expect.poll(() => server?.views).toBeGreaterThan(asked + 1);
    expect(await page.getByRole("button", { name: "Pause updates" }).count()).toBe(1);
  });

  test("sends no requests while text is selected", async () => {
    const { page, server } = await openStill(sampleInfo());
    await page.evaluate(() => getSelection()?.selectAllChildren(document.querySelector("h1") ?? document.body));
    const asked = server.views;
    await page.clock.runFor(10_000);
    // The response to a request that was sent earlier arrives earlier.
    await page.evaluate(() => fetch("/"));
    expect(server.views).toBe(asked + 1);
  });

  test("reports when the local Hub does not respond, and clears that when it does", async () => {
    const { page, server } = await openStill(sampleInfo());
    const warning = page.getByText("The local Hub does not answer.");
    expect(await warning.isVisible()).toBe(false);
    server.fails = true;
    await page.clock.runFor(2000);
    await warning.waitFor();
    server.fails = false;
    await page.clock.runFor(4000);
    await warning.waitFor({ state: "hidden" });
    complaints = complaints.filter((complaint) => !complaint.includes("status of 503"));
  });
});

describe("Hostile text", () => {
  test("is shown as text and never runs, before and after an update", async () => {
    const { page, server } = await openStill(scenes.empty);
    server.info = hostileInfo;
    await page.clock.runFor(2000);
    await page.getByRole("heading", { name: "12 webhooks, ready" }).waitFor();
    await openAll(page);
    const owners = await page.locator(".webhook-facts dd > bdi").allTextContents();
    expect(owners.slice(0, 5)).toEqual(hostileTexts.slice(0, 5));
    expect(await page.locator("img, body script, [onload], [onerror], [onfocus], [autofocus], [style]").count()).toBe(
      0,
    );
    expect(await page.title()).toBe("12 webhooks · local Hub · hub-webhooks");
  });

  test("in the response to a replay is shown as text", async () => {
    const { page, server } = await openStill(sampleInfo());
    server.replay = () => Response.json({ status: `<img src=x onerror=alert(1)>` });
    await replayFirst(page);
    await page.getByRole("status").getByText("there was no answer").waitFor();
    expect(await page.locator("img").count()).toBe(0);
  });

  test("does not run even if it is not escaped", async () => {
    const { page } = await open(sampleInfo());
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = `document.title = "hacked"`;
      document.body.append(script);
    });
    expect(await page.title()).toBe("1 webhook · local Hub · hub-webhooks");
    expect(complaints).toEqual([expect.stringContaining("Content Security Policy")]);
    complaints = [];
  });
});

test("The page cannot be shown in a frame", async () => {
  const { page, server } = await open(sampleInfo());
  const body = `<!doctype html><title>Embeds</title><link rel="icon" href="data:,"><iframe src="${server.origin}/"></iframe>`;
  await page.route("**/embeds", (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(`${server.origin}/embeds`);
  await expect.poll(() => complaints.splice(0)).toEqual([expect.stringContaining("frame-ancestors")]);
});

function withLog(log: HubPageInfo["webhooks"][number]["log"]): HubPageInfo {
  return sampleInfo({ webhooks: [sampleWebhook({ log })] });
}

async function open(
  info: HubPageInfo = fullInfo,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; server: PageServer }> {
  const opened = await openBlank(info, options);
  await opened.page.goto(opened.server.origin);
  return opened;
}

/** Opens the page with a clock that the test controls. Until it moves, only buttons send requests. */
async function openStill(
  info?: HubPageInfo,
  options?: BrowserContextOptions,
): Promise<{ page: Page; server: PageServer }> {
  const opened = await openBlank(info, options);
  await opened.page.clock.install({ time: 0 });
  await opened.page.clock.pauseAt(1000);
  await opened.page.goto(opened.server.origin);
  return opened;
}

async function openBlank(
  info: HubPageInfo = fullInfo,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; server: PageServer }> {
  const opened = await servePage(info);
  server = opened;
  const context = await browser.newContext({ viewport: wide, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  return { page, server: opened };
}

async function openAll(page: Page): Promise<void> {
  await page.locator("details").evaluateAll((rows) => {
    for (const row of rows) row.setAttribute("open", "");
  });
}

async function replayFirst(page: Page): Promise<void> {
  await page.locator("summary").first().click();
  await page.locator("[data-replay]").first().click();
}

/** Returns the elements that the Tab key focuses from here to the end of the page: the text and the outline of each. */
async function walk(page: Page): Promise<string[]> {
  const stops: string[] = [];
  while (stops.length < 50) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const { activeElement: focused } = document;
      if (!focused || focused === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      return `${focused.textContent?.trim().replaceAll(/\s+/g, " ")} | ${outlineStyle} ${outlineWidth}`;
    });
    if (!stop) break;
    stops.push(stop);
  }
  return stops;
}
