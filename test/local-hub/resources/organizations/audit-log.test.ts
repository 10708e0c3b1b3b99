import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type AuditLogEvent, auditLogEvent } from "../../../../src/hub/organizations/audit-log.ts";
import {
  type AuditLogType,
  auditLogTypes,
  specifiedAuditLogTypes,
} from "../../../../src/hub/organizations/audit-log-types.ts";
import { repositoryAuditEntries } from "../../../../src/local-hub/events/publish-change.ts";
import type { RepositoryChange } from "../../../../src/local-hub/events/repository-change.ts";
import type { HubEvent } from "../../../../src/local-hub.ts";
import { storedRepository } from "../../support/context.ts";
import { auditEvents, openLocalHub, shareLocalHub, type TestHub } from "../../support/hub.ts";

const now = Date.parse("2026-11-21T10:00:00.000Z");
const dayMs = 24 * 60 * 60 * 1000;
/** No test changes it. */
const shared = await shareLocalHub();

/** Returns the parsed events of an export. */
async function exported({ q = "", organization = "acme", hub = shared } = {}) {
  const query = q === "" ? "" : `?${new URLSearchParams({ q })}`;
  const { status, body, text } = await hub.request(`GET /api/organizations/${organization}/audit-log/export${query}`);
  expect(status, text).toBe(200);
  return z.array(auditLogEvent).parse(body);
}

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

const repo = { type: "dataset", name: "acme/fresh" } as const;
const seeded = { type: "dataset", name: "acme/reviews" } as const;
const pushed = { scope: "repo.content", action: "update" };

/** Returns the event types that an event adds to the audit log of acme, newest first. */
async function recordedTypes(hub: TestHub, event: HubEvent): Promise<AuditLogType[]> {
  const before = await exported({ hub });
  await hub.trigger(event);
  const after = await exported({ hub });
  return after.slice(0, after.length - before.length).map(({ type }) => type);
}

describe("The audit log of an organization", () => {
  test("contains the time, the address, the author and the repository of each event", async () => {
    const now = Date.parse("2026-11-21T10:00:00.000Z");
    const hub = await openLocalHub({ now: () => now });
    await hub.trigger({ repo, event: { scope: "repo", action: "create" } });
    const [event] = await auditEvents(hub, { organization: "acme", type: "repo.create" });
    expect(event).toMatchObject({
      createdAt: "2026-11-21T10:00:00.000Z",
      message: "Created the dataset acme/fresh",
      ip: "127.0.0.1",
      author: { user: "local-user", type: "user" },
      data: { repo },
    });
  });

  test("contains deeply nested settings", async () => {
    const hub = await openLocalHub();
    let deep: unknown = 1;
    for (let depth = 0; depth < 1_500; depth += 1) deep = { deep };
    const updatedConfig = { private: false, deep };
    await hub.trigger({ repo: seeded, event: { scope: "repo.config", action: "update" }, updatedConfig });
    const [event] = await auditEvents(hub, { organization: "acme", type: "repo.update_settings" });
    expect(event?.data).toEqual({ repo: seeded, updatedConfig });
  });

  test("contains the creation, the configuration, the move and the deletion of a repository", async () => {
    const hub = await openLocalHub();
    const [movedTo, updatedConfig] = [{ name: "acme/moved" }, { private: true }];
    const event = (action: string) => ({ scope: action === "update" ? "repo.config" : "repo", action });
    const moved = { type: "dataset", ...movedTo } as const;
    expect(await recordedTypes(hub, { repo, event: event("create") })).toEqual(["repo.create"]);
    expect(await recordedTypes(hub, { repo, event: event("update"), updatedConfig })).toEqual(["repo.update_settings"]);
    expect(await recordedTypes(hub, { repo, event: event("move"), movedTo })).toEqual(["repo.move"]);
    expect(await recordedTypes(hub, { repo: moved, event: event("delete") })).toEqual(["repo.delete"]);
    const [settings] = await auditEvents(hub, { organization: "acme", type: "repo.update_settings" });
    expect(settings?.data).toEqual({ repo, updatedConfig });
    const [move] = await auditEvents(hub, { organization: "acme", type: "repo.move" });
    expect(move?.data).toEqual({ repo, movedTo });
  });

  test("contains the creation of a repository once if another event implies it", async () => {
    const hub = await openLocalHub();
    expect(await recordedTypes(hub, { repo, event: pushed })).toEqual(["repo.create"]);
    expect(await recordedTypes(hub, { repo, event: pushed })).toEqual([]);
    const configured = { scope: "repo.config", action: "update" };
    expect(await recordedTypes(hub, { repo: { ...repo, type: "model" }, event: configured })).toEqual([
      "repo.update_settings",
      "repo.create",
    ]);
  });

  test("does not contain events of user repositories and dry runs", async () => {
    const hub = await openLocalHub();
    const event = { scope: "repo", action: "create" };
    expect(await recordedTypes(hub, { repo: { type: "model", name: "local-user/net" }, event })).toEqual([]);
    const before = await exported({ hub });
    await hub.request("POST /_local/events?dryRun=true", { token: null, body: { repo, event } });
    expect(await exported({ hub })).toEqual(before);
  });
});

const repository = storedRepository({ type: "model", name: "acme/net" });
const change: RepositoryChange = {
  ...{ scope: "repo", action: "update", user: "ada-adams" },
  ...{ before: repository, after: repository },
};

test("A repository that moves to another owner gets an entry with its previous name in both logs", () => {
  const moved = { ...repository, name: "other/net" };
  const entries = repositoryAuditEntries({ ...change, action: "move", after: moved });
  expect(entries.map(({ organization }) => organization)).toEqual(["acme", "other"]);
  expect(entries.map(({ data }) => data)).toEqual(
    Array(2).fill({ repo: { type: "model", name: "acme/net" }, movedTo: { name: "other/net" } }),
  );
});

test("An update of the settings gets an entry even without updatedConfig, and changes of other scopes get none", () => {
  for (const scope of ["repo.config", "repo.config.dois"]) {
    expect(repositoryAuditEntries({ ...change, scope })).toEqual([
      {
        ...{ organization: "acme", author: "ada-adams", type: "repo.update_settings" },
        message: "Changed the settings of the model acme/net",
        data: { repo: { type: "model", name: "acme/net" }, updatedConfig: {} },
      },
    ]);
  }
  for (const kind of ["repo.configs update", "repo.content update", "repo update", "repo.dois update"].concat(
    ...["discussion create", "discussion delete", "discussion.comment create"],
  )) {
    const [scope = "", action = ""] = kind.split(" ");
    expect(repositoryAuditEntries({ ...change, scope, action }), kind).toEqual([]);
  }
});
