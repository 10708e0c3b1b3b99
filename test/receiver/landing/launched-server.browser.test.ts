// @module-tag slow

import { expect, onTestFinished, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { launchBrowser, wide } from "../../support/browser.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

test("The console opens in a new tab, below the prefix, also from a frame", { timeout: 120_000 }, async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  await using server = new WebhooksServer({
    ...{ logger: createMemoryLogger(), secret: "s3cret", inbox: "sqlite::memory:", basePath: "/hub" },
  });
  for (const background of [false, true]) server.webhook(`background-${background}`, { background }, () => "done");
  const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  const page = await browser.newPage({ viewport: wide });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => complaints.push(request.url()));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  // The content security policy of the landing page allows no frames in it.
  await page.goto(`${url}/hub/health`);
  await page.evaluate(() => {
    const frame = document.createElement("iframe");
    frame.src = "./";
    frame.width = "1000";
    frame.height = "600";
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
  expect(complaints).toEqual([]);
});
