import { describe, expect, test } from "vitest";
import type { HubPageInfo } from "../../../src/local-hub/page/info.ts";
import { hubPage, hubPageAsset } from "../../../src/local-hub/page/page.ts";
import { fullInfo, hostileInfo, now, quietWebhook, sampleEntry, sampleInfo, sampleWebhook } from "./sample-info.ts";

describe("The head of the page", () => {
  test.each([
    { count: 0, state: "Ready for a first webhook" },
    { count: 1, state: "1 webhook, ready" },
    { count: 1200, state: "1,200 webhooks, ready" },
  ])("with $count webhooks shows “$state”", async ({ count, state }) => {
    const webhooks = Array.from({ length: count }, () => sampleWebhook({ log: [] }));
    expect(await textOf(sampleInfo({ webhooks }))).toContain(`${state} A Hub of your own`);
  });

  test("shows how the local Hub was started, and its counts", async () => {
    expect(await textOf(fullInfo)).toContain(
      "Started 2 hours ago Attempts logged 5 Suspended 1 Jobs run here Delivers to this machine only",
    );
    const other = await textOf(sampleInfo({ allowRemote: true }));
    expect(other).toContain("Suspended none Jobs only recorded Delivers to any address");
  });

  test("omits unknown counts", async () => {
    const log = Array.from({ length: 30 }, (_, index) => sampleEntry({ logId: `e${index}` }));
    expect(await textOf(sampleInfo({ webhooks: [sampleWebhook({ log })] }))).toContain("Attempts logged 30 or more");
  });
});

describe("A webhook", () => {
  test("shows its URL, its watched items, its domains, secret and owner", async () => {
    expect(await textOf(sampleInfo())).toContain(
      "http://localhost:7860/webhooks/trigger_training enabled triggered 3 minutes ago Id 66d4a0e1b2c3d4e5f6a7b8c9 " +
        "Copy the id of this webhook Watches dataset me/data Domains repo discussion Secret set Owner local-user Activity",
    );
  });

  test("with a job shows the job", async () => {
    const page = await textOf(fullInfo);
    expect(page).toContain("Job python train.py --dataset me/data disabled");
    expect(page).toContain("Job like 66d4a0e1b2c3d4e5f6a7b8dd enabled never triggered");
  });

  test("that is suspended shows the reason and the command that enables it", async () => {
    const page = await textOf(sampleInfo({ webhooks: [sampleWebhook({ state: "suspended" })] }));
    expect(page).toContain("Suspended , because too many deliveries in a row have failed");
    expect(page).toContain(
      String.raw`HF_ENDPOINT=http://127.0.0.1:5050 HF_TOKEN=hf_local \ hub-webhooks enable 66d4a0e1b2c3d4e5f6a7b8c9 Copy`,
    );
  });

  test("that is enabled does not show how to enable it", async () => {
    expect(await textOf(sampleInfo())).not.toContain("hub-webhooks enable");
  });

  test("without activity shows how to trigger an event", async () => {
    const page = await textOf(sampleInfo({ webhooks: [quietWebhook()] }));
    expect(page).toContain(
      "Nothing delivered yet. Let something happen: HF_ENDPOINT=http://127.0.0.1:5050 \\ hub-webhooks trigger dataset:me/data",
    );
    expect(page).not.toContain("Replay");
  });

  test("with very many watched items shows only some of them", async () => {
    const watched = Array.from({ length: 1500 }, (_, index) => ({ type: "model", name: `me/m${index}` }));
    const page = await textOf(sampleInfo({ webhooks: [sampleWebhook({ watched })] }));
    expect(page).toContain("model me/m19 1,480 more");
  });
});

test("Without a webhook the page shows the command that creates one", async () => {
  const page = await textOf(sampleInfo({ webhooks: [] }));
  expect(page).toContain("No webhook yet");
  expect(page).toContain(String.raw`HF_ENDPOINT=http://127.0.0.1:5050 HF_TOKEN=hf_local \ hub-webhooks create \ --url`);
});

