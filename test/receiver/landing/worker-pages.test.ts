import { describe, expect, test } from "vitest";
import { loadErrorPage, loadLandingPage } from "../../../src/receiver/platform.worker.ts";
import { fullInfo, hostileInfo, hostileTexts, sampleEndpoint, sampleInfo } from "./sample-info.ts";

const { landingPage, landingAsset } = loadLandingPage();
const { renderErrorPage } = loadErrorPage();

describe("The landing page of a worker", () => {
  test("lists each endpoint with its URL and scopes", async () => {
    const page = await landingPage(fullInfo).text();
    expect(page).toContain("<h1>4 endpoints</h1>");
    expect(page).toContain("POST https://acme-bot.hf.space/webhooks/moderation/comments");
    expect(page).toContain("(discussion, discussion.comment)");
    expect(page).toContain("(every scope)");
  });

  test("lists 200 endpoints, and counts the others", async () => {
    const endpoints = Array.from({ length: 1_200 }, (_, index) => sampleEndpoint({ name: `endpoint_${index}` }));
    const page = await landingPage(sampleInfo({ endpoints })).text();
    expect(page.match(/<li>/g)).toHaveLength(200);
    expect(page).toContain("1000 more endpoints");
  });

  test("warns only when no secret is set", async () => {
    expect(await landingPage(sampleInfo({ secretIsSet: false })).text()).toContain("WEBHOOK_SECRET");
    expect(await landingPage(sampleInfo({ secretIsSet: true })).text()).not.toContain("WEBHOOK_SECRET");
  });

  test("escapes values from clients", async () => {
    const page = await landingPage(hostileInfo).text();
    for (const text of hostileTexts.filter((text) => /[<"']/.test(text))) expect(page).not.toContain(text);
  });

  test("allows only its own style, and has no assets", async () => {
    const { headers, text } = await readPage(landingPage(fullInfo));
    const nonce = /style nonce="([^"]+)"/.exec(text)?.[1];
    expect(headers.get("content-security-policy")).toContain(`default-src 'none'; style-src 'nonce-${nonce}'`);
    expect(text).not.toContain("<script");
    expect(landingAsset()).toBeUndefined();
  });
});

describe("The error page of a worker", () => {
  test("shows the status, the code, the message and a link to the start page", () => {
    const { html } = renderErrorPage({ status: 404, code: "NOT_FOUND", message: "Check <the> path.", home: "/hub/" });
    expect(html).toContain("Error 404");
    expect(html).toContain("<code>NOT_FOUND</code>");
    expect(html).toContain("Check &lt;the&gt; path.");
    expect(html).toContain('href="/hub/"');
  });

  test("has no link if there is no landing page", () => {
    expect(renderErrorPage({ status: 404, code: "NOT_FOUND", message: "Check the path." }).html).not.toContain("<a ");
  });
});

async function readPage(response: Response) {
  return { headers: response.headers, text: await response.text() };
}
