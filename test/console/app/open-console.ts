import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from "vitest";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { expectAccessible, launchBrowser, wide } from "../../support/browser.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

export const secret = "Planted-5ecret-9d1e07";
export const consoleToken = "t0ken-of-the-owner";

/** Options of a page. `isSignedIn`: default `true`. `hash`: the first route. */
export interface OpenPageOptions extends BrowserContextOptions {
  hash?: string;
  /** The query of the document, such as `?__theme=dark`. */
  search?: string;
  isSignedIn?: boolean;
}

/**
 * Starts one browser for all tests of a file. After each test, every error and warning in the browser's console fails it: a
 * blocked script or style, a missing asset, an uncaught error.
 */
export function shareBrowser() {
  let browser: Browser | undefined;
  let reported: string[] = [];
  let allowed: RegExp[] = [];
  let tolerated: RegExp[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  }, 60_000);
  afterAll(() => browser?.close());
  afterEach(async () => {
    await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
    const [texts, expected, permitted] = [reported, allowed, [...allowed, ...tolerated]];
    [reported, allowed, tolerated] = [[], [], []];
    expect(texts.filter((text) => !permitted.some((pattern) => pattern.test(text)))).toEqual([]);
    expect(expected.filter((pattern) => !texts.some((text) => pattern.test(text)))).toEqual([]);
  });
  const newPage = async (options: BrowserContextOptions = {}) => {
    if (!browser) throw new Error("The browser has not started.");
    const context = await browser.newContext({ viewport: wide, ...options });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    // Less than the timeout of a test, so that a failure names the element that did not appear.
    context.setDefaultTimeout(12_000);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") reported.push(message.text());
    });
    page.on("pageerror", (error) => reported.push(error.message));
    return page;
  };
  return {
    /** Opens an empty page in a context of its own. */
    newPage,
    /** Expects a problem that the browser reports, such as a failed request. At least one must match. */
    allow: (pattern: RegExp) => void allowed.push(pattern),
    /** Permits a problem that the browser reports only if a request coincides with a change of the server. */
    tolerate: (pattern: RegExp) => void tolerated.push(pattern),
    /** Opens a page in a context of its own, signed in to a console. */
    async open(
      url: string,
      { hash = "#/deliveries", search = "", isSignedIn = true, ...options }: OpenPageOptions = {},
    ): Promise<Page> {
      const page = await newPage(options);
      if (isSignedIn) {
        const answer = await page.request.post(`${url}/_console/api/session`, { data: { token: consoleToken } });
        expect(answer.status()).toBe(200);
      }
      await page.goto(`${url}/_console/${search}${hash}`);
      if (isSignedIn) await page.getByRole("navigation").waitFor();
      return page;
    },
  };
}

/** A request to send to an endpoint. */
interface Sent {
  endpoint: string;
  id?: string;
  /** The repository of the default payload. */
  name?: string;
  payload?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** A server on a socket. */
export type OpenServer = Awaited<ReturnType<typeof openServer>>;

/** Launches a server with a SQLite file, and closes it after the test. */
export async function openServer(
  declare: (server: WebhooksServer) => void,
  options: WebhooksServerOptions = {},
  port?: number,
) {
  const opened = await launchServer(declare, { inbox: `sqlite:${inboxFile()}`, ...options }, port);
  onTestFinished(() => opened.server.close());
  return opened;
}

/** Launches a server, by default with an inbox in memory. */
export async function launchServer(
  declare: (server: WebhooksServer) => void,
  options: WebhooksServerOptions = {},
  port = 0,
) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret, consoleToken, logger, inbox: "sqlite::memory:", ...options });
  declare(server);
  const { url } = await server.launch({ port, host: "127.0.0.1", handleSignals: false });
  /** Reads a resource of the console's API. */
  const read = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${consoleToken}` };
    return (await fetch(`${url}/_console/api/${path}`, { headers })).json();
  };
  return {
    ...{ server, url, logger, read },
    /** Sends a delivery over the socket. Returns the status of the answer. */
    async deliver({ endpoint, id, name = "acme/data", payload, headers = {} }: Sent): Promise<number> {
      const request = deliveryRequest({
        ...{ endpoint, secret, baseUrl: url, ...(id !== undefined && { id }) },
        payload: payload ?? webhookPayload("repo.content", { repo: { name } }),
      });
      for (const [header, value] of Object.entries(headers)) request.headers.set(header, value);
      return (await fetch(request)).status;
    },
    /** Waits until a delivery has a status. */
    async untilStatus(endpoint: string, id: string, status: string): Promise<void> {
      const path = `deliveries/one?${new URLSearchParams({ endpoint, id })}`;
      await waitFor(async () => expect(await read(path)).toMatchObject({ status }), { interval: 20 });
    },
  };
}

/** Declares the endpoint `inline`. */
export function declareInline(server: WebhooksServer): void {
  server.webhook("inline", ({ repo }) => ({ rows: 3, name: repo.name }));
}

/** Launches a server with the endpoint `inline`. */
export function openInline(options: WebhooksServerOptions = {}): Promise<OpenServer> {
  return openServer(declareInline, options);
}

/** Returns the rows of the list of deliveries, newest first. */
export function rowsOf(page: Page): Locator {
  return page.locator("tbody tr.delivery");
}

/** Returns the pane of the open delivery. */
export function paneOf(page: Page): Locator {
  return page.getByRole("region", { name: "Delivery", exact: true });
}

/** Returns a toast with this text. */
export function toastOf(page: Page, text: string | RegExp): Locator {
  return page.locator(".toast").filter({ hasText: text });
}

/** Opens a route of the app without loading the document again. */
export async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate((target) => {
    location.hash = target;
  }, hash);
}

/** Returns the text that the page has copied. */
export function readClipboard(page: Page): Promise<string> {
  return page.evaluate("navigator.clipboard.readText()");
}

/**
 * Checks a view with axe, and that it does not scroll sideways. The window is high enough for the whole view, because axe cannot
 * measure the contrast of texts that are scrolled out of view.
 */
export async function expectUsable(
  page: Page,
  { overlapped = [] }: { overlapped?: readonly RegExp[] } = {},
): Promise<void> {
  await expectNoSidewaysScrolling(page);
  const size = page.viewportSize() ?? wide;
  await page.setViewportSize({ ...size, height: 4_000 });
  await expectAccessible(page, { overlapped });
  await page.setViewportSize(size);
}

/** Checks that the document is as wide as the window. */
export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBe(page.viewportSize()?.width);
}
