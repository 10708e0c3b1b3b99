import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { launchBrowser, wide } from "../../support/browser.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const secret = "s3cret";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);

afterAll(() => browser?.close());

/** Launches a server below `/hub` and opens its landing page. The function `send` sends a delivery over the socket. */
async function openLanding() {
  const server = new WebhooksServer({
    logger: createMemoryLogger(),
    secret,
    inbox: "sqlite::memory:",
    basePath: "/hub",
  });
  onTestFinished(() => server.close());
  server.webhook("inline", ({ event }) => {
    if (event.scope === "repo.config") throw new Error("failed");
  });
  server.webhook("background", { background: true }, () => "done");
  const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  const page = await browser.newPage({ viewport: wide });
  onTestFinished(() => page.close());
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => complaints.push(request.url()));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${url}/hub/`);
  const send = async (endpoint: string, payload: unknown) => {
    const request = deliveryRequest({ endpoint, payload, secret, baseUrl: `${url}/hub` });
    return (await fetch(request)).status;
  };
  return { url, page, send, complaints };
}

async function factsOf(page: Page): Promise<Record<string, string>> {
  const facts = await page.locator(".facts > div").allInnerTexts();
  return Object.fromEntries(facts.map((fact) => fact.split("\n").filter((line) => line !== "")));
}

async function stepsOf(page: Page): Promise<readonly string[]> {
  return page.locator(".steps h3").allTextContents();
}

test("The landing page of a launched server counts deliveries, and its steps follow the state of the server", async () => {
  const { page, send, complaints } = await openLanding();
  expect(await stepsOf(page)).toEqual(["Connect the server to a Hub", "Send a test delivery"]);
  expect(await send("inline", webhookPayload("repo.content"))).toBe(200);
  expect(await send("inline", webhookPayload("repo.config"))).toBe(500);
  expect(await send("background", webhookPayload("repo.content"))).toBe(202);
  await page.reload();
  expect(await stepsOf(page)).toEqual(["Check the failed deliveries"]);
  expect(await factsOf(page)).toMatchObject({
    Secret: "set",
    "Deliveries in 24 h": "3",
    "Failed deliveries in 24 h": "1",
  });
  await expect
    .poll(async () => {
      await page.reload();
      return { ...(await factsOf(page)), legend: await page.locator(".legend").innerText() };
    })
    .toMatchObject({
      Queued: "0",
      Running: "0",
      Dead: "0",
      legend: expect.stringMatching(/succeeded 2\D+ignored 0\D+failed 1/),
    });
  expect(await send("inline", webhookPayload("repo.content"))).toBe(200);
  await page.reload();
  await page.getByText("None. The server is set up, and no delivery needs your attention.").waitFor();
  expect(complaints).toEqual([]);
});

test("The console opens in a new tab, below the prefix, also from a frame", async () => {
  const { url, page, complaints } = await openLanding();
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
