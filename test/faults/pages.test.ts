import { beforeEach, describe, expect, test, vi } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { inboxFile } from "../inbox/inbox-file.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { mark } from "./declared-endpoints.ts";
import { type LocalReceiver, openReceiver } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("pages");

beforeEach(() => {
  vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
  return () => vi.unstubAllEnvs();
});

const hostile = {
  script: `<script>window.${mark}=1</script>`,
  address: `javascript:window.${mark}=1`,
  attribute: `" onmouseover="window.${mark}=1" x="`,
  drawing: `<svg xmlns="http://www.w3.org/2000/svg" onload="window.${mark}=1"><title>${mark}</title></svg>`,
  image: `<img src=x onerror=window.${mark}=1>`,
  template: `\${window.${mark}=1}{{${mark}}}`,
};

/** Returns a copy with every string except the scope replaced by hostile text. */
function poisoned(value: unknown, text: string): unknown {
  if (typeof value === "string") return text;
  if (Array.isArray(value)) return value.map((item) => poisoned(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === "scope" ? item : poisoned(item, text)]),
  );
}

function openFiltered(): Promise<LocalReceiver> {
  return openReceiver({ declared: "filtered" });
}

describe("The landing page", () => {
  test.each(Object.entries(hostile))("U1: shows no value of a payload with %s in every field", async (_name, text) => {
    const receiver = await openFiltered();
    const body = JSON.stringify(poisoned(webhookPayload("discussion.comment"), text));
    const headers = { "Webhook-Id": mark };
    await receiver.survives(() => receiver.post({ body, headers }), {
      status: 200,
      told: { msg: "delivery succeeded", scope: "discussion.comment" },
      runs: 1,
    });
    expect((await receiver.post({ body, path: "/webhooks/filtered" })).text).toContain("ignored");
    expect((await receiver.post({ body, path: "/webhooks/failing" })).status).toBe(500);
    const page = await receiver.page("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain("filtered");
    expect(page.text).not.toContain(mark);
  });

  test("U1: forbids inline scripts", async () => {
    const receiver = await openFiltered();
    const { headers, text } = await receiver.page("/");
    const policy = parsePolicy(headers.get("content-security-policy") ?? "");
    expect(policy.get("default-src")).toEqual(["'none'"]);
    expect(policy.get("script-src")).toEqual(["'self'"]);
    expect(policy.get("style-src")).toEqual(["'self'"]);
    expect(policy.get("base-uri")).toEqual(["'none'"]);
    expect([...policy.values()].flat()).not.toEqual(expect.arrayContaining([expect.stringContaining("unsafe")]));
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/i);
    expect(text).not.toMatch(/\son\w+\s*=/i);
    expect(text).not.toMatch(/\sstyle\s*=/i);
  });

  test.each([
    {
      what: "the query",
      path: `/?__theme=${encodeURIComponent(hostile.script)}&x=${encodeURIComponent(hostile.attribute)}`,
      headers: {},
    },
    { what: "the host", path: "/", headers: { Host: `"><script>${mark}` } },
    { what: "the protocol", path: "/", headers: { "X-Forwarded-Proto": `javascript:${mark}` } },
    { what: "a forwarded host", path: "/", headers: { "X-Forwarded-Host": `"><script>${mark}` } },
    { what: "an asset's name", path: `/_landing/${encodeURIComponent(hostile.script)}`, headers: {} },
    { what: "a path that does not exist", path: `/${encodeURIComponent(hostile.script)}`, headers: {} },
  ])("U1: does not repeat hostile parts of $what", async ({ path, headers }) => {
    const receiver = await openFiltered();
    const answer = await receiver.post({ method: "GET", path, headers, body: "" });
    expect(answer.text).not.toContain(mark);
    expect((await receiver.post()).status).toBe(200);
  });

  test.each([`x"onfocus="${mark}`, `x'onfocus='${mark}`, `x&quot;onfocus=&quot;${mark}`])(
    "U1: escapes the host %s of the request",
    async (host) => {
      const receiver = await openFiltered();
      const { status, text } = await receiver.post({ method: "GET", path: "/", headers: { Host: host }, body: "" });
      expect(status).toBe(200);
      expect(text).toContain(mark);
      expect(text).not.toContain(host);
    },
  );

  test.each(["dark", "light"])("U1: accepts only valid themes: %s", async (theme) => {
    const receiver = await openFiltered();
    expect((await receiver.page(`/?__theme=${theme}`)).text).toContain(`data-theme="${theme}"`);
    expect((await receiver.page(`/?__theme=${theme}x`)).text).not.toContain("data-theme");
  });
});

