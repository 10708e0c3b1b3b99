import { createServer } from "node:http";
import { landingAsset, landingPage } from "../../../src/receiver/landing/landing-page.ts";
import type { LandingEndpoint, LandingHour, LandingInfo } from "../../../src/receiver/options.ts";
import { listenOnPort } from "../../support/free-port.ts";

/** The current time of every sample: "3 minutes ago" is relative to it. */
export const now = new Date("2026-09-01T12:00:00.000Z");

/** Returns an endpoint without deliveries, with `changes`. */
export function sampleEndpoint(changes: Partial<LandingEndpoint> = {}): LandingEndpoint {
  const name = changes.name ?? "trigger_training";
  return {
    name,
    url: `https://acme-bot.hf.space/webhooks/${name}`,
    method: "POST",
    background: false,
    scopes: [],
    deliveries: 0,
    lastDay: 0,
    ...changes,
  };
}

/** Returns the last hours before {@link now}, each with the counts that `counted` returns, by default none. */
export function sampleHours(
  hours: number,
  counted: (index: number) => Partial<LandingHour> = () => ({}),
): readonly LandingHour[] {
  return Array.from({ length: hours }, (_, index) => ({
    startedAt: new Date(now.getTime() - (hours - 1 - index) * 3_600_000).toISOString(),
    succeeded: 0,
    ignored: 0,
    retrying: 0,
    failed: 0,
    ...counted(index),
  }));
}

/** Returns a server with a secret and one endpoint, with `changes`. */
export function sampleInfo(changes: Partial<LandingInfo> = {}): LandingInfo {
  return {
    endpoints: [sampleEndpoint()],
    secretIsSet: true,
    basePath: "",
    baseUrl: "https://acme-bot.hf.space",
    startedAt: "2026-09-01T10:00:00.000Z",
    activity: { hours: sampleHours(3) },
    ...changes,
  };
}

/** Every kind of endpoint, no secret, on a Space: everything that the page can show. */
export const fullInfo = sampleInfo({
  endpoints: [
    sampleEndpoint({
      scopes: ["repo.content"],
      registration: "registered",
      deliveries: 1284,
      lastDay: 812,
      last: { outcome: "succeeded", at: "2026-09-01T11:57:00.000Z" },
    }),
    sampleEndpoint({
      name: "moderation/comments",
      scopes: ["discussion", "discussion.comment"],
      deliveries: 42,
      lastDay: 42,
      last: { outcome: "ignored", at: "2026-09-01T10:59:00.000Z" },
    }),
    sampleEndpoint({ name: "mirror", deliveries: 1, lastDay: 1, last: { outcome: "failed", at: now.toISOString() } }),
    sampleEndpoint({ name: `${"long".repeat(25)}_name.v2`, registration: "missing" }),
  ],
  secretIsSet: false,
  space: { id: "acme/bot" },
  activity: {
    hours: sampleHours(24, (index) => ({
      succeeded: index === 6 ? 0 : 20 + ((index * 37) % 60),
      ignored: (index * 13) % 23,
      retrying: index % 5 === 0 ? 6 : 0,
      failed: index === 11 ? 40 : index % 9 === 0 ? 1 : 0,
    })),
    handlerTime: { p50: 12.4, p95: 1830, runs: 1024 },
    queue: { queued: 1204, running: 4, dead: 3 },
  },
});

const sixNames = [
  "trigger_training",
  "moderation/comments",
  "mirror",
  "release_notes",
  "nightly_export",
  "metadata_review",
];

/** A server with six endpoints and every setup step open, which is the tallest content above the endpoints. */
export const sixInfo = sampleInfo({
  endpoints: sixNames.map((name, index) =>
    sampleEndpoint({
      name,
      scopes: index % 2 === 0 ? ["repo.content"] : ["discussion", "discussion.comment"],
      background: index > 2,
    }),
  ),
  secretIsSet: false,
  space: { id: "acme/bot" },
  activity: { hours: sampleHours(3), queue: { queued: 0, running: 0, dead: 0 } },
});

/** A registered server without problems. */
export const fineInfo = sampleInfo({
  endpoints: sixNames.map((name, index) =>
    sampleEndpoint({
      name,
      registration: "registered",
      deliveries: 100 * index + 1,
      lastDay: 10 * index + 1,
      last: { outcome: "succeeded", at: "2026-09-01T11:57:00.000Z" },
    }),
  ),
  activity: {
    hours: sampleHours(24, (index) => ({ succeeded: 5 + ((index * 7) % 11), ignored: index % 4 })),
    handlerTime: { p50: 120, p95: 1830, runs: 1024 },
    queue: { queued: 2, running: 1, dead: 0 },
  },
});

/** Text that would run if the page did not escape it. */
export const hostileTexts = [
  `<script>document.title = "hacked"</script>`,
  `"><img src=x onerror='document.title = "hacked"'>`,
  `' autofocus onfocus='document.title = "hacked"`,
  `javascript:document.title="hacked"`,
  `</code></style></title><svg onload='document.title = "hacked"'>`,
];

/** Hostile text in every field that comes from outside. */
export const hostileInfo = sampleInfo({
  endpoints: hostileTexts.map((text) =>
    sampleEndpoint({
      name: text,
      url: `http://${text}/webhooks/${text}`,
      scopes: [text],
      deliveries: Number.MAX_SAFE_INTEGER,
      lastDay: Number.MAX_SAFE_INTEGER,
    }),
  ),
  activity: {
    hours: sampleHours(24, (index) => ({ succeeded: index, failed: index === 3 ? Number.MAX_SAFE_INTEGER : 0 })),
    handlerTime: { p50: 0, p95: 1e12, runs: 1 },
    queue: { queued: Number.MAX_SAFE_INTEGER, running: 0, dead: 0 },
  },
  secretIsSet: false,
  baseUrl: `http://${hostileTexts[0]}`,
  space: { id: hostileTexts[1] ?? "" },
});

const scenes: Readonly<Record<string, LandingInfo>> = {
  full: fullInfo,
  single: sampleInfo(),
  six: sixInfo,
  fine: fineInfo,
  empty: sampleInfo({ endpoints: [], secretIsSet: false }),
  hostile: hostileInfo,
  young: sampleInfo({
    endpoints: [sampleEndpoint({ deliveries: 3, lastDay: 3 })],
    activity: { hours: sampleHours(2, () => ({ succeeded: 1, retrying: 1 })), queue: "unknown" },
  }),
};

/** Responds like a receiver. `?scene=` selects the scene. */
export function answer(url: URL): Response {
  if (url.pathname.startsWith("/_landing/")) {
    return landingAsset(url.pathname.slice("/_landing/".length)) ?? new Response("", { status: 404 });
  }
  const theme = url.searchParams.get("__theme");
  const scene = scenes[url.searchParams.get("scene") ?? "full"] ?? fullInfo;
  return landingPage({ ...scene, ...((theme === "light" || theme === "dark") && { theme }) }, now);
}

/** Serves the pages on a free port of this machine. */
export async function servePages(): Promise<{ origin: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const page = answer(new URL(request.url ?? "/", "http://localhost"));
    response.writeHead(page.status, Object.fromEntries(page.headers)).end(await page.text());
  });
  const port = await listenOnPort(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the visible text of HTML, with single spaces. */
export function visibleText(html: string): string {
  const inline = html.replaceAll(/<wbr>|<\/?(?:span|mark|b|code|a|time)\b[^>]*>/g, "");
  return inline
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ");
}
