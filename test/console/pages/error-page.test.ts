import { describe, expect, test } from "vitest";
import { renderErrorPage } from "../../../src/console/pages/error-page.ts";

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
