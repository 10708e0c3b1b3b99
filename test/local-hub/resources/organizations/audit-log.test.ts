import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { type AuditLogEvent, auditLogEvent } from "../../../../src/hub/organizations/audit-log.ts";
import {
  type AuditLogType,
  auditLogTypes,
  specifiedAuditLogTypes,
} from "../../../../src/hub/organizations/audit-log-types.ts";
import { findCaller } from "../../../../src/local-hub/accounts.ts";
import { repositoryAuditEntries } from "../../../../src/local-hub/events/publish-change.ts";
import type { RepositoryChange } from "../../../../src/local-hub/events/repository-change.ts";
import { auditLogApi, exportAuditLog } from "../../../../src/local-hub/resources/organizations/audit-log.ts";
import type { ApiEnvironment } from "../../../../src/local-hub/routes/route.ts";
import { seedStore } from "../../../../src/local-hub/seed/seed.ts";
import { AuditLogStore, type StoredAuditEvent } from "../../../../src/local-hub/store/audit-log-store.ts";
import { openStore, type Store } from "../../../../src/local-hub/store/store.ts";
import type { HubEvent } from "../../../../src/local-hub.ts";
import { listen } from "../../../../src/receiver/node/listen.ts";
import { createMemoryLogger } from "../../../support/memory-logger.ts";
import { openContext, openMemoryStore, storedRepository } from "../../support/context.ts";
import { auditEvents, openLocalHub, shareLocalHub, type TestHub } from "../../support/hub.ts";

const now = Date.parse("2026-11-21T10:00:00.000Z");
const dayMs = 24 * 60 * 60 * 1000;
/** No test changes it. */
const shared = await shareLocalHub();

