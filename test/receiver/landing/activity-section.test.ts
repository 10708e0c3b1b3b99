import { describe, expect, test } from "vitest";
import { landingPage } from "../../../src/receiver/landing/landing-page.ts";
import type { LandingActivity, LandingHour, LandingInfo } from "../../../src/receiver/options.ts";
import { fullInfo, now, sampleEndpoint, sampleHours, sampleInfo } from "./sample-info.ts";
import { visibleText } from "./visible-text.ts";

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

async function textOf(info: LandingInfo): Promise<string> {
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
    expect(await textOf(activeInfo({ hours }))).toContain("succeeded 1,200 ignored 0 failed 0 600 Before the start");
  });

  test("has a text alternative, and a table with the same numbers, latest hour first", async () => {
    const hours = sampleHours(2, (index) => ({ succeeded: 1_000 + index, ignored: 2, retrying: 3, failed: 4 }));
    const section = await sectionOf(activeInfo({ hours }));
    expect(section).toContain(
      'role="img" aria-label="Finished deliveries per hour, at most 1,007. The table below contains the numbers."',
    );
    expect(section).toContain('<time datetime="2026-09-01T12:00:00.000Z">12:00</time>');
    expect(await textOf(activeInfo({ hours }))).toContain(
      "Hour succeeded ignored failed 12:00 1,001 2 4 11:00 1,000 2 4",
    );
  });
});

describe("The activity section", () => {
  test("shows failed attempts apart from the finished deliveries", async () => {
    const hours = sampleHours(2, () => ({ retrying: 7 }));
    const text = await textOf(activeInfo({ hours }));
    expect(text).toContain("No delivery has finished since the server started.");
    expect(text).toContain("Failed attempts with a retry in 24 h: 14.");
    expect(await textOf(activeInfo({ hours: sampleHours(2) }))).not.toContain("Failed attempts");
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
