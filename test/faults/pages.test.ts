import { describe, expect, test } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { type LocalReceiver, openReceiver } from "./receiver.ts";
import { countRows } from "./rows.ts";

countRows("pages");

/** Stands in everything that is sent or configured here, so that it can be looked for. */
const mark = "zq7mark";

const hostile = {
  script: `<script>window.${mark}=1</script>`,
  address: `javascript:window.${mark}=1`,
  attribute: `" onmouseover="window.${mark}=1" x="`,
  drawing: `<svg xmlns="http://www.w3.org/2000/svg" onload="window.${mark}=1"><title>${mark}</title></svg>`,
  image: `<img src=x onerror=window.${mark}=1>`,
  template: `\${window.${mark}=1}{{${mark}}}`,
};

/** A copy in which every string but the scope is something hostile. */
function poisoned(value: unknown, text: string): unknown {
  if (typeof value === "string") return text;
  if (Array.isArray(value)) return value.map((item) => poisoned(item, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === "scope" ? item : poisoned(item, text)]),
  );
}

function openFiltered(): Promise<LocalReceiver> {
  return openReceiver({
    declare: (server) => {
      server.webhook("filtered", { repo: [`dataset:${mark}/private-*`], ref: `refs/heads/${mark}` }, () => {});
      server.webhook("failing", () => {
        throw new Error(mark);
      });
    },
  });
}

describe("The landing page", () => {
  test.each(Object.entries(hostile))("U1: shows nothing of a payload with %s in every field", async (_name, text) => {
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

  test("U1: runs no inline script, whatever gets into it", async () => {
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
  ])("U1: sends nothing hostile of $what back", async ({ path, headers }) => {
    const receiver = await openFiltered();
    const answer = await receiver.post({ method: "GET", path, headers, body: "" });
    expect(answer.text).not.toContain(mark);
    expect((await receiver.post()).status).toBe(200);
  });

  test.each([`x"onfocus="${mark}`, `x'onfocus='${mark}`, `x&quot;onfocus=&quot;${mark}`])(
    "U1: escapes the host %s, by which the reader came",
    async (host) => {
      const receiver = await openFiltered();
      const { status, text } = await receiver.post({ method: "GET", path: "/", headers: { Host: host }, body: "" });
      expect(status).toBe(200);
      expect(text).toContain(mark);
      expect(text).not.toContain(host);
    },
  );

  test.each(["dark", "light"])("U1: knows the theme %s, and no other", async (theme) => {
    const receiver = await openFiltered();
    expect((await receiver.page(`/?__theme=${theme}`)).text).toContain(`data-theme="${theme}"`);
    expect((await receiver.page(`/?__theme=${theme}x`)).text).not.toContain("data-theme");
  });
});

describe("A stranger on the landing page", () => {
  test("U4: sees no repository names, no filters on them and nothing of a payload", async () => {
    const receiver = await openReceiver({
      declare: (server) => {
        server.webhook(
          "guarded",
          { scope: "repo.content", repo: "dataset:acme/unreleased-*", ref: "refs/heads/secret-plan", action: "update" },
          () => ({
            result: "inside-knowledge",
          }),
        );
      },
    });
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

  test("U4: may not keep it, nor take its address along", async () => {
    const receiver = await openFiltered();
    const { headers } = await receiver.page("/");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("access-control-allow-origin")).toBeNull();
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
