// @module-tag slow

import { describe, expect, onTestFinished, test } from "vitest";
import { startDev } from "../../../src/dev/dev-session.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { openProject, optionsIn } from "../../dev/dev-project.ts";
import { expectAccessible, looks } from "../../support/browser.ts";
import { freePort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { shareBrowser } from "../app/open-console.ts";

const browser = shareBrowser();

/** Opens a URL with this color scheme and width. */
async function open(url: string, { colorScheme, viewport }: (typeof looks)[number]) {
  // The browser also logs responses with status 4xx or 5xx as errors.
  browser.allow(/^Failed to load resource/);
  const page = await browser.newPage({ colorScheme, viewport });
  return { page, status: (await page.goto(url))?.status() };
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
  });
});
