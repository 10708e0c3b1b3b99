import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import type { HubDeliveryAttempt } from "../../../src/local-hub/delivery/hub-delivery.ts";
import type { HubPageInfo, HubPageWebhook } from "../../../src/local-hub/page/info.ts";
import { hubPage, hubPageAsset } from "../../../src/local-hub/page/page.ts";
import { webhookPayload } from "../../../src/payload/samples.ts";

/** The current time of every sample: "3 minutes ago" is relative to it. */
export const now = new Date("2026-09-01T12:00:00.000Z");

/** Returns an attempt with the status 200, with `changes`. */
export function sampleEntry(changes: Partial<HubDeliveryAttempt> = {}): HubDeliveryAttempt {
  return {
    logId: "66d4a1f0c0ffee0000000001",
    deliveryId: "66d4a1f0decade0000000001",
    attempt: 1,
    at: "2026-09-01T11:57:00.000Z",
    durationMs: 12,
    url: "http://localhost:7860/webhooks/trigger_training",
    status: 200,
    request: {
      headers: {
        "content-type": "application/json",
        "user-agent": "hub-webhooks local Hub",
        "webhook-id": "66d4a1f0decade0000000001",
        "x-webhook-secret": "***",
      },
      body: JSON.stringify(webhookPayload("repo.content", { repo: { name: "me/data" } })),
    },
    response: {
      headers: { "content-type": "application/json", "content-length": "21" },
      body: `{"result":"training"}`,
      truncated: false,
    },
    error: null,
    ...changes,
  };
}

/** Returns an enabled webhook with one entry in its log, with `changes`. */
export function sampleWebhook(changes: Partial<HubPageWebhook> = {}): HubPageWebhook {
  return {
    id: "66d4a0e1b2c3d4e5f6a7b8c9",
    owner: "local-user",
    target: { kind: "url", url: "http://localhost:7860/webhooks/trigger_training" },
    state: "enabled",
    watched: [{ type: "dataset", name: "me/data" }],
    domains: ["repo", "discussion"],
    secretIsSet: true,
    lastTriggerAt: "2026-09-01T11:57:00.000Z",
    log: [sampleEntry()],
    ...changes,
  };
}

/** Returns a local Hub with one webhook, with `changes`. */
export function sampleInfo(changes: Partial<HubPageInfo> = {}): HubPageInfo {
  return {
    hubUrl: "http://127.0.0.1:5050",
    runJobs: false,
    allowRemote: false,
    startedAt: "2026-09-01T10:00:00.000Z",
    webhooks: [sampleWebhook()],
    ...changes,
  };
}

const commentBody = JSON.stringify(webhookPayload("discussion.comment", { repo: { type: "model", name: "acme/net" } }));

/** Every kind of webhook and of log entry that the page can show. */
export const fullInfo = sampleInfo({
  runJobs: true,
  webhooks: [
    sampleWebhook({
      log: [
        sampleEntry({ logId: "a3", at: "2026-09-01T11:59:50.000Z", durationMs: 8 }),
        sampleEntry({
          logId: "a2",
          attempt: 2,
          status: 500,
          durationMs: 1540,
          error: "only an answer of 200 to 299 is a success",
          response: { headers: {}, body: "Internal Server Error", truncated: true },
        }),
        sampleEntry({
          logId: "a1",
          status: null,
          at: "2026-09-01T11:40:00.000Z",
          durationMs: 30_000,
          response: null,
          error: "nothing listens at localhost:7860: start your receiver",
        }),
        sampleEntry({ logId: "a0", at: "2026-09-01T09:40:00.000Z", request: { headers: {}, body: commentBody } }),
      ],
    }),
    sampleWebhook({
      id: "66d4a0e1b2c3d4e5f6a7b8ca",
      state: "suspended",
      target: { kind: "url", url: `https://receiver.example/${"long".repeat(30)}/hook?tag=a_b-c` },
      watched: [
        { type: "org", name: "acme" },
        { type: "model", name: "acme/net" },
        { type: "user", name: "local-user" },
      ],
      domains: ["discussion"],
      secretIsSet: false,
      lastTriggerAt: "2026-08-30T12:00:00.000Z",
      log: [
        sampleEntry({
          logId: "b1",
          status: 302,
          error: "only an answer of 200 to 299 is a success, and a redirect is not followed",
          request: { headers: {}, body: "not JSON at all" },
          response: { headers: { location: "https://elsewhere.example/" }, body: "", truncated: false },
        }),
      ],
    }),
    sampleWebhook({
      id: "66d4a0e1b2c3d4e5f6a7b8cb",
      owner: "other-user",
      state: "disabled",
      target: { kind: "job", description: "python train.py --dataset me/data" },
      log: [],
    }),
    quietWebhook(),
  ],
});

