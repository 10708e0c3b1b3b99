import { build } from "esbuild";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { landingAsset, landingPage } from "../../../src/receiver/landing/landing-page.ts";
import type { LandingActivity, LandingHour, LandingInfo } from "../../../src/receiver/options.ts";
import { loadErrorPage, loadLandingPage } from "../../../src/receiver/platform.worker.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import {
  fullInfo,
  hostileInfo,
  hostileTexts,
  now,
  sampleEndpoint,
  sampleHours,
  sampleInfo,
  visibleText,
} from "./sample-info.ts";

describe("The status line", () => {
  test.each([
    { endpoints: 0, state: "Ready for a first endpoint" },
    { endpoints: 1, state: "1 endpoint, ready" },
    { endpoints: 1200, state: "1,200 endpoints, ready" },
  ])("for $endpoints endpoints is “$state”", async ({ endpoints, state }) => {
    const page = await textOf(sampleInfo({ endpoints: Array.from({ length: endpoints }, () => sampleEndpoint()) }));
    expect(page).toContain(`${state} Receives webhooks`);
  });

  test("shows the Space and when the server started", async () => {
    expect(await textOf(fullInfo)).toContain(
      "Receives webhooks of the Hugging Face Hub in the Space acme/bot. Started 2 hours ago.",
    );
  });
});

test("The page is rendered at most once a second, or when its content changes", () => {
  let rendered = 0;
  /** Counts how often the info is rendered. The comparison of two infos uses `toJSON`. */
  const counted = (info: LandingInfo) =>
    Object.defineProperties(
      { ...info },
      {
        toJSON: { value: () => info },
        secretIsSet: {
          get() {
            rendered += 1;
            return info.secretIsSet;
          },
        },
      },
    );
  const info = sampleInfo({ endpoints: [sampleEndpoint({ name: "rendered" })] });
  landingPage(counted(info), now);
  const once = rendered;
  expect(once).toBeGreaterThan(0);
  for (let times = 0; times < 5; times += 1) landingPage(counted(info), new Date(now.getTime() + 900));
  expect(rendered).toBe(once);
  landingPage(counted(info), new Date(now.getTime() + 1_000));
  expect(rendered).toBe(2 * once);
  landingPage(counted({ ...info, secretIsSet: !info.secretIsSet }), new Date(now.getTime() + 1_000));
  expect(rendered).toBe(3 * once);
});

describe("An endpoint", () => {
  test("shows its scopes, URL, and deliveries, and the outcome and the time of the last one", async () => {
    const page = await textOf(fullInfo);
    expect(page).toContain(
      "trigger_training repo.content https://acme-bot.hf.space/webhooks/trigger_training " +
        "Copy the URL of trigger_training Deliveries in 24 h: 812 of 1,000 Latest outcome: succeeded 3 minutes ago",
    );
    expect(page).toContain("discussion, discussion.comment");
    expect(page).toContain("Deliveries in 24 h: 42 Latest outcome: ignored 1 hour ago");
    expect(page).toContain("failed just now");
  });

  test("contains the exact time of its last delivery in a datetime attribute", async () => {
    expect(await htmlOf(fullInfo)).toContain(`<time datetime="2026-09-01T11:57:00.000Z"`);
  });

  test("shows that it accepts every scope, and that it had no delivery", async () => {
    expect(await textOf(sampleInfo())).toMatch(/every scope .* Deliveries in 24 h: 0 Latest outcome: none yet/);
  });

  test("shows the full URL if it does not start with the address of the server", async () => {
    const info = sampleInfo({ endpoints: [sampleEndpoint({ url: "https://proxy.example/in/retrain" })] });
    expect(await textOf(info)).toContain("https://proxy.example/in/retrain Copy");
  });
});

describe("The list of endpoints", () => {
  test("without an endpoint is replaced with the code that adds one", async () => {
    const page = await textOf(sampleInfo({ endpoints: [] }));
    expect(page).toContain("Add an endpoint");
    expect(page).toContain(`server.webhook("on-update", async (payload) => {`);
    expect(page).not.toContain("curl");
    expect(page).not.toContain("Latest outcome");
  });

  test("stays small with ten thousand endpoints, and counts the omitted ones", async () => {
    const endpoints = Array.from({ length: 10_000 }, (_, index) => sampleEndpoint({ name: `bot-${index}` }));
    const page = await textOf(sampleInfo({ endpoints }));
    expect(page).toContain("webhooks/bot-199 ");
    expect(page).not.toContain("webhooks/bot-200 ");
    expect(page).toContain("9,800 more endpoints are not listed.");
  });
});

