import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { findCaller } from "../../../../src/local-hub/accounts.ts";
import { auditLogApi, exportAuditLog } from "../../../../src/local-hub/resources/organizations/audit-log.ts";
import type { ApiEnvironment } from "../../../../src/local-hub/routes/route.ts";
import { seedStore } from "../../../../src/local-hub/seed/seed.ts";
import { AuditLogStore, type StoredAuditEvent } from "../../../../src/local-hub/store/audit-log-store.ts";
import { openStore, type Store } from "../../../../src/local-hub/store/store.ts";
import { listen } from "../../../../src/receiver/node/listen.ts";
import { createMemoryLogger } from "../../../support/memory-logger.ts";
import { openContext, openMemoryStore } from "../../support/context.ts";
import { openLocalHub } from "../../support/hub.ts";

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
    const page = vi.spyOn(AuditLogStore.prototype, "page").mockImplementation(({ before = 1_000_000, limit }) => ({
      events: events.slice(0, limit),
      before: before - limit,
    }));
    onTestFinished(() => page.mockRestore());
    const text = await new Response(openExport(store)).text();
    expect(text.match(/"createdAt"/g)).toHaveLength(100_000);
    expect(JSON.parse(`[${text.slice(text.lastIndexOf(',{"_id"') + 1)}`)).toMatchObject([
      { message: events[499]?.message },
    ]);
  });

  test("reads from the store as the client reads, and stops when the client disconnects", async () => {
    const hub = await openLocalHub({ state });
    const page = vi.spyOn(AuditLogStore.prototype, "page");
    onTestFinished(() => page.mockRestore());
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
    const error = vi.spyOn(console, "error");
    onTestFinished(() => error.mockRestore());
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
