import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { DeliveryList, DeliverySummary } from "../../../src/console/protocol/deliveries.ts";
import { ConsoleEvents } from "../../../src/console/server/events.ts";
import type { HandlerContext } from "../../../src/index.ts";
import { codeOf } from "../../console/server/open-test-console.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openReceiverConsole, payloadOf, startedAt } from "./open-receiver-console.ts";

/** Opens a server with an inline endpoint, one that fails, one with a filter, and two in the background. */
function openServer() {
  return openReceiverConsole((server) => {
    server.webhook("inline", () => "done");
    server.webhook("failing", () => {
      throw new Error("The Café database is down.");
    });
    server.webhook("filtered", { repo: "dataset:acme/wanted" }, () => {});
    server.webhook("background", { background: true }, () => "done");
    server.webhook("dying", { background: true, attempts: 1 }, () => {
      throw new Error("The disk is full.");
    });
    server.webhook("retried", { background: true, attempts: 3, backoff: { first: "1h", max: "1h" } }, () => {
      throw new Error("Not yet.");
    });
  });
}

type Opened = Awaited<ReturnType<typeof openServer>>;

/** Sends deliveries to endpoints, one second apart. The ID of each is its number. */
async function deliverInTurn({ clock, deliver }: Opened, endpoints: readonly string[]): Promise<void> {
  for (const [number, endpoint] of endpoints.entries()) {
    await deliver(endpoint, `d-${number}`);
    clock.now += 1_000;
  }
}

/** Reads all pages. */
async function readPages({ client }: Opened, query: string): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const given = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { deliveries, next }: DeliveryList = await client.read(`deliveries?${query}${given}`);
    pages.push(deliveries.map(({ id }) => id));
    cursor = next;
  } while (cursor !== undefined && pages.length < 100);
  return pages;
}

describe("The list", () => {
  test("merges the inbox and the memory, newest first", async () => {
    const opened = await openServer();
    await deliverInTurn(opened, ["inline", "background", "filtered", "dying", "inline", "failing"]);
    await opened.untilStatus("dying", "d-3", "dead");
    await opened.untilStatus("background", "d-1", "succeeded");
    const rows = await opened.list();
    expect(rows.map(({ id, storage, status }) => [id, storage, status])).toEqual([
      ["d-5", "memory", "failed"],
      ["d-4", "memory", "succeeded"],
      ["d-3", "inbox", "dead"],
      ["d-2", "memory", "ignored"],
      ["d-1", "inbox", "succeeded"],
      ["d-0", "memory", "succeeded"],
    ]);
    expect(rows[5]).toEqual({
      ...{ id: "d-0", endpoint: "inline", storage: "memory", status: "succeeded", attempts: 1 },
      event: { scope: "repo.content", action: "update" },
      repository: { type: "dataset", name: "acme/data", url: expect.stringMatching(/^https:/) },
      subject: "main",
      ...{ receivedAt: startedAt, durationMs: expect.any(Number), finishedAt: expect.any(Number) },
    });
    expect(rows[0]).toMatchObject({ error: { code: "HANDLER_FAILED", message: "The Café database is down." } });
    expect(rows[2]).toMatchObject({ error: { code: "HANDLER_FAILED", message: "The disk is full." }, attempts: 1 });
    expect(rows[3]).toMatchObject({ ignoredReason: expect.any(String), attempts: 0 });
    expect(rows[4]).not.toHaveProperty("error");
  });

  test("counts all deliveries by status", async () => {
    const opened = await openServer();
    await deliverInTurn(opened, ["inline", "background", "filtered", "dying", "inline", "failing", "retried"]);
    await opened.untilStatus("dying", "d-3", "dead");
    await opened.untilStatus("background", "d-1", "succeeded");
    await opened.untilStatus("retried", "d-6", "retrying");
    const { totals, deliveries } = await opened.client.read("deliveries?endpoint=inline&limit=1");
    // The inbox does not count a retrying delivery apart.
    expect(totals).toEqual({ succeeded: 3, ignored: 1, failed: 1, dead: 1, queued: 1 });
    expect(deliveries.length).toBeGreaterThan(0);
  });

  test("shows a server without an inbox", async () => {
    const opened = await openReceiverConsole((server) => server.webhook("inline", () => {}));
    expect(await opened.client.read("deliveries")).toEqual({ deliveries: [], totals: {} });
    await opened.deliver("inline", "d-1");
    expect(await opened.ids()).toEqual(["d-1"]);
    expect(await opened.ids("?status=dead,queued")).toEqual([]);
  });

  test("shows a body that is not a payload of the Hub", async () => {
    const opened = await openReceiverConsole((server) => server.webhook("any", { schema: null }, () => {}));
    const bodies = [null, 7, [], "text", { event: 1, repo: [] }, { event: { scope: 7 }, repo: { name: "" } }];
    for (const [number, payload] of bodies.entries()) await opened.deliver("any", `d-${number}`, { payload });
    const rows = await opened.list();
    expect(rows).toHaveLength(bodies.length);
    for (const row of rows) {
      expect(row).not.toHaveProperty("event");
      expect(row).not.toHaveProperty("repository");
    }
  });

  test("has no links that run scripts", async () => {
    const opened = await openReceiverConsole((server) => server.webhook("any", { schema: null }, () => {}));
    const urls = ["javascript:alert(1)", "data:text/html,x", "https://huggingface.co/acme", "//evil.example", "x", 7];
    for (const [number, web] of urls.entries()) {
      await opened.deliver("any", `d-${number}`, { payload: { repo: { type: "model", name: "a/b", url: { web } } } });
    }
    const shown = (await opened.list()).map(({ repository }) => repository?.url);
    expect(shown.filter((url) => url !== undefined)).toEqual(["https://huggingface.co/acme"]);
  });
});

