// @module-tag slow

import type { Browser, BrowserContextOptions, Locator, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { expectAccessible, launchBrowser, looks, wide } from "../../support/browser.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { answer, fullInfo, hostileInfo, hostileTexts, servePages, sixInfo } from "./sample-info.ts";

const large = { width: 1920, height: 1080 };
const lightGround = "rgb(252, 251, 248)";
const darkGround = "rgb(19, 18, 16)";

let browser: Browser;
let server: Awaited<ReturnType<typeof servePages>>;
/** Every problem that the browser reported: a blocked script or style, a missing asset, an uncaught error. */
let complaints: string[] = [];

beforeAll(async () => {
  [browser, server] = await Promise.all([launchBrowser(), servePages()]);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  server?.close();
});

afterEach(async () => {
  await Promise.all(browser.contexts().map((context) => context.close()));
  const heard = complaints;
  complaints = [];
  expect(heard).toEqual([]);
});

/** Also a large screen, where the page has two columns. */
const everyLook = [...looks, { colorScheme: "light", width: large.width, viewport: large }] as const;

test.each([
  ...everyLook.map((look) => ({ scene: "full", ...look })),
  ...["single", "young", "empty", "fine"].map((scene, index) => ({
    scene,
    ...(looks[index % looks.length] ?? looks[0]),
  })),
])(
  "The page is accessible with the scene “$scene”, $colorScheme, $width pixels wide",
  async ({ scene, colorScheme, viewport }) => {
    const page = await open(`/?scene=${scene}`, { colorScheme, viewport });
    for (const table of await page.locator("summary").all()) await table.click();
    await expectAccessible(page);
  },
);

test.each([
  { scene: "full", width: 360 },
  { scene: "full", width: 320 },
  { scene: "empty", width: 360 },
  { scene: "hostile", width: 360 },
])("The page shows the scene “$scene” at $width pixels without horizontal scrolling", async ({ scene, width }) => {
  const page = await open(`/?scene=${scene}`, { viewport: { width, height: 740 } });
  for (const table of await page.locator("summary").all()) await table.click();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  const edges = await page
    .locator("body *:not(.unseen)")
    .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().right));
  expect(Math.max(...edges)).toBeLessThanOrEqual(width);
});

test.each(["six", "fine"])(
  "At 1280 × 800 pixels, the state and six endpoints of the scene “%s” are visible",
  async (scene) => {
    const page = await open(`/?scene=${scene}`);
    for (const part of ["header", "h1", ".facts", "#endpoints", "#next"]) {
      expect(await isInView(page.locator(part))).toBe(true);
    }
    const rows = await page.locator(".endpoints tbody tr").all();
    expect(rows).toHaveLength(6);
    for (const row of rows) expect(await isInView(row)).toBe(true);
  },
);

test.each([
  { system: "light", asked: undefined, ground: lightGround },
  { system: "dark", asked: undefined, ground: darkGround },
  { system: "light", asked: "dark", ground: darkGround },
  { system: "dark", asked: "light", ground: lightGround },
] as const)("The theme on a $system system is set by ?__theme=$asked", async ({ system, asked, ground }) => {
  const page = await open(asked ? `/?__theme=${asked}` : "/", { colorScheme: system });
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(ground);
});

test("Without JavaScript, every URL is readable, and there are no buttons without a function", async () => {
  const page = await open("/?scene=six", { javaScriptEnabled: false });
  for (const { url } of sixInfo.endpoints) expect(await page.getByText(url, { exact: true }).isVisible()).toBe(true);
  expect(await page.getByRole("button").count()).toBe(0);
  await page.getByText("Show the command").click();
  expect(await page.getByText("curl").isVisible()).toBe(true);
});

describe("The chart", () => {
  test.each(["light", "dark"] as const)("shows every outcome in a contrasting color, %s", async (colorScheme) => {
    const page = await open("/", { colorScheme });
    const luminances = await page.locator(".legend .key rect:not([fill]), pattern rect").evaluateAll((rects) => {
      const linear = (channel: number) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
      const luminanceOf = (color: string) => {
        const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => linear(Number(part) / 255));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      const fills = rects.map((rect) => getComputedStyle(rect).fill).filter((fill) => fill.startsWith("rgb"));
      return [getComputedStyle(document.body).backgroundColor, ...fills].map(luminanceOf);
    });
    const [ground = 0, ...outcomes] = luminances;
    expect(outcomes).toHaveLength(3);
    const contrasts = outcomes.map((one) => (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05));
    // The minimum contrast of graphics in WCAG 2.2 (1.4.11).
    expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(3);
  });
});

