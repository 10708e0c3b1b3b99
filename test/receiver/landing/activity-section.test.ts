import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import type { LandingActivity, LandingHour, LandingInfo } from "../../../src/receiver/landing/info.ts";
import { landingPage } from "../../../src/receiver/landing/landing-page.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { fullInfo, now, sampleEndpoint, sampleHours, sampleInfo } from "./sample-info.ts";

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
  return /<section aria-labelledby="activity">.*?<\/section>/s.exec(html)?.[0] ?? "";
}

async function textOf(info: LandingInfo): Promise<string> {
  return (await sectionOf(info))
    .replaceAll(/<wbr>|<\/?(?:span|b|time)\b[^>]*>/g, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ");
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
    const counted = [{ succeeded: 50 }, { succeeded: 40, ignored: 30, retrying: 20, failed: 10 }];
    const bars = await barsOf(sampleHours(2, (index) => counted[index] ?? {}));
    expect(bars).toEqual([
      { title: "11:00 UTC: 50 succeeded", parts: [{ is: "succeeded", x: 885, y: 90, height: 90 }] },
      {
        title: "12:00 UTC: 40 succeeded, 30 ignored, 20 retrying, 10 failed or dead",
        parts: [
          { is: "succeeded", x: 925, y: 108, height: 72 },
          { is: "ignored", x: 925, y: 54, height: 52.5 },
          { is: "stripes", x: 925, y: 18, height: 34.5 },
          { is: "failed", x: 925, y: 0, height: 16.5 },
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
    expect(await textOf(activeInfo({ hours }))).toContain(
      "succeeded 1,200 ignored 0 retrying 14 failed or dead 0 607 Before the start",
    );
  });

  test("has a text alternative, and a table with the same numbers, latest hour first", async () => {
    const hours = sampleHours(2, (index) => ({ succeeded: 1_000 + index, ignored: 2, retrying: 3, failed: 4 }));
    const section = await sectionOf(activeInfo({ hours }));
    expect(section).toContain(
      'role="img" aria-label="Deliveries an hour, at most 1,010; the table below has the numbers."',
    );
    expect(section).toContain('<time datetime="2026-09-01T12:00:00.000Z">12:00</time>');
    expect(await textOf(activeInfo({ hours }))).toContain(
      "Hour succeeded ignored retrying failed or dead 12:00 1,001 2 3 4 11:00 1,000 2 3 4",
    );
  });
});

describe("The facts", () => {
  test.each([
    [{ p50: 0.4, p95: 999.4 }, "under 1 ms, 999 ms"],
    [{ p50: 1, p95: 1_830 }, "1 ms, 1.8 s"],
    [{ p50: 95_000, p95: 150_000 }, "95.0 s, 2.5 min"],
    [{ p50: 3_600_000, p95: 36_000_000 }, "60.0 min, 10.0 h"],
  ])("show the handler time %j as %s", async (time, told) => {
    expect(await textOf(activeInfo({ handlerTime: { ...time, runs: 3 } }))).toContain(
      `Handler time, p50 and p95 ${told} `,
    );
  });

  test("leave out the handler time before the first run, and the inbox if there is none", async () => {
    const text = await textOf(activeInfo({}));
    expect(text).not.toContain("Handler time");
    expect(text).not.toContain("In the inbox");
  });

  test("show the counts of the inbox, or unknown", async () => {
    expect(await textOf(activeInfo({ queue: { queued: 1_204, running: 4 } }))).toContain(
      "In the inbox 1,204 queued, 4 running",
    );
    expect(await textOf(activeInfo({ queue: "unknown" }))).toContain("In the inbox unknown");
  });

  test("show the busiest endpoint of the day, with its name if there are several", async () => {
    const busy = sampleEndpoint({ name: "busy", deliveries: 9_000, lastDay: 42 });
    const calm = sampleEndpoint({ name: "calm", deliveries: 9_000, lastDay: 7 });
    const textFor = (endpoints: LandingInfo["endpoints"]) => textOf(sampleInfo({ endpoints }));
    expect(await textFor([calm, busy])).toContain("Busiest endpoint in 24 hours 42 of the Hub’s 1,000 busy");
    expect(await textFor([busy])).not.toContain("busy ");
  });
});

describe("The warning about the Hub's daily limit", () => {
  const near = (lastDay: number, name = "retrain") => sampleEndpoint({ name, deliveries: lastDay, lastDay });

  test.each([
    [799, false],
    [800, true],
    [1_200, true],
  ])("is shown for %i deliveries in a day: %s", async (lastDay, isThere) => {
    const text = await textOf(sampleInfo({ endpoints: [near(lastDay)] }));
    expect(text.includes("Near the Hub’s daily limit")).toBe(isThere);
    expect(text.includes(`${lastDay.toLocaleString("en")} to retrain`)).toBe(isThere);
  });

  test("lists the five busiest endpoints, and counts the others", async () => {
    const endpoints = Array.from({ length: 300 }, (_, index) => near(900 + index, `bot${index}`));
    const text = await textOf(sampleInfo({ endpoints: [...endpoints, near(1, "calm")] }));
    expect(text).toContain("1,199 to bot299 1,198 to bot298");
    expect(text).toContain("1,195 to bot295 and, to 295 more, no fewer than 800");
    expect(text).not.toContain("to bot294");
    expect(text).not.toContain("calm");
  });
});

describe("The activity section", () => {
  test("contains only a note before the first delivery", async () => {
    const section = await sectionOf(sampleInfo());
    expect(section).toContain("No delivery yet");
    expect(section).not.toMatch(/<svg|<dl|<table/);
  });

  test("shows the deliveries in the inbox after a restart", async () => {
    const info = sampleInfo({ activity: { hours: sampleHours(1), queue: { queued: 3, running: 0 } } });
    expect(await textOf(info)).toContain("In the inbox 3 queued, 0 running No delivery yet");
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

  test("shows the inbox as unknown while it fails", async () => {
    vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
    const counts = vi.spyOn(SqliteInbox.prototype, "counts").mockRejectedValue(new Error("the disk is gone"));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      counts.mockRestore();
    });
    await using server = new WebhooksServer({ logger: createMemoryLogger(), secret: "s3cret" });
    server.webhook("retrain", { background: true }, () => {});
    await server.ready();
    const response = await server.request("/");
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/In the inbox<\/dt><dd><span class="dot open"><\/span>unknown/);
    expect(counts).toHaveBeenCalled();
  });
});