describe("A filter", () => {
  async function openFiltered() {
    const opened = await openServer();
    const { deliver, clock, untilStatus } = opened;
    const event = { scope: "repo", action: "create" };
    for (const [endpoint, id, payload] of [
      ["inline", "inline-one", payloadOf("acme/one")],
      ["background", "stored-one", payloadOf("acme/one")],
      ["failing", "inline-two", payloadOf("acme/two", { event })],
      ["dying", "stored-two", payloadOf("acme/two", { event })],
      ["retried", "stored-again", payloadOf("acme/three")],
      ["filtered", "inline-ignored", payloadOf("acme/three")],
    ] as const) {
      await deliver(endpoint, id, { payload });
      clock.now += 1_000;
    }
    await untilStatus("background", "stored-one", "succeeded");
    await untilStatus("dying", "stored-two", "dead");
    await untilStatus("retried", "stored-again", "retrying");
    return opened;
  }

  test("is applied to the inbox and to the memory", async () => {
    const { ids } = await openFiltered();
    const at = (seconds: number) => startedAt + seconds * 1_000;
    for (const [query, expected] of [
      ["", ["inline-ignored", "stored-again", "stored-two", "inline-two", "stored-one", "inline-one"]],
      ["status=succeeded", ["stored-one", "inline-one"]],
      ["status=dead", ["stored-two"]],
      ["status=failed", ["inline-two"]],
      ["status=ignored", ["inline-ignored"]],
      ["status=retrying", ["stored-again"]],
      // A delivery that waits for a retry is in the queue too.
      ["status=queued", ["stored-again"]],
      ["status=running", []],
      ["status=cancelled", []],
      ["status=failed,dead,retrying", ["stored-again", "stored-two", "inline-two"]],
      ["status=,", ["inline-ignored", "stored-again", "stored-two", "inline-two", "stored-one", "inline-one"]],
      ["endpoint=inline", ["inline-one"]],
      ["endpoint=background", ["stored-one"]],
      ["endpoint=nowhere", []],
      ["scope=repo", ["stored-two", "inline-two"]],
      ["scope=repo.content", ["inline-ignored", "stored-again", "stored-one", "inline-one"]],
      ["action=create", ["stored-two", "inline-two"]],
      ["repository=acme/one", ["stored-one", "inline-one"]],
      ["repository=dataset:acme/one", ["stored-one", "inline-one"]],
      ["repository=model:acme/one", []],
      ["repository=nothing", []],
      // A part of a name, regardless of case, and not of another field of the payload.
      ["repository=CME/T", ["inline-ignored", "stored-again", "stored-two", "inline-two"]],
      ["repository=acme/t&search=stored", ["stored-again", "stored-two"]],
      ["repository=refs/heads", []],
      ["repository=dataset:acme/on", []],
      [`from=${at(2)}`, ["inline-ignored", "stored-again", "stored-two", "inline-two"]],
      [`until=${at(2)}`, ["stored-one", "inline-one"]],
      [`from=${at(1)}&until=${at(3)}`, ["inline-two", "stored-one"]],
      ["repository=acme/two&status=dead&scope=repo&endpoint=dying", ["stored-two"]],
      ["repository=acme/two&status=succeeded", []],
      // Parts of IDs, payloads, and errors.
      ["search=ONE", ["stored-one", "inline-one"]],
      ["search=cme/tw", ["stored-two", "inline-two"]],
      ["search=stored", ["stored-again", "stored-two", "stored-one"]],
      ["search=cafe", ["inline-two"]],
      ["search=down+database", ["inline-two"]],
      ["search=HANDLER_FAILED", ["stored-again", "stored-two", "inline-two"]],
      ["search=database+disk", []],
      ["search=%25", []],
      ["search='+OR+1=1+--", []],
    ] as const) {
      expect([query, await ids(`?${query}`)]).toEqual([query, expected]);
    }
  });

  test("finds the same deliveries in the inbox and in memory, whatever their bodies and attempts are", async () => {
    const opened = await openReceiverConsole((server) => {
      const started = new Set<string>();
      const failFirst = (_payload: unknown, { delivery: { endpoint, id } }: HandlerContext<null>) => {
        const isFirst = !started.has(`${endpoint} ${id}`);
        started.add(`${endpoint} ${id}`);
        if (id.startsWith("failing") && isFirst) throw new Error("The Café is closed.");
      };
      server.webhook("inline", { schema: null }, failFirst);
      const backoff = { first: "1ms", max: "1ms" } as const;
      server.webhook("stored", { schema: null, background: true, attempts: 2, backoff }, failFirst);
    });
    const event = { scope: "repo", action: "create" };
    const bodies = {
      whole: payloadOf("acme/one"),
      other: payloadOf("acme/two", { event }),
      failing: payloadOf("acme/two"),
      "without-type": { repo: { name: "acme/one" }, event },
      "without-scope": { repo: { type: "model", name: "acme/one" }, event: { action: "create" } },
      "with-long-name": { repo: { type: "model", name: `acme/${"x".repeat(300)}` }, event },
      "with-empty-fields": { repo: { type: "", name: "" }, event: { scope: "", action: "" } },
      "with-other-types": { repo: { type: 1, name: ["acme/one"] }, event: { scope: null, action: {} } },
      list: ["acme/one"],
    };
    const names = Object.keys(bodies);
    for (const [name, payload] of Object.entries(bodies)) {
      await opened.deliver("inline", `${name}-1`, { payload });
      await opened.deliver("stored", `${name}-1`, { payload });
      opened.clock.now += 1_000;
    }
    await opened.deliver("inline", "failing-1", { payload: bodies.failing });
    for (const name of names) await opened.untilStatus("stored", `${name}-1`, "succeeded");
    const found = async (endpoint: string, query: string) =>
      (await opened.ids(`?endpoint=${endpoint}&${query}`)).map((id) => id.replace(/-1$/, "")).sort();
    for (const [query, expected] of [
      ["", names],
      ["repository=acme/one", ["whole", "without-scope", "without-type"]],
      ["repository=dataset:acme/one", ["whole"]],
      ["repository=:acme/one", []],
      [`repository=model:acme/${"x".repeat(300)}`, ["with-long-name"]],
      ["scope=repo", ["other", "with-long-name", "without-type"]],
      ["action=create", ["other", "with-long-name", "without-scope", "without-type"]],
      ["scope=repo.content&action=update", ["failing", "whole"]],
      ["search=acme/one", ["list", "whole", "with-other-types", "without-scope", "without-type"]],
      ["search=long-name", ["with-long-name"]],
      ["search=cafe", ["failing"]],
      ["search=handler+closed+two", ["failing"]],
      [`search=${"x".repeat(150)}`, ["with-long-name"]],
      [`from=${startedAt + 1_000}&until=${startedAt + 3_000}`, ["failing", "other"]],
      [`from=${startedAt + 1_000}&search=acme/one`, ["list", "with-other-types", "without-scope", "without-type"]],
    ] as const) {
      const sorted = [...expected].sort();
      expect([query, await found("stored", query)]).toEqual([query, sorted]);
      expect([query, await found("inline", query)]).toEqual([query, sorted]);
    }
  });

  test("finds a large delivery in the inbox and in memory", async () => {
    const opened = await openServer();
    const payload = { ...payloadOf("acme/one"), text: "é".repeat(600_000) };
    for (const endpoint of ["inline", "background"]) await opened.deliver(endpoint, "large", { payload });
    for (const [query, ids] of [
      ["repository=acme/one", ["large", "large"]],
      ["search=acme/one", ["large", "large"]],
      ["search=large", ["large", "large"]],
      ["scope=repo.content&action=update", []],
    ] as const) {
      expect([query, await opened.ids(`?${query}`)]).toEqual([query, ids]);
    }
  });

  test.each([
    ["status=nope", "ARGUMENT_INVALID"],
    ["status=dead,__proto__", "ARGUMENT_INVALID"],
    ["limit=0", "ARGUMENT_INVALID"],
    ["limit=201", "ARGUMENT_INVALID"],
    ["from=yesterday", "ARGUMENT_INVALID"],
    [`search=${"x".repeat(201)}`, "ARGUMENT_INVALID"],
    ["from=1e300", "OPTION_INVALID"],
    ["cursor=nonsense", "OPTION_INVALID"],
    ["cursor=~nonsense~%25~x", undefined],
  ])("of %s is a bad request", async (query, code) => {
    const { client } = await openServer();
    const response = await client.get(`deliveries?${query}`);
    if (code === undefined) expect(response.status).toBe(200);
    else expect(await codeOf(response)).toEqual([400, code]);
  });
});