describe("A copy button", () => {
  test("copies the URL, announces it, and becomes ready again", async () => {
    const page = await open("/", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.clock.install();
    const button = page.getByRole("button", { name: "the URL of moderation/comments" });
    await button.click();
    await page.getByRole("status").getByText("Copied the URL of moderation/comments.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(fullInfo.endpoints[1]?.url);
    expect(await button.locator("[data-label]").textContent()).toBe("Copied");
    await page.clock.runFor(2500);
    expect(await button.locator("[data-label]").textContent()).toBe("Copy");
    expect(await page.getByRole("status").textContent()).toBe("");
  });

  test("copies the command for a first delivery with its line breaks", async () => {
    const page = await open("/?scene=single", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "the command" }).click();
    await page.getByRole("status").getByText("Copied the command.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl 'https:[^']+' \\\n {2}--header /);
  });

  test("shows and selects the command if the browser denies access to the clipboard", async () => {
    const page = await open("http://receiver.example/?scene=single");
    await page.getByRole("button", { name: "the command" }).click();
    await page.getByRole("status").getByText("Selected the command: copy it with the keyboard.").waitFor();
    expect(await page.evaluate(() => getSelection()?.toString())).toMatch(/^curl 'https:/);
  });
});

test("The Tab key reaches every link and button in reading order, with a visible outline", async () => {
  const page = await open("/");
  const stops: string[] = [];
  for (;;) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const { activeElement: focused } = document;
      if (!focused || focused === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      return `${focused.textContent?.trim().replaceAll(/\s+/g, " ")} | ${outlineStyle} ${outlineWidth}`;
    });
    if (!stop || stops.length > 50) break;
    stops.push(stop);
  }
  const names = [
    "Endpoints",
    "Activity",
    "Health",
    "Console (opens a new tab)",
    "the settings of this Space (opens a new tab)",
    "Copy the command",
    "the webhook settings of the Hub (opens a new tab)",
    "the console (opens a new tab)",
    "the console (opens a new tab)",
    ...fullInfo.endpoints.map(({ name }) => `Copy the URL of ${name}`),
    "Show as a table",
    "the console (opens a new tab)",
  ];
  expect(stops).toEqual(names.map((name) => `${name} | solid 3px`));
});

describe("Hostile text", () => {
  test("is shown as text and never runs", async () => {
    const page = await open("/?scene=hostile");
    const names = await page.locator(".endpoints .name").allTextContents();
    expect(names).toEqual(hostileTexts);
    const urls = await page.locator(".endpoints .copyable code").allTextContents();
    expect(urls).toEqual(hostileInfo.endpoints.map(({ url }) => url));
    expect(await page.locator("img, body script, [onload], [onerror], [onfocus], [autofocus]").count()).toBe(0);
    expect(await page.title()).toBe("5 endpoints · hub-webhooks");
  });

  test("does not run even if it is not escaped", async () => {
    const page = await open("/");
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = `document.title = "hacked"`;
      document.body.append(script);
    });
    expect(await page.title()).toBe("4 endpoints · hub-webhooks");
    expect(complaints).toEqual([expect.stringContaining("Content Security Policy")]);
    complaints = [];
  });
});

describe("In a frame", () => {
  test("on the Hub, the page works, and opens the Hub's settings in a new tab", async () => {
    const page = await open("https://huggingface.co/spaces/acme/bot");
    const space = page.frameLocator("iframe");
    await space.getByRole("heading", { name: "4 endpoints, ready" }).waitFor();
    await space.getByRole("button", { name: "the URL of mirror" }).waitFor();
    expect(await space.locator("body").evaluate((body) => getComputedStyle(body).backgroundColor)).toBe(darkGround);
    const tab = page.waitForEvent("popup");
    await space.getByRole("link", { name: "the webhook settings of the Hub" }).click();
    expect((await tab).url()).toBe("https://huggingface.co/settings/webhooks");
  });

  test("on another site, the browser refuses to show it", async () => {
    const page = await open("https://stranger.example/");
    await expect.poll(() => complaints.splice(0)).toEqual([expect.stringContaining("frame-ancestors")]);
    expect(await page.frameLocator("iframe").getByRole("heading").count()).toBe(0);
  });
});

test("The console of a launched server opens in a new tab, below the prefix, also from a frame", async () => {
  await using launched = new WebhooksServer({
    ...{ logger: createMemoryLogger(), secret: "s3cret", inbox: "sqlite::memory:", basePath: "/hub" },
  });
  for (const background of [false, true]) launched.webhook(`background-${background}`, { background }, () => "done");
  const { url } = await launched.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  // The content security policy of the landing page allows no frames in it.
  const page = await open(`${url}/hub/health`);
  page.on("requestfailed", (request) => complaints.push(request.url()));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.evaluate(() => {
    const frame = Object.assign(document.createElement("iframe"), { src: "./", width: "1000", height: "600" });
    document.body.append(frame);
  });
  const frame = page.frameLocator("iframe");
  await frame.getByRole("heading", { name: "2 endpoints, ready" }).waitFor();
  const opening = page.waitForEvent("popup");
  await frame.getByRole("navigation").getByRole("link", { name: "Console" }).click();
  const tab = await opening;
  await tab.waitForLoadState();
  expect(tab.url()).toContain(`${url}/hub/_console/`);
  expect(await tab.title()).toContain("hub-webhooks");
});

/** Whether the whole element is visible without scrolling. */
async function isInView(element: Locator): Promise<boolean> {
  const box = await element.boundingBox();
  const viewport = element.page().viewportSize();
  if (!box || !viewport) return false;
  return box.y >= 0 && box.y + box.height <= viewport.height && box.x >= 0 && box.x + box.width <= viewport.width;
}

/** Opens a path of the server, or one of the URLs that {@link answerFor} simulates. */
async function open(address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: wide, ...options });
  await context.route(/^https?:\/\/(?!127\.)/, answerFor);
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  await page.goto(new URL(address, server.origin).href);
  return page;
}

/** Simulates other sites: receivers at public URLs, and pages that embed one. */
async function answerFor(route: Route): Promise<void> {
  const url = new URL(route.request().url());
  if (url.hostname === "acme-bot.hf.space" || url.hostname === "receiver.example") {
    const response = answer(url);
    const headers = Object.fromEntries(response.headers);
    return route.fulfill({ status: response.status, headers, body: await response.text() });
  }
  return route.fulfill({
    contentType: "text/html",
    body: `<!doctype html><title>Embeds</title><iframe src="https://acme-bot.hf.space/?__theme=dark" width="900" height="600"></iframe>`,
  });
}
