import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  type AuditLogEvent,
  auditLogEvent,
  auditLogTypes,
  specifiedAuditLogTypes,
} from "../../../../src/hub/organizations/audit-log.ts";
import { openLocalHub, shareLocalHub } from "../../support/hub.ts";

const now = Date.parse("2026-11-21T10:00:00.000Z");
const dayMs = 24 * 60 * 60 * 1000;
/** No test changes it. */
const shared = await shareLocalHub();

/** Returns the parsed events of an export. */
async function exported({
  q,
  organization = "acme",
  hub = shared,
}: {
  q?: string;
  organization?: string;
  hub?: typeof shared;
} = {}) {
  const query = q === undefined ? "" : `?${new URLSearchParams({ q })}`;
  const { status, body, text } = await hub.request(`GET /api/organizations/${organization}/audit-log/export${query}`);
  expect(status, text).toBe(200);
  return z.array(auditLogEvent).parse(body);
}

const usersOf = (events: AuditLogEvent[]) => new Set(events.map(({ author }) => author.user));
const ipsOf = (events: AuditLogEvent[]) => new Set(events.map(({ ip }) => ip));
const typesOf = (events: AuditLogEvent[]) => new Set<string>(events.map(({ type }) => type));

describe("An audit log", () => {
  test("is exported as a file named after the organization and the date", async () => {
    const hub = await openLocalHub({ now: () => now });
    const { headers } = await hub.request("GET /api/organizations/acme/audit-log/export");
    expect(headers.get("content-disposition")).toBe('attachment; filename="acme-audit-log-2026-11-21.json"');
    expect(headers.get("content-type")).toMatch(/^application\/json\b/);
  });

  test("starts with about 150 events of the last 90 days, newest first, each with its own id", async () => {
    const events = await exported({ hub: await openLocalHub({ now: () => now }) });
    expect(events.length).toBeGreaterThan(140);
    expect(events.length).toBeLessThan(160);
    const times = events.map(({ createdAt }) => Date.parse(createdAt));
    expect(times).toEqual(times.toSorted((left, right) => right - left));
    expect(times.at(-1)).toBeGreaterThan(now - 90 * dayMs);
    expect(times.at(-1)).toBeLessThan(now - 80 * dayMs);
    expect(times[0]).toBeLessThan(now);
    expect(new Set(events.map(({ _id }) => _id)).size).toBe(events.length);
    expect(events.every(({ message }) => /^[A-Z].{5,}[^.]$/.test(message))).toBe(true);
  });

  test("starts with an event of each of the 84 types, which can be found by its type", async () => {
    expect(specifiedAuditLogTypes).toHaveLength(84);
    for (const type of specifiedAuditLogTypes) {
      expect([...typesOf(await exported({ q: `type:${type}` }))], type).toEqual([type]);
    }
  });

  test("has no events of the later types, although searches accept them", async () => {
    for (const type of auditLogTypes.slice(specifiedAuditLogTypes.length)) {
      expect(await exported({ q: `type:${type}` }), type).toEqual([]);
    }
  });

  test("starts with events that cover every field", async () => {
    const events = await exported();
    const tokens = events.flatMap(({ token }) => (token ? [token] : []));
    expect(new Set(tokens.map(({ role }) => role))).toEqual(new Set(["read", "write", "fineGrained"]));
    expect(new Set(tokens.map(({ deleted }) => deleted))).toEqual(new Set([true, false]));
    expect(tokens.some(({ last4 }) => last4?.length === 4)).toBe(true);
    expect(tokens.some(({ last4 }) => last4 === undefined)).toBe(true);
    expect(events.some(({ oauth }) => oauth?.name === "Dashboard")).toBe(true);
    expect(events.some(({ oauth }) => oauth && oauth.name === undefined)).toBe(true);
    expect(events.some(({ location }) => location?.city === "Paris" && location.country === "FR")).toBe(true);
    expect(events.some(({ ip }) => ip?.includes(":"))).toBe(true);
    expect(events.some(({ data }) => data === undefined)).toBe(true);
    expect(events.find(({ author }) => author.user === "local-user")?.author).toEqual({
      _id: expect.any(String),
      user: "local-user",
      avatarUrl: `${shared.url}/avatars/local-user.svg`,
      type: "user",
    });
    expect(events.find(({ author }) => author.type === "system")).not.toHaveProperty("ip");
    expect(events.find(({ author }) => author.deleted)?.author.user).toBe("former-user");
  });

  test("of every other organization starts with its creation", async () => {
    for (const organization of ["team-org", "enterprise-org"]) {
      const events = await exported({ organization });
      expect(events.map(({ type }) => type)).toEqual(["org.add_user", "org.create"]);
      expect(events[1]?.data).toEqual({ name: organization });
    }
  });
});

describe("The search of an audit log", () => {
  test("matches any of several terms of one kind", async () => {
    const q = "type:org.create type:org.delete  type:oauth.token";
    expect(typesOf(await exported({ q }))).toEqual(new Set(["org.create", "org.delete", "oauth.token"]));
    expect(usersOf(await exported({ q: "author:ada-adams author:other-user" }))).toEqual(
      new Set(["ada-adams", "other-user"]),
    );
    expect(ipsOf(await exported({ q: "ip:192.0.2.10 ip:203.0.113.5" }))).toEqual(
      new Set(["192.0.2.10", "203.0.113.5"]),
    );
  });

  test("requires a match for each kind of terms", async () => {
    const all = await exported();
    const q = "ip:192.0.2.10 author:ada-adams author:local-user type:org.sso_login type:jobs.create";
    const expected = all.filter(
      ({ ip, author, type }) =>
        ip === "192.0.2.10" &&
        ["ada-adams", "local-user"].includes(author.user) &&
        ["org.sso_login", "jobs.create"].includes(type),
    );
    expect(expected).not.toEqual([]);
    expect(await exported({ q })).toEqual(expected);
  });

  test("finds nothing without a match, and everything with an empty query", async () => {
    expect(await exported({ q: "author:nobody" })).toEqual([]);
    expect(await exported({ q: "author:system ip:192.0.2.10" })).toEqual([]);
    expect(await exported({ q: " " })).toEqual(await exported());
  });

  test("accepts the known types and rejects others", async () => {
    const { status, text } = await shared.request(
      "GET /api/organizations/acme/audit-log/export?q=type:org.create%20type:repo.creat",
    );
    expect(status).toBe(400);
    expect(text).toContain("q: ");
    expect(text).toContain("repo.create");
    expect(text).not.toContain('repo.creat"');
  });
});
