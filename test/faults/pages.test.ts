import { beforeEach, describe, expect, test, vi } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { startCommand } from "../cli/command-process.ts";
import { inboxFile } from "../inbox/inbox-file.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { mark } from "./declared-endpoints.ts";
import { startInboxReceiver } from "./inbox-receiver.ts";
import { packageEnvironment } from "./on-built-package.ts";
import { type LocalReceiver, openReceiver, secret } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("pages");

beforeEach(() => {
  vi.stubEnv("INBOX_URL", `sqlite:${inboxFile()}`);
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
      logged: { msg: "delivery succeeded", scope: "discussion.comment" },
      runs: 1,
    });
    expect((await receiver.post({ body, path: "/webhooks/filtered" })).text).toContain("ignored");
    expect((await receiver.post({ body, path: "/webhooks/failing" })).status).toBe(500);
    const page = await receiver.page("/");
    expect(page.status).toBe(200);
    expect(page.text).toContain("filtered");
    expect(page.text).not.toContain(mark);
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
      logged: { msg: "delivery succeeded", repo: "dataset:acme/unreleased-7" },
    });
    await receiver.survives(
      () =>
        receiver.post({ path, body: JSON.stringify(webhookPayload("repo.content", { repo: { name: "acme/other" } })) }),
      {
        status: 200,
        logged: { msg: "delivery ignored", repo: "dataset:acme/other" },
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
});

/** The console token. It must not appear in log lines, responses, or pages. */
const token = "Planted-t0ken-77d04be1";
const authorization = `Bearer ${token}`;
const api = "/_console/api";

/** Opens a receiver whose endpoint "kept" runs in the background and always fails. */
function openKeeping(): Promise<LocalReceiver> {
  return openReceiver({ consoleToken: token, declared: "failingInBackground" });
}

/** Sends a delivery to "kept" and waits until it is dead. */
async function keep(receiver: LocalReceiver, { id, body }: { id: string; body: string }): Promise<void> {
  const answer = await receiver.post({ path: "/webhooks/kept", headers: { "Webhook-Id": id }, body });
  expect(answer.status, answer.text).toBe(202);
  await waitFor(async () => expect(await receiver.stored(id)).toMatchObject({ status: "dead" }));
}

/** Requests a path of the console, by default as its owner. */
async function ask(receiver: LocalReceiver, path: string, headers: Record<string, string> = { authorization }) {
  const answer = await receiver.post({ method: "GET", path, headers, body: "" });
  expect(holdsSecret([answer.text, [...answer.headers]], token)).toBe(false);
  await receiver.keepsSecret(answer);
  expect(receiver.log.some((line) => holdsSecret(line, token))).toBe(false);
  return answer;
}

/** Signs in with the token, and returns the headers of a page of the console that changes something. */
async function signIn(receiver: LocalReceiver) {
  const own = { "Sec-Fetch-Site": "same-origin", Origin: receiver.url };
  const signedIn = await receiver.post({ path: `${api}/session`, headers: own, body: JSON.stringify({ token }) });
  expect(signedIn.status).toBe(200);
  const Cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { ...own, Cookie, "X-CSRF-Token": String(JSON.parse(signedIn.text).csrfToken) };
}

function expectNoScripts({ headers }: { headers: Headers }): void {
  const policy = parsePolicy(headers.get("content-security-policy") ?? "");
  expect(policy.get("default-src")).toEqual(["'none'"]);
  expect(policy.get("script-src")).toEqual(["'self'"]);
  expect(policy.get("style-src")).toEqual(["'self'"]);
  expect(policy.get("frame-ancestors")).toEqual(["'none'"]);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("access-control-allow-origin")).toBeNull();
}

