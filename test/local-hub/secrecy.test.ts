import { describe, expect, test } from "vitest";
import { holdsSecret } from "../support/secrets.ts";
import { openLocalHub, pushed, secret } from "./support/hub.ts";
import { openTarget } from "./support/target.ts";

/** Returns the URL with the secret in every place that can contain one. */
function telling(url: string): string {
  const told = new URL(url);
  told.username = "bot";
  told.password = secret;
  told.search = `?a=1&secret=${secret}&b=2`;
  return told.href;
}

describe("A secret", () => {
  test("is in no log line, log entry or control response", async () => {
    const target = await openTarget(500, 301, 200);
    const hub = await openLocalHub({ suspendAfter: 2, overSocket: true });
    const { id } = await hub.create({ url: telling(target.url), secret });
    const [delivery] = await hub.trigger();
    await hub.replay(id, delivery?.logId);
    await hub.update(id, { url: telling("http://127.0.0.1:1/"), secret });
    await hub.trigger();
    await hub.update(id, { url: telling("http://10.0.0.1/"), secret });
    await hub.trigger();
    await hub.update(id, { url: telling("http://nobody.invalid/"), secret: `${secret}\x7f` });
    await hub.trigger();
    expect(target.requests).toHaveLength(4);
    for (const { headers, line } of target.requests) {
      expect(headers["x-webhook-secret"]).toBe(secret);
      expect(headers.authorization).toBe(`Basic ${Buffer.from(`bot:${secret}`).toString("base64")}`);
      expect(line).toBe(`POST /hook?a=1&secret=${secret}&b=2`);
    }
    const entries = await hub.entries(id);
    expect(entries[0]?.request.headers["x-webhook-secret"]).toBe("***");
    expect(new URL(entries.at(-1)?.url ?? "").search).toBe("?a=1&secret=***&b=2");
    for (const line of hub.log.lines) expect(holdsSecret(line, secret), line.msg).toBe(false);
    expect(hub.log.lines.length).toBeGreaterThan(5);
    expect(holdsSecret([entries, hub.hub.deliveries(id), await hub.trigger(pushed)], secret)).toBe(false);
    for (const path of [`/_local/webhooks/${id}/deliveries`, "/_local/jobs", "/", "/openapi.json"]) {
      const { text, headers } = await hub.request(`GET ${path}`, { token: null });
      expect(holdsSecret([text, [...headers]], secret), path).toBe(false);
    }
  });

  test("is in no error response", async () => {
    const hub = await openLocalHub({ overSocket: true });
    const answers = await Promise.all([
      hub.request("POST /api/settings/webhooks", { body: { url: telling("ftp://x/"), secret, [secret]: secret } }),
      hub.request("POST /api/settings/webhooks", { text: `{"secret":"${secret}` }),
      hub.request("POST /_local/events", { body: { ...pushed, event: { scope: secret, action: 1 } } }),
    ]);
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      // The name of an unknown field is returned, because the user must correct it.
      expect(holdsSecret(JSON.stringify(body).replaceAll(`${secret}: unknown field`, ""), secret)).toBe(
        JSON.stringify(body).includes(`[\\"${secret}\\"]`),
      );
    }
    expect(holdsSecret(hub.log.lines, secret)).toBe(false);
  });
});

test("A receiver that returns its secret does not expose it in the log", async () => {
  const target = await openTarget((request, response) => {
    response.writeHead(308, {
      location: `/hook/?Secret=${secret}`,
      "x-echo": String(request.headers["x-webhook-secret"]),
    });
    response.end(JSON.stringify({ headers: request.headers, url: request.url }));
  });
  const hub = await openLocalHub();
  const url = `${target.url}?Secret=${encodeURIComponent("in the/query")}`;
  const { id } = await hub.create({ url, secret: `"${secret}"` });
  await hub.trigger();
  const { text } = await hub.request(`GET /_local/webhooks/${id}/deliveries`);
  expect(text).toContain('"location":"/hook/?Secret=***"');
  for (const hidden of [secret, "in the/query", encodeURIComponent("in the/query")]) expect(text).not.toContain(hidden);
});

test("A truncated response does not expose the start of a secret in the log", async () => {
  const start = secret.slice(0, 12);
  const target = await openTarget((_request, response) => {
    response.end(`${start.padStart(64 * 1024, "x")}${secret.slice(12)}`);
  });
  const hub = await openLocalHub();
  const { id } = await hub.create({ url: target.url, secret });
  await hub.trigger();
  const body = (await hub.entries(id))[0]?.response?.body;
  expect(body?.replace(/^x+/, "")).toBe("***");
});
