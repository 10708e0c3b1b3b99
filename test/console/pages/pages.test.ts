import { describe, expect, test } from "vitest";
import { hashAssets } from "../../../src/console/pages/assets.ts";
import { timeAgo } from "../../../src/console/pages/document.ts";
import { renderErrorPage } from "../../../src/console/pages/error-page.ts";

const assets = hashAssets({ "styles.css": "p { margin: 0; }", "page.js": "report();" });

describe("The files of a page", () => {
  test("have names that change only with their content", () => {
    const changed = hashAssets({ "styles.css": "p { margin: 1px; }", "page.js": "report();" });
    expect(assets.nameOf("styles.css")).toMatch(/^styles-[0-9a-f]{8}\.css$/);
    expect(changed.nameOf("styles.css")).not.toBe(assets.nameOf("styles.css"));
    expect(changed.nameOf("page.js")).toBe(assets.nameOf("page.js"));
  });

  test("are served with their type, and may be cached permanently", async () => {
    const answer = assets.answer(assets.nameOf("page.js"));
    expect(await answer?.text()).toBe("report();");
    expect(answer?.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answer?.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test.each(["", "page.js", "styles.css", "__proto__", "constructor"])("do not include “%s”", (name) => {
    expect(assets.answer(name)).toBeUndefined();
  });
});

test.each([
  ["2026-09-01T12:00:00.000Z", "just now"],
  ["2026-09-01T11:59:00.001Z", "just now"],
  ["2026-09-01T11:59:00.000Z", "1 minute ago"],
  ["2026-09-01T11:00:00.001Z", "59 minutes ago"],
  ["2026-09-01T11:00:00.000Z", "1 hour ago"],
  ["2026-08-31T12:00:00.001Z", "23 hours ago"],
  ["2026-08-31T12:00:00.000Z", "1 day ago"],
  ["2025-09-01T12:00:00.000Z", "365 days ago"],
  // The clock was set back.
  ["2026-09-01T13:00:00.000Z", "just now"],
])("At noon of 1 September 2026, %s is “%s”", (at, words) => {
  const shown = String(timeAgo(at, new Date("2026-09-01T12:00:00.000Z")));
  expect(shown).toBe(`<time datetime="${at}" title="${at}">${words}</time>`);
});

describe("An error page", () => {
  const content = { status: 404, code: "NOT_FOUND", message: "There is nothing at this path." };

  test("shows title, message, code and a link", () => {
    const { html } = renderErrorPage({ ...content, home: "/hub/" });
    for (const part of ["<h1>Page not found</h1>", content.message, "NOT_FOUND", 'href="/hub/"']) {
      expect(html).toContain(part);
    }
    expect(html).not.toContain("<pre");
    expect(renderErrorPage(content).html).not.toContain("<a href");
  });

  test("shows details line by line", () => {
    const { html } = renderErrorPage({ ...content, title: "It does not load", details: ["TypeError", "  at x:1:2"] });
    expect(html).toContain("<h1>It does not load</h1>");
    expect(html).toMatch(/<pre [^>]*>TypeError\n {2}at x:1:2<\/pre>/);
  });

  test("has a title for an unusual status", () => {
    expect(renderErrorPage({ ...content, status: 599 }).html).toContain("<h1>Something went wrong</h1>");
  });

  test("escapes markup in values, and shows invisible characters", () => {
    const hostile = '<script>alert(1)</script>"\u202e';
    const values = { message: hostile, code: hostile, title: hostile, details: [hostile], home: '/"onclick=x' };
    const { html } = renderErrorPage({ ...content, ...values });
    expect(html).not.toMatch(/<script|"onclick|\u202e/);
  });

  test("may not run scripts or load files, and allows its style with a nonce", () => {
    const [one, other] = [renderErrorPage(content), renderErrorPage(content)].map(({ html, headers }) => {
      const policy = headers["content-security-policy"] ?? "";
      const [, nonce = ""] = /style-src 'nonce-([\w-]+)'/.exec(policy) ?? [];
      expect(policy).toMatch(/^default-src 'none';/);
      expect(policy).not.toMatch(/script-src|unsafe/);
      expect(html).toContain(`<style nonce="${nonce}">`);
      return nonce;
    });
    expect(one).not.toBe(other);
  });
});
