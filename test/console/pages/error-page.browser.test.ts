import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startDev } from "../../../src/dev/dev-session.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { openProject, optionsIn } from "../../dev/dev-project.ts";
import { expectAccessible, launchBrowser, looks } from "../../support/browser.ts";
import { freePort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);

afterAll(async () => {
  await browser?.close();
});

/** Opens a URL with this color scheme and width. Returns the page and the problems that the browser reports. */
async function open(url: string, look: (typeof looks)[number]) {
  const context = await browser.newContext({ colorScheme: look.colorScheme, viewport: look.viewport });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  // The browser also logs responses with status 4xx or 5xx as errors. The tests expect them.
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  const response = await page.goto(url);
  return { page, complaints, status: response?.status() };
}

describe.each(looks)("An error page, $colorScheme and $width pixels wide,", (look) => {
  test.each([
    ["/nowhere", 404, "Page not found"],
    ["/webhooks/retrain", 405, "This URL only accepts deliveries"],
  ])("of a server at %s is accessible, fits the width, and loads no other files", async (path, status, heading) => {
    const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
    onTestFinished(() => server.close());
    server.webhook("retrain", () => {});
    const { url } = await server.launch({ port: 0, host: "127.0.0.1" });
    const opened = await open(`${url}${path}`, look);
    expect(opened.status).toBe(status);
    expect(await opened.page.getByRole("heading", { level: 1 }).textContent()).toBe(heading);
    await expectAccessible(opened.page);
    const width = await opened.page.evaluate<number>("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(look.width);
    // The fonts of the tokens have names in quotes.
    const font = await opened.page.locator("code").evaluate((code) => getComputedStyle(code).fontFamily);
    expect(font).toContain('"Liberation Mono"');
    expect(opened.complaints).toEqual([]);
  });

  test("of a file that does not load shows the position of the error", async () => {
    const project = await openProject({
      "server.ts": "const deep = () => {\n  throw new TypeError('boom');\n};\ndeep();\nexport {};",
    });
    const broken = Promise.withResolvers<void>();
    const port = await freePort();
    const stop = new AbortController();
    const starting = startDev({
      ...optionsIn(project, { waitForFile: true, port, signal: stop.signal }),
      onEvent: ({ event }) => (event === "broken" ? broken.resolve() : undefined),
    }).catch(() => {});
    onTestFinished(async () => {
      stop.abort();
      await starting;
    });
    await broken.promise;
    const opened = await open(`http://127.0.0.1:${port}/`, look);
    expect(opened.status).toBe(503);
    expect(await opened.page.locator("main").innerText()).toContain("TypeError: boom");
    expect(await opened.page.locator("pre").innerText()).toContain("server.ts:4:1");
    await expectAccessible(opened.page);
    expect(opened.complaints).toEqual([]);
  });
});
