// @module-tag slow

import { existsSync } from "node:fs";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sections } from "../../docs/.vitepress/pages.ts";
import { expectAccessible, launchBrowser, looks, wide } from "../support/browser.ts";
import { root } from "../support/project-folder.ts";

const site = join(root, "docs/.vitepress/dist");
const isBuilt = existsSync(site);
if (!isBuilt) console.warn('Skipped the docs site, because it is not built. Run "npm run docs:build".');

/**
 * The outline, and the ends of long code lines. The theme covers both with a gradient or a label, but their colors are
 * the same as elsewhere.
 */
const overlapped = [/outline/, /^a\[(title|href)=/, /VPSidebarItem/, /span(:nth-child\(\d+\))?$/];

describe.skipIf(!isBuilt)("The docs site", () => {
  let browser: Browser;
  let origin: string;
  let close: () => void;
  let complaints: string[] = [];

  beforeAll(async () => {
    const app = new Hono();
    // The site has clean URLs: the path of a page has no ".html".
    app.use(serveStatic({ root: site, rewriteRequestPath: (path) => path.replace(/\/$/, "/index.html") }));
    app.use(serveStatic({ root: site, rewriteRequestPath: (path) => `${path}.html` }));
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await new Promise((listening) => server.once("listening", listening));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The site has no port.");
    origin = `http://127.0.0.1:${address.port}`;
    close = () => server.close();
    browser = await launchBrowser();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    close?.();
  });

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    const found = complaints;
    complaints = [];
    expect(found).toEqual([]);
  });

  async function open(path: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ ...options, baseURL: origin });
    const page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(path, { waitUntil: "networkidle" });
    return page;
  }

  describe.each(looks)("in the $colorScheme theme, $width pixels wide", (look) => {
    test.each([
      "/",
      "/quick-start",
      "/guides/background",
      "/guides/operate-deliveries",
      "/reference/answers",
      "/reference/api/",
    ])("has an accessible page %s without horizontal scrolling", async (path) => {
      const page = await open(path, look);
      await expectAccessible(page, { overlapped });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(look.width);
    });
  });

  test.each(["suspended", "retry", "secret"])("finds “%s” with its search", async (words) => {
    const page = await open("/quick-start", { viewport: wide });
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.getByRole("searchbox").fill(words);
    const results = page.locator(".VPLocalSearchBox .result");
    await results.first().waitFor();
    expect(await results.count()).toBeGreaterThan(0);
    await results.first().click();
    await page.waitForURL((url) => url.pathname !== "/quick-start");
    await expect.poll(async () => (await page.locator("main").innerText()).toLowerCase()).toContain(words);
  });

  test("has a page for each entry of the sidebar, and no broken links", async () => {
    const pages = new Map<string, string>();
    const read = async (path: string) => {
      const found = pages.get(path);
      if (found !== undefined) return found;
      const response = await fetch(new URL(path, origin));
      expect(response.status, path).toBe(200);
      const text = await response.text();
      pages.set(path, text);
      return text;
    };
    const entries = sections.flatMap(({ pages: listed }) =>
      listed.map(({ path, title }) => ({ path: `/${path}`, title })),
    );
    for (const { path, title } of entries) {
      const [, heading = ""] = /<h1[^>]*>(.*?)<a /s.exec(await read(path)) ?? [];
      expect(heading.replace(/<[^>]+>/g, ""), path).toContain(title);
    }
    const targets = new Set<string>();
    for (const path of ["/", ...entries.map((entry) => entry.path)]) {
      for (const [, href = ""] of (await read(path)).matchAll(/<a [^>]*?href="([^"]+)"/g)) {
        const url = new URL(href.replaceAll("&amp;", "&"), new URL(path, origin));
        if (url.origin === origin) targets.add(url.pathname + url.hash);
      }
    }
    expect(new Set([...targets].map((target) => target.replace(/#.*/, ""))).size).toBeGreaterThan(30);
    for (const target of targets) {
      const [path = "", anchor] = target.split("#");
      const text = await read(path);
      if (anchor) expect(text, target).toContain(`id="${decodeURIComponent(anchor)}"`);
    }
  });
});
