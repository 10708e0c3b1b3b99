import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { webhookPayload } from "../../../src/testing.ts";
import { expectAccessible, launchBrowser, looks, wide } from "../../support/browser.ts";
import { waitFor } from "../../support/wait-for.ts";
import { hostilePayload, hostileTexts, openScene, type Scene, strangeId } from "./scene.ts";

const hostileText = Object.values(hostileTexts).join(" ");

/** Every kind of page with its query. */
const queries = {
  list: "",
  "dead list": "?status=dead",
  "empty list": "?status=dead&endpoint=fine",
  succeeded: "?endpoint=fine&id=plain",
  dead: "?endpoint=acme%2Ffailing&id=broken",
  running: "?endpoint=slow&id=running",
  queued: "?endpoint=later&id=waiting",
  hostile: `?${new URLSearchParams({ endpoint: "fine", id: strangeId })}`,
} as const;

let browser: Browser;
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
  const heard = complaints;
  complaints = [];
  expect(heard).toEqual([]);
});

describe("Every page", () => {
  let scene: Scene;

  beforeAll(async () => {
    scene = await openScene();
    await scene.deliver("fine", "plain", webhookPayload("discussion.comment"));
    await scene.deliver("acme/failing", "broken");
    await scene.deliver("slow", "running");
    await scene.deliver("later", "waiting");
    await scene.deliver("fine", strangeId, hostilePayload(hostileText));
    await scene.reached("plain", "succeeded");
    await scene.reached("broken", "dead");
    await scene.reached("running", "running");
    await scene.reached(strangeId, "succeeded");
    await waitFor(async () => expect((await scene.server.inbox.get("waiting"))?.attempts).toHaveLength(1));
  });

  afterAll(async () => {
    await scene?.close();
  });

  test.each(
    looks.flatMap((look) =>
      (["list", "dead list", "empty list", "dead", "queued"] as const).map((name) => ({ name, ...look })),
    ),
  )("is accessible: $name, $colorScheme, $width pixels wide", async ({ name, colorScheme, viewport }) => {
    const page = await open(scene, queries[name], { colorScheme, viewport });
    await expectAccessible(page);
  });

  test.each(Object.entries(queries).flatMap(([name, query]) => [320, 1280].map((width) => ({ name, query, width }))))(
    "fits without horizontal scrolling: $name at $width pixels",
    async ({ query, width }) => {
      const page = await open(scene, query, { viewport: { width, height: 740 } });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const edges = await page
        .locator("body *:not(.unseen)")
        .evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().right));
      expect(Math.max(...edges)).toBeLessThanOrEqual(width);
    },
  );

  test.each(["", queries.hostile])("shows hostile text as text, and does not run it: %s", async (query) => {
    const page = await open(scene, query);
    await page.mouse.move(600, 500);
    const text = await page.locator("main").innerText();
    expect(text).toContain("<script>window.stolen=1</script> javascript:window.stolen=1");
    expect(await page.evaluate(() => Reflect.get(window, "stolen"))).toBeUndefined();
    expect(await page.locator("img, main svg, main style, body script, [onload], [onerror]").count()).toBe(0);
    expect(await page.locator("[onmouseover], [onfocus], [autofocus], [style]").count()).toBe(0);
    const addresses = await page
      .locator("a")
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    expect(addresses.filter((address) => !address.startsWith(scene.url))).toEqual([]);
  });

  test("shows invisible and control characters as JSON escapes", async () => {
    const page = await open(scene, queries.hostile);
    const text = await page.locator("#payload").innerText();
    expect(text).toContain(String.raw`\u001b[31mred\u0007\u0000\u009b2J`);
    expect(text).not.toMatch(/[\u0000-\u0008\u001b\u009b\u202E\u2066\u200B]/);
  });

  test("runs no inline script, even if one is not escaped", async () => {
    const page = await open(scene);
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = `document.title = "hacked"`;
      document.body.append(script);
    });
    expect(await page.title()).toBe("1 dead · hub-webhooks");
    expect(complaints).toEqual([expect.stringContaining("Content Security Policy")]);
    complaints = [];
  });

  test("opens a hostile body as plain text", async () => {
    const page = await open(scene, queries.hostile);
    await page.getByRole("link", { name: "The body as it arrived" }).click();
    expect(JSON.parse(await page.locator("body").innerText())).toEqual(
      JSON.parse(JSON.stringify(hostilePayload(hostileText))),
    );
    expect(await page.evaluate(() => document.contentType)).toBe("text/plain");
  });

  test("cannot be shown in a frame", async () => {
    const page = await open(scene);
    const body = `<!doctype html><title>Embeds</title><link rel="icon" href="data:,"><iframe src="${scene.url}/_deliveries"></iframe>`;
    await page.route("**/embeds", (route) => route.fulfill({ contentType: "text/html", body }));
    await page.goto(`${scene.url}/embeds`);
    await expect.poll(() => complaints.splice(0)).toEqual([expect.stringContaining("frame-ancestors")]);
  });

  test("links the list with the page of a delivery, without JavaScript", async () => {
    const page = await open(scene, "", { javaScriptEnabled: false });
    await page.getByRole("link", { name: "dead 1", exact: true }).click();
    await page.locator(".row").click();
    expect(await page.locator("h1").innerText()).toBe("Dead after 2 attempts");
    expect(await page.getByText("The trainer gave up").count()).toBe(2);
    // There are no buttons without a function.
    expect(await page.getByRole("button").count()).toBe(0);
    await page.getByRole("link", { name: "Deliveries", exact: true }).click();
    expect(await page.locator("h2").innerText()).toBe("All deliveries");
    await page.locator(".row", { hasText: "a{|}~" }).click();
    expect(await page.locator("#delivery-id").innerText()).toBe(strangeId);
  });

  test("can be operated with the Tab key in reading order, with visible outlines", async () => {
    const page = await open(scene, queries["dead list"]);
    const names = [
      "Deliveries",
      "Endpoints",
      "all 5",
      "queued 1",
      "running 1",
      "succeeded 2",
      "dead 1",
      "every endpoint",
      "acme/failing",
      "fine",
      "later",
      "slow",
      "Replay all dead of acme/failing",
      "Pause updates",
    ];
    const stops = await walk(page);
    expect(stops.slice(0, -1)).toEqual(names.map((name) => `${name} | solid 3px`));
    expect(stops.at(-1)).toMatch(/^dead repo.content · update dataset acme\/data 2 attempts .* solid 3px$/);
  });

  test("outlines the selected status in forced colors", async () => {
    const page = await open(scene, queries["dead list"], { forcedColors: "active" });
    const outlines = await page
      .locator(".tabs a")
      .evaluateAll((tabs) => tabs.map((tab) => getComputedStyle(tab).outlineStyle));
    expect(outlines).toEqual(["none", "none", "none", "none", "solid"]);
  });

  test("copies the payload as JSON", async () => {
    const page = await open(scene, queries.succeeded, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "Copy the payload" }).click();
    await page.getByRole("status").getByText("Copied the payload.").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(JSON.parse(copied)).toEqual(webhookPayload("discussion.comment"));
  });
});