describe("The console", () => {
  test.each(Object.entries(hostile))("U1: returns a payload with %s in every field as JSON", async (_name, text) => {
    const receiver = await openKeeping();
    await keep(receiver, { id: mark, body: JSON.stringify(poisoned(webhookPayload("discussion.comment"), text)) });
    for (const query of ["", "?status=dead&endpoint=kept", `?search=${mark}`, `/one?endpoint=kept&id=${mark}`]) {
      const answer = await ask(receiver, `${api}/deliveries${query}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(answer.text).toContain(mark);
      expectNoScripts(answer);
      // The page makes links of these addresses.
      const { deliveries = [] } = JSON.parse(answer.text);
      for (const { repository } of deliveries) expect(repository.url ?? "https:").toMatch(/^https?:/);
    }
    const page = await ask(receiver, "/_console/");
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.text).not.toContain(mark);
    expect(page.text).not.toMatch(/<(?:script(?![^>]*\ssrc=)|style)|<[^>]*\s(?:on\w+|style)\s*=/i);
    expectNoScripts(page);
  });

  test.each(Object.entries(hostile))("U1: returns a query with %s only as JSON", async (_name, text) => {
    const receiver = await openKeeping();
    const given = encodeURIComponent(text);
    for (const path of [
      ...["?status=", "?cursor=", "?endpoint=", "?search=", "?from=", "/one?endpoint=kept&id=", "/"].map(
        (query) => `${api}/deliveries${query}${given}`,
      ),
      `/_console/${given}`,
      `/_console/assets/${given}`,
    ]) {
      const answer = await ask(receiver, path);
      expect([path, answer.headers.get("content-type")]).toEqual([path, "application/json"]);
      expect(answer.status).toBeLessThan(500);
      expectNoScripts(answer);
      const page = await ask(receiver, path, { authorization, Accept: "text/html" });
      expect(page.text).not.toMatch(/<(?:script|img|svg xmlns)/i);
      expect(page.text).not.toMatch(/<[^>]*\son\w+\s*=/i);
    }
  });

  test.each([
    { what: "of another site", headers: { "Sec-Fetch-Site": "cross-site" }, status: 403, code: "CROSS_SITE_REFUSED" },
    { what: "of a form", headers: { "Content-Type": "text/plain" }, status: 415, code: "MEDIA_TYPE_UNSUPPORTED" },
    { what: "without a CSRF token", headers: { "X-CSRF-Token": undefined }, status: 403, code: "CSRF_TOKEN_INVALID" },
  ] as const)("U3: refuses a replay $what", async ({ headers, status, code }) => {
    const receiver = await openKeeping();
    await keep(receiver, { id: "d1", body: JSON.stringify(webhookPayload("repo.content")) });
    const own = await signIn(receiver);
    const body = JSON.stringify({ endpoint: "kept", id: "d1" });
    for (const path of ["replay", "replay-dead", "discard"].map((name) => `${api}/deliveries/${name}`)) {
      await receiver.survives(() => receiver.post({ path, headers: { ...own, ...headers }, body }), {
        ...{ status, code, logged: { status, code, msg: /^request to the console refused/ } },
      });
    }
    expect(await receiver.stored("d1")).toMatchObject({ status: "dead", attempts: [{ number: 1 }] });
    expect((await receiver.post({ path: `${api}/deliveries/replay`, headers: own, body })).status).toBe(200);
  });

  const local = { Connection: "keep-alive", Authorization: undefined };
  test.each([
    { who: "without a token", headers: {} },
    { who: "on this machine", headers: local },
    { who: "by a host name that points to this machine", headers: { ...local, Host: "rebound.example" } },
    { who: "that claims to be on this machine", headers: { ...local, "X-Forwarded-For": "127.0.0.1" } },
    { who: "that claims it in another header", headers: { ...local, Forwarded: "for=127.0.0.1;host=localhost" } },
    { who: "through a proxy", headers: { ...local, "X-Forwarded-For": "203.0.113.7" } },
    { who: "through nginx as it is installed", headers: { Connection: undefined }, version: "HTTP/1.0" },
    { who: "with the password of the metrics", headers: { Authorization: `Basic ${btoa(`me:${token}`)}` } },
    {
      who: "with a forged cookie",
      headers: { Cookie: `hub_webhooks_000000000000=${"0".repeat(9)}.0.${"0".repeat(64)}` },
    },
    { who: "with the webhook's secret alone", headers: { "X-Webhook-Secret": secret } },
  ])("U4: returns nothing to a client $who", async ({ headers, version = "HTTP/1.1" }) => {
    for (const consoleToken of [token, ""]) {
      const receiver = await openReceiver({ consoleToken, declared: "failingInBackground" });
      const id = `${mark}-${consoleToken === ""}`;
      await keep(receiver, {
        ...{ id, body: JSON.stringify(webhookPayload("repo.content", { repo: { name: `acme/${mark}` } })) },
      });
      for (const path of ["deliveries", `deliveries/one?endpoint=kept&id=${id}`, "endpoints", "inbox", "stream"]) {
        const request = { method: "GET", path: `${api}/${path}`, version, headers, body: "" };
        const answer = await receiver.post(request);
        expect([answer.status, JSON.parse(answer.text).code]).toEqual([401, "SIGN_IN_REQUIRED"]);
        expect(answer.text).not.toContain(mark);
        expect(answer.text).not.toContain("kept");
      }
      const session = await receiver.post({ method: "GET", path: `${api}/session`, version, headers, body: "" });
      expect(JSON.parse(session.text)).toEqual({
        ...{ signedIn: false, place: "receiver" },
        methods: { token: consoleToken !== "", linkFrom: "log" },
      });
      expect((await receiver.page("/")).text).not.toContain(mark);
    }
  });

  test("C1: refuses a short token at start", async () => {
    await expect(openReceiver({ consoleToken: "1234" })).rejects.toThrow(/OPTION_INVALID|at least 16 characters/);
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

/** Escape sequences that clear the screen, set the window title, reverse the text direction, and ring the bell. */
const escapes = "\u001b[2J\u001b]0;owned\u0007\u009b31m\u202ename\u0007";
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe("Escape codes in a payload", () => {
  test("U2: appear neither in the log nor in the output of the command line", async () => {
    const url = `sqlite:${inboxFile()}`;
    const receiver = await startInboxReceiver({ url });
    const payload = webhookPayload("discussion.comment", {
      event: { action: escapes },
      repo: { name: escapes, type: escapes },
      comment: { content: escapes },
    });
    const headers = { "Webhook-Id": "hostile" };
    const body = JSON.stringify(payload);
    expect((await receiver.post({ path: "/webhooks/target", headers, body })).status).toBe(202);
    receiver.ledger.acknowledge({ endpoint: "target", id: "hostile" });
    await receiver.stillWorks();
    await receiver.ledger.account("U2", "sqlite", { succeeded: 2 });

    for (const argv of [["list"], ["show", "hostile"]]) {
      const command = startCommand(["deliveries", "--inbox", url, ...argv], packageEnvironment);
      const { exitCode, stdout, stderr } = await command.ended;
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toContain("hostile");
      expect(stdout + stderr).not.toMatch(obeyed);
      expect(holdsSecret([stdout, stderr], secret)).toBe(false);
    }
    // The stored body is unchanged.
    expect((await receiver.ledger.read([{ endpoint: "target", id: "hostile" }]))[0]?.body).toBe(body);
  });

  test("U2: stay out of the log of a receiver", async () => {
    const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}` });
    const answer = await receiver.post({
      path: "/webhooks/target",
      body: JSON.stringify({ event: { scope: escapes, action: escapes }, [escapes]: escapes }),
    });
    expect(answer.status).toBe(422);
    expect(answer.text).not.toMatch(obeyed);
    await receiver.saysOnce({ level: "warn", code: "PAYLOAD_INVALID" });
    await receiver.stillWorks(answer);
  });
});
