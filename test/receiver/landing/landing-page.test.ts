import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { landingAsset, landingPage } from "../../../src/receiver/landing/landing-page.ts";
import type { LandingInfo } from "../../../src/receiver/options.ts";
import { fullInfo, hostileInfo, hostileTexts, now, sampleEndpoint, sampleInfo } from "./sample-info.ts";
import { visibleText } from "./visible-text.ts";

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