describe("On an open page,", () => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await openScene();
    return () => scene.close();
  });

  test("Replay runs the delivery again, announces it, and shows the new attempt", async () => {
    await scene.deliver("fine", strangeId);
    await scene.reached(strangeId, "succeeded");
    const page = await openStill(scene, queries.hostile);
    const button = page.getByRole("button", { name: "Replay this delivery" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Replayed: it is in the queue.").waitFor();
    await waitFor(() => expect(scene.runs).toEqual([`fine ${strangeId}`, `fine ${strangeId}`]));
    await scene.reached(strangeId, "succeeded");
    await page.clock.runFor(4_000);
    await page.getByText("Attempt 2", { exact: true }).waitFor();
    expect(await page.locator("h1").innerText()).toBe("Succeeded at attempt 2");
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await button.innerText()).toContain("Replay");
  });

  test("Replay shows the reason of a failure, and can be clicked again", async () => {
    await scene.deliver("fine", "plain");
    await scene.reached("plain", "succeeded");
    const page = await openStill(scene, queries.succeeded);
    const replay = vi.spyOn(scene.server.inbox, "replay").mockRejectedValueOnce(new Error("down"));
    const button = page.locator("[data-replay]");
    await button.click();
    await page.getByRole("status").getByText("Not replayed: The inbox does not answer").waitFor();
    expect(await button.innerText()).toContain("Failed");
    expect(replay).toHaveBeenCalledTimes(1);
    await button.click();
    await page.getByRole("status").getByText("Replayed: it is in the queue.").waitFor();
    complaints = complaints.filter((complaint) => !complaint.includes("status of 503"));
  });

  test("Replay all dead asks for confirmation, can be canceled, and then runs all of them", async () => {
    for (const id of ["a", "b"]) {
      await scene.deliver("acme/failing", id);
      await scene.reached(id, "dead");
    }
    scene.fails = false;
    scene.runs.length = 0;
    const page = await openStill(scene, queries["dead list"]);
    const ask = page.getByRole("button", { name: "Replay all dead of acme/failing" });
    const yes = page.getByRole("button", { name: "Yes, replay all dead of acme/failing" });
    await ask.focus();
    await page.keyboard.press("Enter");
    expect(await page.getByText("Run 2 dead deliveries again?").isVisible()).toBe(true);
    expect(await yes.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    expect(await ask.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(scene.runs).toEqual([]);
    await ask.click();
    await yes.click();
    await page.getByRole("status").getByText("Replayed: 2 are in the queue.").waitFor();
    await waitFor(() => expect(scene.runs.toSorted()).toEqual(["acme/failing a", "acme/failing b"]));
    await scene.reached("a", "succeeded");
    await scene.reached("b", "succeeded");
    await page.clock.runFor(4_000);
    await page.getByText("Nothing is dead").waitFor();
  });

  test("new deliveries appear, and the focus stays in place", async () => {
    await scene.deliver("fine", "plain");
    await scene.reached("plain", "succeeded");
    const page = await openStill(scene);
    await page.locator(".row").focus();
    await scene.deliver("fine", "newer");
    await scene.reached("newer", "succeeded");
    await page.clock.runFor(5_000);
    await expect.poll(() => page.locator(".row").count()).toBe(2);
    const focused = await page.evaluate(() => document.activeElement?.getAttribute("href"));
    expect(focused).toBe("_deliveries?endpoint=fine&id=plain");
    expect(await page.locator(".row code").allInnerTexts()).toEqual(["newer", "plain"]);
  });

  test("nothing changes while updates are paused, or while Replay all dead asks for confirmation", async () => {
    await scene.deliver("acme/failing", "a");
    await scene.reached("a", "dead");
    const page = await openStill(scene, queries["dead list"]);
    const list = vi.spyOn(scene.server.inbox, "list");
    await page.getByRole("button", { name: "Pause updates" }).click();
    await page.clock.runFor(20_000);
    await page.getByRole("button", { name: "Resume updates" }).click();
    await page.getByRole("button", { name: "Replay all dead" }).click();
    await page.clock.runFor(20_000);
    // The response to a request that was sent earlier arrives earlier.
    await page.evaluate(() => fetch("/health"));
    expect(list).not.toHaveBeenCalled();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.clock.runFor(5_000);
    await expect.poll(() => list.mock.calls.length).toBe(1);
  });

  test("a warning appears while the inbox does not respond", async () => {
    const page = await openStill(scene);
    const warning = page.getByText("The server does not answer, or the inbox does not.");
    expect(await warning.isVisible()).toBe(false);
    const list = vi.spyOn(scene.server.inbox, "list").mockRejectedValue(new Error("down"));
    await page.clock.runFor(5_000);
    await warning.waitFor();
    list.mockRestore();
    await expect
      .poll(async () => {
        await page.clock.runFor(5_000);
        return warning.isVisible();
      })
      .toBe(false);
    complaints = complaints.filter((complaint) => !complaint.includes("status of 503"));
  });
});

test("A browser with the token opens the page and replays a delivery", async () => {
  const scene = await openScene({ dashboardToken: "gehört-mir ☃" });
  try {
    await scene.deliver("fine", "plain");
    await scene.reached("plain", "succeeded");
    const httpCredentials = { username: "me", password: "gehört-mir ☃" };
    const page = await open(scene, queries.succeeded, { httpCredentials });
    await page.locator("[data-replay]").click();
    await page.getByRole("status").getByText("Replayed: it is in the queue.").waitFor();
    await waitFor(() => expect(scene.runs).toHaveLength(2));
  } finally {
    await scene.close();
  }
});

async function open(scene: Scene, query = "", options: BrowserContextOptions = {}): Promise<Page> {
  const page = await openBlank(options);
  await page.goto(`${scene.url}/_deliveries${query}`);
  return page;
}

/** Opens the page with a clock that the test controls. Until it moves, only buttons send requests. */
async function openStill(scene: Scene, query = ""): Promise<Page> {
  const page = await openBlank();
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await page.goto(`${scene.url}/_deliveries${query}`);
  return page;
}

async function openBlank(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: wide, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  return page;
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