describe("Paging", () => {
  test("shows each delivery once, in order, whatever arrives meanwhile", async () => {
    // The clock can stand still, or be set back. Deliveries of two endpoints can have the same ID.
    const arrival = fc.record({
      endpoint: fc.constantFrom("inline", "background", "failing", "filtered"),
      isSameId: fc.boolean(),
      passedMs: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1_000) }, fc.constant(-20_000)),
    });
    const arrivals = (maxLength: number) => fc.array(arrival, { maxLength, size: "max" });
    await fc.assert(
      fc.asyncProperty(arrivals(30), arrivals(4), fc.integer({ min: 1, max: 8 }), async (before, later, limit) => {
        const opened = await openServer();
        let count = 0;
        const keys: string[] = [];
        const deliver = async ({ endpoint, isSameId, passedMs }: (typeof before)[number]) => {
          opened.clock.now += passedMs;
          count += isSameId ? 0 : 1;
          const id = `d~${count}`;
          // A delivery that arrives again is known.
          if (keys.includes(`${endpoint} ${id}`)) return;
          keys.push(`${endpoint} ${id}`);
          await opened.deliver(endpoint, id);
        };
        for (const given of before) await deliver(given);
        const initial = [...keys];
        const pages: DeliverySummary[][] = [];
        let cursor: string | undefined;
        do {
          const given = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
          const page: DeliveryList = await opened.client.read(`deliveries?limit=${limit}${given}`);
          pages.push([...page.deliveries]);
          cursor = page.next;
          const next = later[pages.length - 1];
          if (next) await deliver(next);
        } while (cursor !== undefined && pages.length < 100);
        const read = pages.flat().map(({ endpoint, id }) => `${endpoint} ${id}`);
        expect(new Set(read).size, "a delivery is on two pages").toBe(read.length);
        expect(read.filter((key) => initial.includes(key)).sort(), "deliveries").toEqual([...initial].sort());
        // After the clock was set back, only the deliveries of a page are in order.
        const isMonotonic = [...before, ...later].every(({ passedMs }) => passedMs >= 0);
        for (const part of isMonotonic ? [pages.flat()] : pages) {
          const times = part.map(({ receivedAt }) => receivedAt);
          expect(times, "order").toEqual(times.toSorted((one, other) => other - one));
        }
        await opened.server.close();
      }),
      { numRuns: Number(process.env.RUNS ?? 10), seed: Number(process.env.SEED ?? 1) },
    );
  });

  test.each([1, 3])("with a limit of %i in memory alone shows each delivery once", async (limit) => {
    const opened = await openReceiverConsole((server) => {
      for (const name of ["a", "b"]) server.webhook(name, () => {});
    });
    for (const id of ["x~y", "x", "%", "z"]) for (const endpoint of ["a", "b"]) await opened.deliver(endpoint, id);
    const pages = await readPages(opened, `limit=${limit}`);
    expect(pages.flat().sort()).toEqual(["%", "%", "x", "x", "x~y", "x~y", "z", "z"]);
    expect(pages.every((page) => page.length <= limit)).toBe(true);
  });

  test("with a filter that few deliveries match ends at the last page", async () => {
    const opened = await openServer();
    await deliverInTurn(opened, ["dying", ...Array(12).fill("background"), "inline", "dying"]);
    for (const id of ["d-0", "d-14"]) await opened.untilStatus("dying", id, "dead");
    expect((await readPages(opened, "limit=1&status=dead")).flat()).toEqual(["d-14", "d-0"]);
    expect((await readPages(opened, "limit=1&status=dead,failed")).flat()).toEqual(["d-14", "d-0"]);
  });
});