/** Returns a webhook without activity. */
export function quietWebhook(): HubPageWebhook {
  const { lastTriggerAt: _never, ...webhook } = sampleWebhook();
  const target = { kind: "jobSource", id: "66d4a0e1b2c3d4e5f6a7b8dd" } as const;
  return { ...webhook, id: "66d4a0e1b2c3d4e5f6a7b8cc", target, log: [] };
}

/** Text that would run or mislead if the page did not escape it. */
export const hostileTexts = [
  `<script>document.title = "hacked"</script>`,
  `"><img src=x onerror='document.title = "hacked"'>`,
  `' autofocus onfocus='document.title = "hacked"`,
  `javascript:document.title="hacked"`,
  `</code></pre></details></title><svg onload='document.title = "hacked"'>`,
  "\u001b[31mred\u001b[0m \u202egnp.exe \u0000 \u200b",
];

function hostileWebhook(text: string, index: number): HubPageWebhook {
  const entry = sampleEntry({
    logId: text,
    deliveryId: text,
    at: text,
    url: text,
    request: {
      headers: { [text]: text },
      body: JSON.stringify({ event: { scope: text, action: text }, repo: { type: text, name: text } }),
    },
    response: { headers: { [text]: text }, body: text, truncated: false },
    error: text,
  });
  const targets = [
    { kind: "url", url: text },
    { kind: "job", description: text },
    { kind: "jobSource", id: text },
  ] as const;
  return {
    id: text,
    owner: text,
    target: targets[index % targets.length] ?? targets[0],
    state: "suspended",
    watched: [{ type: text, name: text }],
    domains: [text],
    secretIsSet: false,
    lastTriggerAt: text,
    log: index % 2 === 0 ? [entry, { ...entry, logId: `${text}2`, request: { headers: {}, body: text } }] : [],
  };
}

/** Hostile text in every field that comes from outside. */
export const hostileInfo = sampleInfo({
  hubUrl: `http://${hostileTexts[0]}`,
  startedAt: hostileTexts[1] ?? "",
  webhooks: [...hostileTexts, ...hostileTexts].map((text, index) =>
    index < hostileTexts.length ? hostileWebhook(text, index) : { ...hostileWebhook(text, index + 1), id: `${text}!` },
  ),
});

/** A server of the page whose content and responses to a replay the test sets. */
export interface PageServer {
  origin: string;
  /** The content of the page from now on. */
  info: HubPageInfo;
  /** The response to the next replays. */
  replay: () => Response | Promise<Response>;
  /** The received replay requests: path, content type and body. */
  replays: { path: string; type: string | undefined; body: string }[];
  /** The number of requests for the page. */
  views: number;
  /** Whether requests for the page get 503. */
  fails: boolean;
  close: () => void;
}

/** Serves the page on a free port of this machine. */
export async function servePage(info: HubPageInfo): Promise<PageServer> {
  const app = new Hono();
  app.get("/", (context) => {
    page.views += 1;
    if (page.fails) return context.text("", 503);
    const theme = context.req.query("__theme");
    return hubPage({ ...page.info, ...((theme === "light" || theme === "dark") && { theme }) }, now);
  });
  app.get("/_page/:name", (context) => hubPageAsset(context.req.param("name")) ?? context.notFound());
  app.post("/_local/webhooks/:id/replay/:logId", async (context) => {
    const { path } = context.req;
    page.replays.push({ path, type: context.req.header("content-type"), body: await context.req.text() });
    return page.replay();
  });
  const { server, port } = await new Promise<{ server: ReturnType<typeof serve>; port: number }>((listening) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (address: AddressInfo) =>
      listening({ server, port: address.port }),
    );
  });
  const page: PageServer = {
    origin: `http://127.0.0.1:${port}`,
    info,
    replay: () => Response.json({ status: 200 }),
    replays: [],
    views: 0,
    fails: false,
    close: () => {
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
    },
  };
  return page;
}