describe("The landing page without authentication", () => {
  test("U4: shows no repository names, filters or payloads", async () => {
    const receiver = await openReceiver({ declared: "guarded" });
    const payload = webhookPayload("repo.content", {
      repo: {
        name: "acme/unreleased-7",
        id: "id-of-the-repo",
        headSha: "sha-of-the-repo",
        owner: { id: "id-of-the-owner" },
      },
      webhook: { id: "id-of-the-webhook" },
      updatedRefs: [{ ref: "refs/heads/secret-plan", oldSha: null, newSha: null }],
    });
    const path = "/webhooks/guarded";
    const headers = { "Webhook-Id": "4f0c7d1e-private-delivery" };
    await receiver.survives(() => receiver.post({ path, headers, body: JSON.stringify(payload) }), {
      status: 200,
      told: { msg: "delivery succeeded", repo: "dataset:acme/unreleased-7" },
    });
    await receiver.survives(
      () =>
        receiver.post({ path, body: JSON.stringify(webhookPayload("repo.content", { repo: { name: "acme/other" } })) }),
      {
        status: 200,
        told: { msg: "delivery ignored", repo: "dataset:acme/other" },
      },
    );
    const page = await receiver.page("/");
    expect(page.text).toContain("guarded");
    for (const known of [
      "unreleased",
      "acme/other",
      "secret-plan",
      "inside-knowledge",
      "private-delivery",
      "id-of-the",
      "sha-of-the",
    ]) {
      expect(page.text).not.toContain(known);
    }
  });

  test("U4: must not be cached, and sends no referrer", async () => {
    const receiver = await openFiltered();
    const { headers } = await receiver.page("/");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});

/** The dashboard token. It must not appear in log lines, responses, or pages. */
const token = "Planted-t0ken-77d04be1";
const authorization = `Basic ${btoa(`me:${token}`)}`;

/** Opens a receiver whose endpoint "kept" runs in the background and always fails. */
function openKeeping(): Promise<LocalReceiver> {
  return openReceiver({ dashboardToken: token, declared: "failingInBackground" });
}

/** Sends a delivery to "kept" and waits until it is dead. */
async function keep(receiver: LocalReceiver, { id, body }: { id: string; body: string }): Promise<void> {
  const answer = await receiver.post({ path: "/webhooks/kept", headers: { "Webhook-Id": id }, body });
  expect(answer.status, answer.text).toBe(202);
  await waitFor(async () => expect(await receiver.stored(id)).toMatchObject({ status: "dead" }));
}

/** Requests a dashboard page, by default as its owner. */
async function dashboardPage(receiver: LocalReceiver, query = "", headers: Record<string, string> = { authorization }) {
  const answer = await receiver.post({ method: "GET", path: `/_deliveries${query}`, headers, body: "" });
  expect(holdsSecret([answer.text, [...answer.headers]], token)).toBe(false);
  await receiver.keepsSecret(answer);
  expect(receiver.log.some((line) => holdsSecret(line, token))).toBe(false);
  return answer;
}

describe("The dashboard", () => {
  test.each(Object.entries(hostile))("U1: shows a payload with %s in every field as text", async (_name, text) => {
    const receiver = await openKeeping();
    await keep(receiver, { id: mark, body: JSON.stringify(poisoned(webhookPayload("discussion.comment"), text)) });
    for (const query of ["", "?status=dead&endpoint=kept", `?endpoint=kept&id=${mark}`]) {
      const page = await dashboardPage(receiver, query);
      expect(page.status).toBe(200);
      expect(page.text).toContain(mark);
      expect(page.text).not.toMatch(/<(?:script(?![^>]*\ssrc=)|img|svg xmlns|style)/i);
      expect(page.text).not.toMatch(/<[^>]*\s(?:on\w+|style)\s*=/i);
      expect(page.text).not.toMatch(/(?:href|src)="(?!_deliveries|\.\/|data:image\/svg)/i);
      const policy = parsePolicy(page.headers.get("content-security-policy") ?? "");
      expect(policy.get("default-src")).toEqual(["'none'"]);
      expect(policy.get("script-src")).toEqual(["'self'"]);
      expect(policy.get("style-src")).toEqual(["'self'"]);
      expect(policy.get("frame-ancestors")).toEqual(["'none'"]);
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    }
    const body = await dashboardPage(receiver, `/body?endpoint=kept&id=${mark}`);
    expect(body.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(body.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(Object.entries(hostile))("U1: does not repeat a query with %s", async (_name, text) => {
    const receiver = await openKeeping();
    const given = encodeURIComponent(text);
    for (const query of [`?status=${given}`, `?cursor=${given}`, `?endpoint=kept&id=${given}`, `/assets/${given}`]) {
      expect((await dashboardPage(receiver, query)).text).not.toContain(mark);
    }
    const page = await dashboardPage(receiver, `?endpoint=${given}`);
    expect(page.text).not.toMatch(/<(?:script(?![^>]*\ssrc=)|img|svg xmlns|style)/i);
    expect(page.text).not.toMatch(/<[^>]*\s(?:on\w+|style)\s*=/i);
  });

  test.each([
    { what: "of another site", headers: { "Sec-Fetch-Site": "cross-site" } },
    { what: "of another origin", headers: { Origin: "https://evil.example" } },
    { what: "of a frame without an origin", headers: { Origin: "null" } },
    { what: "of a form", headers: { "Content-Type": "text/plain" } },
    { what: "without a type", headers: { "Content-Type": undefined } },
  ])("U3: refuses a replay $what", async ({ headers }) => {
    const receiver = await openKeeping();
    await keep(receiver, { id: "d1", body: JSON.stringify(webhookPayload("repo.content")) });
    const body = JSON.stringify({ endpoint: "kept", id: "d1" });
    for (const path of ["/_deliveries/replay", "/_deliveries/replay-dead"]) {
      await receiver.survives(() => receiver.post({ path, headers: { authorization, ...headers }, body }), {
        status: 403,
        told: { status: 403, msg: /^dashboard refused: / },
      });
    }
    expect((await receiver.stored("d1"))?.attempts).toHaveLength(1);
    const own = { authorization, "Sec-Fetch-Site": "same-origin", Origin: receiver.url };
    expect((await receiver.post({ path: "/_deliveries/replay", headers: own, body })).status).toBe(200);
  });

  test.each([
    { who: "without a token", headers: {}, status: 401 },
    { who: "with another", headers: { authorization: `Basic ${btoa("me:guess")}` }, status: 401 },
    { who: "with the webhook's secret alone", headers: { authorization: undefined }, status: 401 },
  ])("U4: shows nothing to a client $who", async ({ headers, status }) => {
    const receiver = await openKeeping();
    const payload = webhookPayload("repo.content", { repo: { name: `acme/${mark}` } });
    await keep(receiver, { id: mark, body: JSON.stringify(payload) });
    for (const query of ["", `?endpoint=kept&id=${mark}`, `/body?endpoint=kept&id=${mark}`]) {
      const answer = await receiver.post({ method: "GET", path: `/_deliveries${query}`, headers, body: "" });
      expect(answer.status).toBe(status);
      expect(answer.text).not.toContain(mark);
    }
    expect((await receiver.page("/")).text).not.toContain(mark);
  });

  // Headers that every browser sends.
  const Connection = "keep-alive";
  test.each([
    { who: "by a name that leads here", headers: { Connection, Host: "rebound.example" } },
    { who: "through a proxy", headers: { Connection, "X-Forwarded-For": "203.0.113.7" } },
    { who: "through a proxy that says it otherwise", headers: { Connection, Forwarded: "for=203.0.113.7" } },
    { who: "through nginx as it is installed", headers: { Connection: undefined } },
    { who: "through nginx up to 1.29.6, set to HTTP/1.1", headers: { Connection: "close" } },
  ])("U4: without a token is not available to a client $who", async ({ headers }) => {
    const receiver = await openReceiver({ dashboardToken: "", declared: "background" });
    await receiver.survives(() => receiver.post({ method: "GET", path: "/_deliveries", headers, body: "" }), {
      status: 403,
      code: "OWNER_ONLY",
      told: { status: 403, msg: /^dashboard refused: / },
    });
    expect((await fetch(`${receiver.url}/_deliveries`)).status).toBe(200);
  });
});

function parsePolicy(policy: string): Map<string, string[]> {
  return new Map(
    policy.split(";").map((directive) => {
      const [name = "", ...sources] = directive.trim().split(/\s+/);
      return [name, sources];
    }),
  );
}