/** Opens a server, and returns the IDs of the rows that its console has sent to open pages, in order. */
async function openWatched(...options: Parameters<typeof openReceiverConsole>) {
  const changed = vi.spyOn(ConsoleEvents.prototype, "deliveryChanged");
  onTestFinished(() => changed.mockRestore());
  const opened = await openReceiverConsole(...options);
  const stream = await opened.client.get("stream");
  return { ...opened, stream, changes: () => changed.mock.calls.map(([{ id }]) => id) };
}

test("A background delivery changes in an open list when it is stored, when its handler starts, and when it ends", async () => {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { server, deliver, changes, untilStatus } = await openWatched((declared) => {
    declared.webhook("works", { background: true }, () => {
      started.resolve();
      return finish.promise;
    });
  });
  await server.inbox.pause("works");
  await deliver("works", "d-1");
  expect(changes()).toEqual(["d-1"]);
  await server.inbox.resume("works");
  await started.promise;
  expect(changes()).toEqual(["d-1", "d-1"]);
  finish.resolve();
  await untilStatus("works", "d-1", "succeeded");
  await waitFor(() => expect(changes()).toEqual(["d-1", "d-1", "d-1"]));
});

test("An inline delivery changes in an open list when its handler starts, and when it ends", async () => {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { deliver, changes } = await openWatched((server) => {
    server.webhook("inline", () => {
      started.resolve();
      return finish.promise;
    });
  });
  const delivered = deliver("inline", "d-1");
  await started.promise;
  expect(changes()).toEqual(["d-1"]);
  finish.resolve();
  await delivered;
  expect(changes()).toEqual(["d-1", "d-1"]);
});

test("A delivery is not reported after the last page was closed", async () => {
  const { deliver, stream, changes } = await openWatched((server) => {
    server.webhook("inline", () => {});
  });
  await stream.body?.cancel();
  await deliver("inline", "d-1");
  expect(changes()).toEqual([]);
});

test("A delivery of a paused endpoint changes in an open list when it is replayed, and when it is discarded", async () => {
  const { server, client, deliver, changes, untilStatus } = await openWatched((declared) => {
    declared.webhook("dies", { background: true, attempts: 1 }, () => {
      throw new Error("The disk is full.");
    });
  });
  await deliver("dies", "d-1");
  await untilStatus("dies", "d-1", "dead");
  await waitFor(() => expect(changes()).toHaveLength(3));
  await server.inbox.pause("dies");
  const key = { endpoint: "dies", id: "d-1" };
  for (const [index, [action, body]] of [
    ["replay-dead", {}] as const,
    ["discard", key] as const,
    ["replay", key] as const,
  ].entries()) {
    expect((await client.change(`deliveries/${action}`, body)).status).toBe(200);
    expect([action, changes().length]).toEqual([action, 4 + index]);
  }
});