test("The page mentions sleep and lost disks only on a Space", async () => {
  expect(await textOf(sampleInfo({ space: { id: "acme/bot" } }))).toContain("sleeps after 48 hours without a request");
  expect(await textOf(sampleInfo())).not.toContain("48 hours");
});

describe("The HTML document", () => {
  test("has the requested theme, or that of the system", async () => {
    expect(await htmlOf(sampleInfo({ theme: "dark" }))).toContain(`data-theme="dark"`);
    expect(await htmlOf(sampleInfo())).not.toContain("data-theme");
  });

  test("is not cached or sniffed, and can be framed only by the Hub", () => {
    const { headers } = landingPage(sampleInfo());
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.has("x-frame-options")).toBe(false);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'self' https://huggingface.co https://*.huggingface.co https://*.hf.space",
    );
  });

  test("contains no inline script, style or event handler", async () => {
    const html = await htmlOf(fullInfo);
    expect(html.match(/<script[^>]*>/g)).toEqual([expect.stringMatching(/src="_landing\/copy-\w+\.js"/)]);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });

  test("escapes hostile names, hosts and scopes", async () => {
    const html = await htmlOf(hostileInfo);
    for (const text of hostileTexts) expect(html).not.toContain(`>${text}`);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toContain("<img");
    expect(html).toContain("&lt;script&gt;");
    expect(html.match(/href="[^"]*"/g)?.filter((link) => link.startsWith(`href="javascript:`))).toEqual([]);
  });
});

describe("The assets", () => {
  test("are linked from the page, and can be cached forever", async () => {
    const html = await htmlOf(sampleInfo());
    const names = [...html.matchAll(/"_landing\/([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(names).toEqual([expect.stringMatching(/^styles-\w{8}\.css$/), expect.stringMatching(/^copy-\w{8}\.js$/)]);
    const types = names.map((name) => landingAsset(name)?.headers.get("content-type"));
    expect(types).toEqual(["text/css; charset=utf-8", "text/javascript; charset=utf-8"]);
    for (const name of names) {
      expect(landingAsset(name)?.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(await landingAsset(name)?.text()).not.toBe("");
    }
  });

  test.each(["", "styles.css", "__proto__", "constructor", "../page.ts"])("do not include “%s”", (name) => {
    expect(landingAsset(name)).toBeUndefined();
  });
});

test("The page loads only Hono's templates and modules of the receiver, so it runs in a worker", async () => {
  const { metafile } = await build({
    entryPoints: ["src/receiver/landing/landing-page.ts"],
    bundle: true,
    platform: "neutral",
    metafile: true,
    write: false,
  });
  const packages = Object.keys(metafile.inputs).flatMap((path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? []);
  expect([...new Set(packages)].sort()).toEqual(["hono"]);
});

function htmlOf(info: LandingInfo): Promise<string> {
  return landingPage(info, now).text();
}

/** Returns the visible text of the page's body, with single spaces. */
async function textOf(info: LandingInfo): Promise<string> {
  const html = await htmlOf(info);
  return visibleText(html.slice(html.indexOf("<body>")));
}

/** Returns the landing page data of a server with deliveries and this `activity`. */
function activeInfo(activity: Partial<LandingActivity>): LandingInfo {
  return sampleInfo({
    endpoints: [sampleEndpoint({ deliveries: 1, lastDay: 1 })],
    activity: { hours: sampleHours(1), ...activity },
  });
}

/** Returns the HTML of the section, or an empty string without one. */
async function sectionOf(info: LandingInfo): Promise<string> {
  const html = await landingPage(info, now).text();
  return /<section class="activity" aria-labelledby="activity">.*?<\/section>/s.exec(html)?.[0] ?? "";
}

async function sectionText(info: LandingInfo): Promise<string> {
  return visibleText(await sectionOf(info));
}

/** Returns the bars, each with its parts from bottom to top. */
async function barsOf(hours: readonly LandingHour[]) {
  const section = await sectionOf(activeInfo({ hours }));
  const bars = [...section.matchAll(/<g><title>([^<]*)<\/title>(.*?)<\/g>/gs)];
  return bars.map(([, title = "", parts = ""]) => ({
    title,
    parts: [
      ...parts.matchAll(
        /<rect (?:class="(\w+)"|fill="url\(#(\w+)\)") x="([^"]+)" y="([^"]+)" width="30" height="([^"]+)"/g,
      ),
    ].map(([, outcome, pattern, x, y, height]) => ({
      is: outcome ?? pattern,
      x: Number(x),
      y: Number(y),
      height: Number(height),
    })),
  }));
}

describe("The chart", () => {
  test("stacks the outcomes of each hour to scale, with the current hour on the right", async () => {
    const counted = [{ succeeded: 50 }, { succeeded: 40, ignored: 30, retrying: 20, failed: 30 }];
    const bars = await barsOf(sampleHours(2, (index) => counted[index] ?? {}));
    expect(bars).toEqual([
      { title: "11:00 UTC: 50 succeeded", parts: [{ is: "succeeded", x: 885, y: 90, height: 90 }] },
      {
        title: "12:00 UTC: 40 succeeded, 30 ignored, 30 failed",
        parts: [
          { is: "succeeded", x: 925, y: 108, height: 72 },
          { is: "stripes", x: 925, y: 54, height: 52.5 },
          { is: "failed", x: 925, y: 0, height: 52.5 },
        ],
      },
    ]);
  });

  test("shows a single failure among a million successes, and stays within its scale", async () => {
    const [bar] = await barsOf(sampleHours(1, () => ({ succeeded: 1_000_000, failed: 1 })));
    expect(bar?.parts).toEqual([
      { is: "succeeded", x: 925, y: 4, height: 176 },
      { is: "failed", x: 925, y: 0, height: 2.5 },
    ]);
  });

  test("has no bar for an hour without deliveries, and marks the time before the start", async () => {
    const hours = sampleHours(3, (index) => (index === 1 ? {} : { succeeded: 1 }));
    expect((await barsOf(hours)).map(({ parts }) => parts[0]?.x)).toEqual([845, 925]);
    const section = await sectionOf(activeInfo({ hours }));
    expect(section).toContain('<rect class="before" width="840" height="180"><title>Before the start</title>');
    expect(await sectionOf(fullInfo)).not.toContain("Before the start");
  });

  test("has a legend with the totals, and the value of the highest bar", async () => {
    const hours = sampleHours(2, () => ({ succeeded: 600, retrying: 7 }));
    expect(await sectionText(activeInfo({ hours }))).toContain(
      "succeeded 1,200 ignored 0 failed 0 600 Before the start",
    );
  });

  test("has a text alternative, and a table with the same numbers, latest hour first", async () => {
    const hours = sampleHours(2, (index) => ({ succeeded: 1_000 + index, ignored: 2, retrying: 3, failed: 4 }));
    const section = await sectionOf(activeInfo({ hours }));
    expect(section).toContain(
      'role="img" aria-label="Finished deliveries per hour, at most 1,007. The table below contains the numbers."',
    );
    expect(section).toContain('<time datetime="2026-09-01T12:00:00.000Z">12:00</time>');
    expect(await sectionText(activeInfo({ hours }))).toContain(
      "Hour succeeded ignored failed 12:00 1,001 2 4 11:00 1,000 2 4",
    );
  });
});

describe("The activity section", () => {
  test("shows failed attempts apart from the finished deliveries", async () => {
    const hours = sampleHours(2, () => ({ retrying: 7 }));
    const text = await sectionText(activeInfo({ hours }));
    expect(text).toContain("No delivery has finished since the server started.");
    expect(text).toContain("Failed attempts with a retry in 24 h: 14.");
    expect(await sectionText(activeInfo({ hours: sampleHours(2) }))).not.toContain("Failed attempts");
  });

  test("links to the console in a new tab, with the theme of the page", async () => {
    expect(await sectionOf(sampleInfo())).toContain('href="_console/" target="_blank" rel="noopener"');
    expect(await sectionOf(sampleInfo({ basePath: "/hub", theme: "dark" }))).toContain(
      'href="/hub/_console/?__theme=dark"',
    );
  });

  test("is missing without an endpoint, together with its link", async () => {
    const info = sampleInfo({ endpoints: [] });
    expect(await sectionOf(info)).toBe("");
    expect(await landingPage(info).text()).not.toContain("#activity");
  });

  test("stays small with very large numbers", async () => {
    const most = Number.MAX_SAFE_INTEGER / 4;
    const hours = sampleHours(24, () => ({ succeeded: most, ignored: most, retrying: most, failed: most }));
    expect((await sectionOf(activeInfo({ hours }))).length).toBeLessThan(32_000);
  });
});

/** Returns the facts of a page as an object of names and values. */
function factsIn(html: string): Record<string, string> {
  const facts = [...html.matchAll(/<div><dt>(.*?)<\/dt><dd>(.*?)<\/dd><\/div>/g)];
  return Object.fromEntries(facts.map(([, name = "", value = ""]) => [name, value.replaceAll(/<[^>]*>/g, "")]));
}

async function factsOf(changes: Partial<LandingInfo>): Promise<Record<string, string>> {
  return factsIn(await landingPage(sampleInfo(changes), now).text());
}

describe("The facts", () => {
  test("name each number", async () => {
    expect(await factsOf(fullInfo)).toEqual({
      Secret: "not set",
      "Deliveries in 24 h": "855",
      "Failed deliveries in 24 h": "43",
      "Handler time p50 / p95": "12 ms / 1.8 s",
      Queued: "1,204",
      Running: "4",
      Dead: "3",
    });
  });

  test.each([
    [{ p50: 0.4, p95: 999.4 }, "under 1 ms / 999 ms"],
    [{ p50: 1, p95: 1_830 }, "1 ms / 1.8 s"],
    [{ p50: 95_000, p95: 150_000 }, "95.0 s / 2.5 min"],
    [{ p50: 3_600_000, p95: 36_000_000 }, "60.0 min / 10.0 h"],
  ])("show the handler time %j as %s", async (time, shown) => {
    const activity = { hours: sampleHours(1), handlerTime: { ...time, runs: 3 } };
    expect(await factsOf({ activity })).toMatchObject({ "Handler time p50 / p95": shown });
  });

  test("omit the handler time before the first run, and the queue without an inbox", async () => {
    expect(Object.keys(await factsOf({}))).toEqual(["Secret", "Deliveries in 24 h", "Failed deliveries in 24 h"]);
  });

  test("contain only the secret without an endpoint", async () => {
    expect(await factsOf({ endpoints: [] })).toEqual({ Secret: "set" });
  });
});

describe("The facts of a server", () => {
  const secret = "s3cret";

  async function openServer(attempts: number, handler: (attempt: number) => unknown) {
    vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
    let now = Date.UTC(2026, 8, 1, 12);
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret, now: () => now });
    onTestFinished(() => server.close());
    server.webhook("inline", { action: "update" }, ({ event }) => {
      if (event.scope === "repo.config") throw new Error("failed");
    });
    server.webhook("background", { background: true, attempts, backoff: { first: 1 } }, (_payload, { delivery }) =>
      handler(delivery.attempt),
    );
    await server.ready();
    const page = async () => {
      // The counts of the inbox are read once a second.
      now += 1_001;
      return (await server.request("/")).text();
    };
    const send = (endpoint: string, id: string, payload: unknown = webhookPayload("repo.content")) =>
      server.fetch(deliveryRequest({ endpoint, payload, secret, id }));
    return { page, send };
  }

  test("count failed and dead deliveries, but no ignored, refused, or duplicate ones", async () => {
    const { page, send } = await openServer(2, () => {
      throw new Error("no GPU");
    });
    await send("inline", "a");
    await send("inline", "b", webhookPayload("repo.config"));
    await send("inline", "c", webhookPayload("repo"));
    await send("background", "d");
    await send("background", "d");
    await send("none", "e");
    await waitFor(async () => expect(factsIn(await page())).toMatchObject({ Dead: "1" }));
    expect(factsIn(await page())).toMatchObject({
      "Deliveries in 24 h": "4",
      "Failed deliveries in 24 h": "2",
      Queued: "0",
      Running: "0",
    });
  });

  test("show that the inbox does not respond", async () => {
    const counts = vi.spyOn(SqliteInbox.prototype, "counts").mockRejectedValue(new Error("the disk is gone"));
    onTestFinished(() => counts.mockRestore());
    const { page } = await openServer(1, () => {});
    expect(factsIn(await page())).toMatchObject({ Inbox: "not responding" });
    expect(counts).toHaveBeenCalled();
  });
});

describe("In a worker", () => {
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
});