/** Returns the parsed events of an export. */
function exported({ q = "", organization = "acme", hub = shared } = {}) {
  const query = q === "" ? "" : `?${new URLSearchParams({ q })}`;
  return hub.read(`GET /api/organizations/${organization}/audit-log/export${query}`, z.array(auditLogEvent));
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

const organization = "team-org";
const many = 4_003;
/** Makes the export of all events larger than the buffers of a socket. */
const padding = "x".repeat(6_000);
const address = `/api/organizations/${organization}/audit-log/export`;
const everything = { authors: [], ips: [], types: [] };
const timeouts = { headersMs: 15_000, requestMs: 30_000, keepAliveMs: 10_000 };

/** Events that are numbered from 0, the oldest. */
function eventsUpTo(count: number): StoredAuditEvent[] {
  return Array.from({ length: count }, (_, number) => ({
    id: number.toString(16).padStart(24, "0"),
    organization,
    type: number === 0 ? "org.rename" : "jobs.create",
    author: "local-user",
    at: number,
    message: `event ${number}`,
  }));
}

function addTo(store: Store, events: StoredAuditEvent[]): void {
  store.auditLog.add(...events);
}

function openExport(store: Store): ReadableStream {
  const log = createMemoryLogger();
  return exportAuditLog({ store: store.auditLog, organization, filter: everything, hubUrl: "", log });
}

let folder = "";
let state = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hub-webhooks-audit-"));
  state = join(folder, "hub.sqlite");
  const store = openStore({ file: state });
  // A Hub adds nothing to a log that exists when it opens.
  seedStore(store, { now: 0 });
  addTo(
    store,
    eventsUpTo(many).map((event) => ({ ...event, message: event.message + padding })),
  );
  store.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts to read a response, and then stops. */
async function beginReading(url: string): Promise<{ response: IncomingMessage; begun: string }> {
  const request = get(url, { headers: { authorization: "Bearer hf_local" }, agent: false });
  const [response]: IncomingMessage[] = await once(request, "response");
  if (!response) throw new Error("no answer");
  onTestFinished(() => void response.destroy());
  await once(response, "readable");
  return { response, begun: String(response.read()) };
}

async function restOf(response: IncomingMessage, begun = ""): Promise<string> {
  const parts = [begun];
  for await (const part of response) parts.push(String(part));
  return parts.join("");
}

/** Waits until `count` no longer changes. */
async function settled(count: () => number): Promise<number> {
  let seen = count();
  for (let quiet = 0; quiet < 500; quiet += 1) {
    await setImmediate();
    if (count() !== seen) quiet = 0;
    seen = count();
  }
  return seen;
}

describe("The export of a long audit log", () => {
  test("contains all matching events, even if the client pauses", { tags: "slow" }, async () => {
    const hub = await openLocalHub({ state });
    const { response, begun } = await beginReading(`${hub.url}${address}`);
    const all = z.array(z.object({ message: z.string() })).parse(JSON.parse(await restOf(response, begun)));
    const messages = all.map(({ message }) => message);
    // The events of the organization itself are older.
    expect(messages).toHaveLength(many + 2);
    const isMissing = (number: number) => messages[many - 1 - number] !== `event ${number}${padding}`;
    expect(Array.from({ length: many }, (_, number) => number).filter(isMissing)).toEqual([]);
    const { body } = await hub.request(`GET ${address}?q=type:org.rename`);
    expect(body).toMatchObject([{ message: `event 0${padding}` }]);
  });

  test("contains the newest 100,000 matching events", { tags: "slow" }, async () => {
    const store = openMemoryStore();
    const events = eventsUpTo(750).reverse();
    // A log without an end, whose pages have up to 750 events.
    using _page = vi.spyOn(AuditLogStore.prototype, "page").mockImplementation(({ before = 1_000_000, limit }) => ({
      events: events.slice(0, limit),
      before: before - limit,
    }));
    const text = await new Response(openExport(store)).text();
    expect(text.match(/"createdAt"/g)).toHaveLength(100_000);
    expect(JSON.parse(`[${text.slice(text.lastIndexOf(',{"_id"') + 1)}`)).toMatchObject([
      { message: events[499]?.message },
    ]);
  });

  test("reads from the store as the client reads, and stops when the client disconnects", async () => {
    const hub = await openLocalHub({ state });
    using page = vi.spyOn(AuditLogStore.prototype, "page");
    const pages = () => page.mock.calls.length;
    const { response, begun } = await beginReading(`${hub.url}${address}`);
    expect(begun).toMatch(/^\[\{"_id":/);
    // The socket buffers hold a few of about 24 MB.
    const taken = await settled(pages);
    expect(taken).toBeGreaterThan(1);
    expect(taken).toBeLessThan(8);
    response.destroy();
    expect(await settled(pages)).toBe(taken);
    expect((await hub.request("GET /api/organizations/free-org/members")).status).toBe(200);
  });
});

describe("An export", () => {
  test("does not contain events that are added while it runs", async () => {
    const store = openMemoryStore();
    addTo(store, eventsUpTo(1_200));
    const stream = openExport(store);
    addTo(store, eventsUpTo(1));
    expect(await new Response(stream).json()).toHaveLength(1_200);
  });

  test.each([0, 1, 500, 501, 1_000])("of %i events is complete", async (count) => {
    const store = openMemoryStore();
    addTo(store, eventsUpTo(count));
    const stream = openExport(store);
    const expected = eventsUpTo(count).map(({ message }) => ({ message }));
    expect(await new Response(stream).json()).toMatchObject(expected.reverse());
  });

  test("is aborted without an error message if the server closes", async () => {
    const store = openStore({ file: state });
    using error = vi.spyOn(console, "error");
    const listener = await listenWith(store);
    const { response } = await beginReading(`http://127.0.0.1:${listener.port}${address}`);
    await listener.close(0);
    store.close();
    await expect(restOf(response)).rejects.toThrow("aborted");
    await settled(() => 0);
    expect(error).not.toHaveBeenCalled();
  });

  test("is truncated if the store closes, and the error is logged", async () => {
    const store = openStore({ file: state });
    const log = createMemoryLogger();
    const listener = await listenWith(store, log);
    const { response, begun } = await beginReading(`http://127.0.0.1:${listener.port}${address}`);
    store.close();
    expect(await restOf(response, begun)).toMatch(/\}$/);
    expect(log.lines).toMatchObject([{ level: "error", organization }]);
    expect(await listener.close(1_000)).toBe(true);
  });
});

async function listenWith(store: Store, log = createMemoryLogger()) {
  const app = new Hono<ApiEnvironment>();
  app.use(async (context, next) => {
    const caller = findCaller("hf_local");
    if (caller) context.set("caller", caller);
    context.set("optionalCaller", caller);
    await next();
  });
  auditLogApi.serve(app, { ...openContext().context, store, log });
  return listen({ fetch: app.fetch, host: "127.0.0.1", port: 0, timeouts, log: log });
}