describe("A log entry", () => {
  const page = textOf(fullInfo);

  test("shows status, event, repository, attempt, time and duration in one line", async () => {
    expect(await page).toContain("200 repo.content · update dataset me/data just now 8 ms");
    expect(await page).toContain("500 repo.content · update dataset me/data attempt 2 3 minutes ago 1.5 s");
    expect(await page).toContain("no answer repo.content · update dataset me/data 20 minutes ago 30.0 s");
    expect(await page).toContain("302 a payload without an event 3 minutes ago");
  });

  test("contains the request and the response", async () => {
    expect(await page).toContain(
      `Request to http://localhost:7860/webhooks/trigger_training Payload Copy the payload { "event": { "action": "update",`,
    );
    expect(await page).toContain("Headers Copy the headers of the request content-type: application/json");
    expect(await page).toContain("x-webhook-secret: ***");
    expect(await page).toContain(`Answer 200 Body Copy the body of the answer { "result": "training" } Headers`);
    expect(await page).toContain("Internal Server Error The answer went on: no more of it was read. Headers: empty");
    expect(await page).toContain("nothing listens at localhost:7860: start your receiver");
    expect(await page).toContain("Delivery id 66d4a1f0decade0000000001 Copy the delivery id Log id a3 Copy");
  });

  test("has a replay button", async () => {
    const path = "_local/webhooks/66d4a0e1b2c3d4e5f6a7b8c9/replay/a3";
    expect(await htmlOf(fullInfo)).toContain(`data-replay="${path}"`);
  });

  test("with a very long body shows a part of the body, with a note", async () => {
    const response = { headers: {}, body: "x".repeat(60_000), truncated: false };
    const html = await htmlOf(sampleInfo({ webhooks: [sampleWebhook({ log: [sampleEntry({ response })] })] }));
    expect(html.match(/x{1000,}/g)?.map(({ length }) => length)).toEqual([20_000]);
    expect(html).toContain("the whole has 60,000 characters");
  });
});

test("A page with a hundred webhooks and full logs of long bodies stays below 20 MB, and states what it omits", async () => {
  const response = { headers: {}, body: "<".repeat(64_000), truncated: true };
  const log = Array.from({ length: 30 }, (_, index) => sampleEntry({ logId: `e${index}`, response }));
  const webhooks = Array.from({ length: 100 }, (_, index) => sampleWebhook({ id: `w${index}`, log }));
  const html = await htmlOf(sampleInfo({ webhooks }));
  expect(html.length).toBeLessThan(20_000_000);
  expect(html.match(/<details/g)).toHaveLength(600);
  expect(html).toContain("50 more are kept, but not shown here");
  expect(html).toContain("Older entries, if any, are in the log as JSON");
});

describe("The HTML document", () => {
  test("has the requested theme, or that of the system", async () => {
    expect(await htmlOf(sampleInfo({ theme: "dark" }))).toContain(`data-theme="dark"`);
    expect(await htmlOf(sampleInfo())).not.toContain("data-theme");
  });

  test("is not cached, sniffed or framed, and can only send requests to the local Hub", () => {
    const { headers } = hubPage(sampleInfo());
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  test("links to existing assets", async () => {
    const names = [...(await htmlOf(sampleInfo())).matchAll(/"_page\/([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(names).toEqual([expect.stringMatching(/^styles-\w{8}\.css$/), expect.stringMatching(/^page-\w{8}\.js$/)]);
    for (const name of names) expect(await hubPageAsset(name)?.text()).not.toBe("");
    expect(hubPageAsset("page.js")).toBeUndefined();
  });

  test("has no duplicate ids", async () => {
    const ids = [...(await htmlOf(fullInfo)).matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("Hostile text in every field", () => {
  const html = htmlOf(hostileInfo);

  test("never becomes markup, an event handler or a link", async () => {
    expect((await html).match(/<script/g)).toHaveLength(1);
    expect(await html).not.toMatch(/<style|<img|<svg onload/);
    const links = [...(await html).matchAll(/href="([^"]*)"/g)].map((match) => match[1] ?? "");
    for (const link of links) expect(link).toMatch(/^(#webhooks|_local\/|_page\/|openapi\.json$|data:image\/svg)/);
    expect(await html).toContain("&lt;script&gt;");
  });

  test("is shown with invisible characters escaped", async () => {
    expect(await html).not.toMatch(/[\u0000\u001b\u200b\u202e]/);
    expect(await html).toContain(String.raw`\u001b[31mred\u001b[0m \u202egnp.exe \u0000 \u200b`);
  });

  test("does not change the destination of a replay", async () => {
    const paths = [...(await html).matchAll(/data-replay="([^"]*)"/g)].map((match) =>
      (match[1] ?? "").replaceAll("&#39;", "'"),
    );
    expect(paths).toHaveLength(12);
    for (const path of paths) expect(path).toMatch(/^_local\/webhooks\/[^/?#:]+\/replay\/[^/?#:]+$/);
    const dots = sampleInfo({ webhooks: [sampleWebhook({ log: [sampleEntry({ logId: "../../reset" })] })] });
    expect(await htmlOf(dots)).toContain("/replay/..%2F..%2Freset");
  });
});

function htmlOf(info: HubPageInfo): Promise<string> {
  return hubPage(info, now).text();
}

/** Returns the visible text of the page's body, with single spaces. */
async function textOf(info: HubPageInfo): Promise<string> {
  const html = await htmlOf(info);
  return html
    .slice(html.indexOf("<body>"))
    .replaceAll(/<wbr>|<\/?(?:mark|code|a|time)\b[^>]*>/g, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");
}
