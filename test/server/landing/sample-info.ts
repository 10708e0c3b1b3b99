import type { LandingEndpoint, LandingInfo } from "../../../src/server/landing/info.ts";

/** The present of every sample: what "3 minutes ago" is counted from. */
export const now = new Date("2026-09-01T12:00:00.000Z");

/** An endpoint that nothing reached yet, with `changes` laid over it. */
export function sampleEndpoint(changes: Partial<LandingEndpoint> = {}): LandingEndpoint {
  const name = changes.name ?? "trigger_training";
  return {
    name,
    url: `https://acme-bot.hf.space/webhooks/${name}`,
    method: "POST",
    scopes: [],
    deliveries: 0,
    ...changes,
  };
}

/** A server with a secret and one endpoint, with `changes` laid over it. */
export function sampleInfo(changes: Partial<LandingInfo> = {}): LandingInfo {
  return {
    endpoints: [sampleEndpoint()],
    secretIsSet: true,
    baseUrl: "https://acme-bot.hf.space",
    startedAt: "2026-09-01T10:00:00.000Z",
    ...changes,
  };
}

/** Every kind of endpoint, no secret, on a Space: all that the page can show at once. */
export const fullInfo = sampleInfo({
  endpoints: [
    sampleEndpoint({
      scopes: ["repo.content"],
      deliveries: 1284,
      last: { outcome: "succeeded", at: "2026-09-01T11:57:00.000Z" },
    }),
    sampleEndpoint({
      name: "moderation/comments",
      scopes: ["discussion", "discussion.comment"],
      deliveries: 42,
      last: { outcome: "ignored", at: "2026-09-01T10:59:00.000Z" },
    }),
    sampleEndpoint({ name: "mirror", deliveries: 1, last: { outcome: "failed", at: now.toISOString() } }),
    sampleEndpoint({ name: `${"long".repeat(25)}_name.v2` }),
  ],
  secretIsSet: false,
  space: { id: "acme/bot" },
});

/** What would run, were any of it put on the page as it is. */
export const hostileTexts = [
  `<script>document.title = "hacked"</script>`,
  `"><img src=x onerror='document.title = "hacked"'>`,
  `' autofocus onfocus='document.title = "hacked"`,
  `javascript:document.title="hacked"`,
  `</code></style></title><svg onload='document.title = "hacked"'>`,
];

/** Hostile text wherever text comes from outside. */
export const hostileInfo = sampleInfo({
  endpoints: hostileTexts.map((text) =>
    sampleEndpoint({ name: text, url: `http://${text}/webhooks/${text}`, scopes: [text] }),
  ),
  secretIsSet: false,
  baseUrl: `http://${hostileTexts[0]}`,
  space: { id: hostileTexts[1] ?? "" },
});
