import fc from "fast-check";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { connection } from "../../../src/console/app/api.ts";
import type { ListFilter } from "../../../src/console/app/deliveries/filter.ts";
import { ListStore } from "../../../src/console/app/deliveries/list-store.ts";
import { announcement } from "../../../src/console/app/state.ts";
import { consoleStatuses, type DeliverySummary } from "../../../src/console/protocol/deliveries.ts";
import {
  closeSimulatedConsole,
  openSimulatedConsole,
  type SimulatedConsole,
  simulateRequestTimeouts,
} from "./simulated-console.ts";

const lists: OpenList[] = [];
afterEach(() => {
  for (const list of lists.splice(0)) list.close();
  closeSimulatedConsole();
});

const limits = { pageSize: 4, maxRows: 14 };

const textOf = ({ id, status, attempts }: DeliverySummary) => `${id} ${status} ${attempts}`;
const idsOf = (rows: readonly DeliverySummary[]) => rows.map(({ id }) => id);

/** A page with the list, and its user. */
class OpenList {
  readonly store: ListStore;
  readonly #filter: ListFilter;
  readonly #opened: SimulatedConsole;
  readonly #stop: () => void;
  #isHeld = false;
  /** Whether the rows can move because the user inserted rows or left the list before. */
  #isMoving = true;
  /** Whether no row may move, and the rows that may not. */
  #isFixed = false;
  #fixed: readonly string[] = [];

  constructor(opened: SimulatedConsole, filter: ListFilter) {
    this.#opened = opened;
    this.#filter = filter;
    this.store = new ListStore(filter, limits);
    this.#stop = this.store.start();
    lists.push(this);
  }

  close(): void {
    this.#stop();
  }

  hold(isHeld: boolean): void {
    this.#isFixed = isHeld && !this.#isMoving;
    if (!isHeld) this.#isMoving = true;
    this.#fixed = [];
    this.#isHeld = isHeld;
    this.store.hold(isHeld);
  }

  insert(): void {
    this.#isFixed = false;
    this.#isMoving = true;
    this.store.insert();
  }

  /** Checks what is true at any time. */
  check(): void {
    const { rows, waiting, isTrimmed } = this.store.list.value;
    expect(rows.length, "rows").toBeLessThanOrEqual(limits.maxRows);
    expect(waiting.length, "waiting rows").toBeLessThanOrEqual(limits.maxRows);
    expect(new Set(idsOf([...rows, ...waiting])).size, "a row is twice").toBe(rows.length + waiting.length);
    for (const part of [rows, waiting]) {
      const times = part.map(({ receivedAt }) => receivedAt);
      expect(times, "order").toEqual(times.toSorted((one, other) => other - one));
    }
    const last = rows.at(-1)?.receivedAt ?? 0;
    const later = waiting.filter(({ receivedAt }) => isTrimmed && receivedAt < last);
    expect(later, "rows of a later page").toEqual([]);
    const ids = idsOf(rows);
    // A row that does not match the status any longer leaves the list.
    const fixed = this.#filter.status === undefined ? this.#fixed : this.#fixed.filter((id) => ids.includes(id));
    if (this.#isFixed) expect(ids.slice(0, fixed.length), "rows under the pointer").toEqual(fixed);
    this.#fixed = ids;
  }

  /** Checks that the list shows what a new one would show, once everything has arrived and the user has left the list. */
  async expectFresh(): Promise<void> {
    await this.#opened.settle();
    this.check();
    this.insert();
    await this.#opened.settle();
    this.check();
    // A page that contains no delivery with the status does not show whether the rows are contiguous.
    if (this.#isHeld && this.#filter.status === undefined) this.#expectRows({ isHeld: true });
    this.hold(false);
    await this.#opened.settle();
    this.check();
    this.#isMoving = false;
    this.#expectRows({ isHeld: false });
    expect(this.store.totals.value, "totals").toEqual(this.#opened.stored.totals());
    expect([this.store.failure.value, this.store.isLoaded.value, connection.value]).toEqual([undefined, true, "live"]);
  }

  #expectRows({ isHeld }: { isHeld: boolean }): void {
    const { endpoint, status } = this.#filter;
    const query = { endpoint, statuses: status === "dead" ? (["dead"] as const) : undefined };
    const { stored } = this.#opened;
    const matching = idsOf(stored.matching(query));
    const current = new Map(stored.rows.map((row) => [row.id, textOf(row)]));
    // While the list is held, no answer contains the rows that are too far down.
    const answered = isHeld ? stored.rows.slice(0, 8 * limits.pageSize) : stored.rows;
    const known = new Set(idsOf(answered));
    const { rows, waiting, isTrimmed } = this.store.list.value;
    expect(waiting, "waiting rows").toEqual([]);
    const outdated = rows.filter((row) => known.has(row.id) && textOf(row) !== current.get(row.id));
    expect(outdated.map(textOf), "rows with an old state").toEqual([]);
    const shown = idsOf(rows);
    expect(shown, "rows").toEqual(matching.slice(0, shown.length));
    if (matching.length === shown.length) return;
    expect(isTrimmed || this.store.next.value !== undefined, "a mark that older rows are missing").toBe(true);
    if (status === undefined && endpoint === undefined) expect(shown.length).toBeGreaterThanOrEqual(limits.pageSize);
  }

  /** Loads all pages, one after another. */
  async readAll(): Promise<void> {
    const { next, list } = this.store;
    for (
      let pages = 0;
      next.value !== undefined && !list.value.isTrimmed && list.value.rows.length < limits.maxRows;
      pages += 1
    ) {
      if (pages > 40) throw new Error("There is always another page.");
      const loading = this.store.loadMore();
      await this.#opened.settle();
      await loading.catch(() => {});
    }
  }
}

/** What can happen, how often, and a number that decides the details. */
const actions: Readonly<
  Record<string, [weight: number, run: (opened: SimulatedConsole, list: OpenList, choice: number) => unknown]>
> = {
  "a delivery arrives": [4, (opened) => opened.arrive()],
  "some deliveries arrive": [4, (opened, _list, choice) => opened.arrive(2 + (choice % 12))],
  "too many deliveries for messages arrive": [2, (opened, _list, choice) => opened.missed(1 + (choice % 30))],
  "a delivery changes": [
    4,
    ({ stored, events }, _list, choice) => {
      const changed = stored.change(choice % Math.max(1, stored.rows.length), pick(consoleStatuses, choice));
      if (changed) events.deliveryChanged(changed);
    },
  ],
  "too many deliveries for messages change": [
    2,
    ({ stored, events }, _list, choice) => {
      for (let place = choice % 10; place < 20; place += 1) stored.change(place, pick(consoleStatuses, choice));
      events.changed("deliveries");
    },
  ],
  "the network delivers something": [8, (opened, _list, choice) => opened.deliver(choice)],
  "the network delivers the oldest": [8, (opened) => opened.deliver(0)],
  "an answer is late": [6, (opened) => opened.delayOldest()],
  "a moment passes": [3, () => vi.advanceTimersByTimeAsync(200)],
  "seconds pass": [1, () => vi.advanceTimersByTimeAsync(5_000)],
  "everything arrives": [4, (opened) => opened.deliverAll()],
  "the connection is lost": [1, (opened) => opened.cut()],
  "the connection is back": [2, (opened) => opened.restore()],
  "the inbox is down": [1, (opened) => Object.assign(opened, { failure: 503 })],
  "the inbox is up": [1, (opened) => Object.assign(opened, { failure: undefined })],
  "the user points at the list": [3, (_opened, list) => list.hold(true)],
  "the user leaves the list": [2, (_opened, list) => list.hold(false)],
  "the user inserts the new rows": [1, (_opened, list) => list.insert()],
  "the user scrolls to the end": [2, (_opened, list) => void list.store.loadMore().catch(() => {})],
  "the user reads all pages": [1, (_opened, list) => list.readAll()],
  "the list is compared": [2, (_opened, list) => list.expectFresh()],
};

function pick<Value>(values: readonly Value[], choice: number): Value {
  const value = values[choice % values.length];
  if (value === undefined) throw new RangeError("There is nothing to pick.");
  return value;
}

/** Each run takes some of the actions, because others would often repair what they have broken. */
const steps = fc
  .subarray(Object.keys(actions), { minLength: 5 })
  .chain((names) =>
    fc.array(
      fc.tuple(
        fc.oneof(...names.map((name) => ({ arbitrary: fc.constant(name), weight: actions[name]?.[0] ?? 1 }))),
        fc.nat(),
      ),
      { minLength: 15, maxLength: 60, size: "max" },
    ),
  );
const filters: readonly ListFilter[] = [{}, {}, { endpoint: "b" }, { status: "dead" }];

/** Set `RUNS=2000` and `SEED` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 40);

test("The list shows what a new one would show, whatever happens while it is open", {
  tags: "slow",
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(30), fc.constantFrom(...filters), steps, async (count, filter, taken) => {
      const opened = openSimulatedConsole();
      for (let added = 0; added < count; added += 1) opened.stored.add({ status: added % 2 === 0 ? "dead" : "queued" });
      const list = new OpenList(opened, filter);
      try {
        opened.connect();
        for (const [name, choice] of taken) {
          await actions[name]?.[1](opened, list, choice);
          list.check();
        }
        await list.expectFresh();
        await list.readAll();
        await list.expectFresh();
        expect(list.store.isLoadingMore.value).toBe(false);
      } finally {
        list.close();
        await opened.close();
      }
      expect(opened.streams, "open streams").toBe(0);
    }),
    { numRuns, seed: Number(process.env.SEED ?? 1) },
  );
});

/** Opens a list that shows some deliveries, the newest first. */
async function openRows(count: number, filter: ListFilter = {}) {
  const opened = openSimulatedConsole();
  for (let added = 0; added < count; added += 1) opened.stored.add();
  const list = new OpenList(opened, filter);
  opened.connect();
  await opened.settle();
  /** Starts to load the list, until the server has answered. */
  const startLoad = async () => {
    const loading = list.store.load();
    await vi.advanceTimersByTimeAsync(0);
    await opened.deliver(0);
    return { loading };
  };
  return { opened, list, rows: () => list.store.list.value.rows.map(textOf), startLoad };
}

test("A delivery that changes while its page loads has its new state, also if the page is older", async () => {
  const { opened, list } = await openRows(8);
  for (const load of [() => list.store.load(), () => list.store.loadMore()]) {
    const loading = load();
    await vi.advanceTimersByTimeAsync(0);
    await opened.deliver(0);
    // The server has answered. The change arrives before its answer.
    for (const place of [0, 6]) {
      const changed = opened.stored.change(place, "dead");
      if (changed) opened.events.deliveryChanged(changed);
    }
    await opened.delayOldest();
    await opened.settle();
    await loading;
    list.check();
    const shown = list.store.list.value.rows.map(textOf);
    expect(shown).toEqual(opened.stored.rows.slice(0, shown.length).map(textOf));
  }
});

test("The next page is loaded after the rows that it follows", async () => {
  const { opened, list, rows } = await openRows(12);
  await list.readAll();
  expect(rows()).toHaveLength(12);
  // The user scrolls on while the next page loads.
  const loads = [list.store.load(), list.store.loadMore(), list.store.loadMore()];
  for (let count = 0; count < 3; count += 1) await opened.delayOldest();
  await opened.settle();
  await Promise.all(loads);
  expect(rows()).toEqual(opened.stored.rows.slice(0, 8).map(textOf));
});

test("No row is added above missed ones before the list has been loaded again", async () => {
  const { opened, list, rows } = await openRows(3);
  opened.cut();
  for (let missed = 0; missed < 6; missed += 1) opened.stored.add();
  opened.failure = 503;
  opened.restore();
  await opened.pass(2_000, 250);
  expect(opened.streams).toBe(1);
  opened.arrive();
  await opened.pass(1_000, 250);
  expect(rows()).toHaveLength(3);
  await list.expectFresh();
  expect(rows()[0]).toBe("d-10 queued 0");
});

test("No row is added above deliveries that were missed while an older answer was on its way", async () => {
  const { opened, list, rows, startLoad } = await openRows(3);
  const { loading } = await startLoad();
  // Before the answer arrives, the page misses deliveries, and then receives a newer one.
  opened.missed(6);
  await opened.delayOldest();
  await opened.deliver(0);
  await loading;
  opened.arrive();
  await opened.delayOldest();
  expect(rows()).toHaveLength(3);
  await list.expectFresh();
  expect(rows()[0]).toBe("d-10 queued 0");
});

test("No row of a burst that is longer than the list is missing after a page has loaded meanwhile", async () => {
  const { opened, list, startLoad } = await openRows(3);
  const { loading } = await startLoad();
  // The burst arrives before the answer.
  opened.arrive(limits.maxRows + 1);
  await opened.delayOldest();
  await opened.settle();
  await loading;
  await list.expectFresh();
});

test("Deliveries that became older matches while the user points at the list can be loaded", async () => {
  const opened = openSimulatedConsole();
  for (let added = 0; added < 12; added += 1) opened.stored.add({ status: added === 11 ? "dead" : "queued" });
  const list = new OpenList(opened, { status: "dead" });
  opened.connect();
  await opened.settle();
  expect(list.store.next.value).toBeUndefined();
  list.hold(true);
  for (let place = 1; place < 12; place += 1) opened.stored.change(place, "dead");
  opened.events.changed("deliveries");
  await opened.settle();
  await list.readAll();
  list.insert();
  expect(idsOf(list.store.list.value.rows)).toEqual(idsOf(opened.stored.rows));
});

/** Opens the list of dead deliveries, while the user points at it. */
async function openDead(count: number) {
  const opened = openSimulatedConsole();
  for (let added = 0; added < count; added += 1) opened.stored.add({ status: "dead" });
  const list = new OpenList(opened, { status: "dead" });
  opened.connect();
  await opened.settle();
  list.hold(true);
  const replay = (place: number) => {
    const changed = opened.stored.change(place, "queued");
    if (changed) opened.events.deliveryChanged(changed);
  };
  return { opened, list, store: list.store, replay };
}

test("A replayed delivery leaves the list of dead ones, and the totals change with it", async () => {
  const { opened, store, replay } = await openDead(3);
  replay(1);
  const before = opened.requests.length;
  await opened.pass(200);
  expect(store.list.value.rows.map(textOf)).toEqual(["d-3 dead 0", "d-1 dead 0"]);
  expect([store.totals.value, opened.requests.length]).toEqual([{ dead: 2, queued: 1 }, before]);
});

test("After all dead deliveries are replayed, those of the next page follow, and then none is left", async () => {
  const { opened, store, replay } = await openDead(2 * limits.pageSize);
  for (let place = 0; place < limits.pageSize; place += 1) replay(place);
  await opened.pass(1_000, 100);
  expect(idsOf(store.list.value.rows)).toEqual(["d-4", "d-3", "d-2", "d-1"]);
  // Too many deliveries for messages change.
  for (let place = limits.pageSize; place < 2 * limits.pageSize - 1; place += 1) opened.stored.change(place, "queued");
  opened.events.changed("deliveries");
  await opened.pass(1_000, 100);
  expect([idsOf(store.list.value.rows), store.list.value.waiting]).toEqual([["d-1"], []]);
});

test("After rows of a full list have left it, no page is added below those that were dropped", async () => {
  const { opened, list, store, replay } = await openDead(limits.maxRows + 2 * limits.pageSize);
  await list.readAll();
  expect(store.list.value.isTrimmed).toBe(true);
  for (let place = 0; place < 3; place += 1) replay(place);
  await opened.pass(1_000, 100);
  await store.loadMore();
  await list.expectFresh();
});

test("Totals that could not be loaded are loaded later", async () => {
  const { opened, list } = await openRows(1);
  opened.failure = 503;
  opened.arrive();
  await opened.pass(1_000, 100);
  expect(list.store.totals.value).toEqual({ queued: 1 });
  await opened.settle();
  expect(list.store.totals.value).toEqual({ queued: 2 });
});

test("The totals of an inbox that counts slowly are loaded less often", async () => {
  const { opened } = await openRows(1);
  const counted = () => opened.requests.filter((url) => url.endsWith("limit=1")).length;
  const countedIn = async (seconds: number) => {
    const before = counted();
    for (let passed = 0; passed < seconds; passed += 1) {
      opened.arrive();
      await opened.pass(1_000, 20);
    }
    return counted() - before;
  };
  expect(await countedIn(10)).toBeGreaterThan(6);
  opened.arrive();
  // The answer takes 2 s.
  await opened.pass(200);
  await vi.advanceTimersByTimeAsync(2_300);
  await opened.deliverAll();
  expect(await countedIn(3)).toBeLessThan(2);
  await opened.settle();
});

test("A first load that fails while the user points at the list shows its failure", async () => {
  const opened = openSimulatedConsole();
  opened.failure = 503;
  const { store } = new OpenList(opened, {});
  store.hold(true);
  opened.connect();
  await opened.deliverAll();
  expect([store.isLoaded.value, store.failure.value?.status]).toEqual([false, 503]);
});

test("A list that is closed receives nothing, and leaves no timer", async () => {
  const { opened, list, rows } = await openRows(1);
  const timers = vi.getTimerCount();
  const report = async (change: () => void) => {
    change();
    await opened.pass(200);
  };
  await report(() => opened.arrive());
  await report(() => opened.events.changed("deliveries"));
  // The totals and the rows are loaded later.
  expect(vi.getTimerCount()).toBe(timers + 2);
  list.close();
  expect(vi.getTimerCount()).toBe(timers);
  opened.arrive();
  await opened.settle();
  expect(rows()).toEqual(["d-2 queued 0", "d-1 queued 0"]);
});

test("A list that is closed while it loads reports no failure", async () => {
  const { opened, list } = await openRows(8);
  const loading = Promise.all([list.store.load(), list.store.loadMore()]);
  await vi.advanceTimersByTimeAsync(0);
  list.close();
  await opened.deliverAll();
  await loading;
  expect([list.store.failure.value, list.store.isLoadingMore.value]).toEqual([undefined, false]);
});

test("A request that the server refuses is not repeated", async () => {
  const { opened, list } = await openRows(1);
  opened.failure = 400;
  const loading = list.store.load();
  const refused = opened.requests.length + 1;
  await opened.pass(20_000, 1_000);
  await loading;
  expect([list.store.failure.value?.status, opened.requests.length]).toEqual([400, refused]);
});

test("Once the rows are loaded again, nothing is loaded when the user leaves the list, inserts rows, or many arrive", async () => {
  const { opened, list, rows } = await openRows(3);
  list.hold(true);
  opened.missed(2 * limits.maxRows);
  await opened.settle();
  list.hold(false);
  await opened.settle();
  const loads = () => opened.requests.filter((url) => !url.includes("limit=1")).length;
  const before = loads();
  list.hold(true);
  opened.arrive(2 * limits.maxRows);
  await opened.settle();
  list.insert();
  list.hold(false);
  await opened.settle();
  expect(loads()).toBe(before);
  expect(rows()).toEqual(opened.stored.rows.slice(0, limits.maxRows).map(textOf));
});

test("A reload stops at the place of the last row, also if that row is gone, and loads no more pages than the list can show", async () => {
  const { opened, list } = await openRows(12);
  opened.stored.rows.splice(limits.pageSize - 1, 1);
  const reload = async (missed: number) => {
    const before = opened.requests.length;
    opened.missed(missed);
    await opened.settle();
    return opened.requests.length - before;
  };
  list.hold(true);
  expect(await reload(0)).toBe(1);
  expect(await reload(20 * limits.pageSize)).toBe(Math.ceil(limits.maxRows / limits.pageSize));
});

test("While deliveries arrive all the time, the totals are loaded, and each announcement counts those since the last", async () => {
  const { opened, list } = await openRows(1);
  const announced: string[] = [];
  onTestFinished(announcement.subscribe((text) => void announced.push(text)));
  announced.length = 0;
  for (let seconds = 0; seconds < 12; seconds += 1) {
    opened.arrive();
    await opened.pass(1_000);
  }
  const counts = announced.map((text) => Number.parseInt(text, 10));
  expect(counts.length).toBeGreaterThan(2);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(12);
  for (let count = 0; count < 40; count += 1) {
    opened.arrive();
    await opened.pass(200);
  }
  expect(list.store.totals.value.queued).toBeGreaterThan(25);
  await opened.settle();
});

test("Missed deliveries wait while the user points at the list, also those that only the server can match", async () => {
  const { opened, list } = await openRows(2, { search: "a word of the body" });
  list.hold(true);
  opened.missed(1);
  await opened.settle();
  expect(list.store.list.value.waiting).toEqual(opened.stored.rows.slice(0, 1));
  // With more of them than the list can show, the next page is not the one below the rows.
  opened.missed(2 * limits.maxRows);
  await opened.settle();
  expect([list.store.next.value, list.store.list.value.rows.length]).toEqual([undefined, 2]);
});

test("Rows below the loaded pages that changed while the user pointed at the list have their new state afterwards", async () => {
  const { opened, list, rows } = await openRows(6, { endpoint: "b" });
  list.hold(true);
  opened.missed(30);
  for (let place = 30; place < 36; place += 1) opened.stored.change(place, "dead");
  await opened.settle();
  list.hold(false);
  await opened.settle();
  expect(opened.stored.rows.map(textOf)).toEqual(expect.arrayContaining(rows()));
});

test("A request that hangs for a minute fails, and the list is loaded again", async () => {
  simulateRequestTimeouts();
  const { opened, list, rows } = await openRows(1);
  const loading = list.store.load();
  opened.stored.add();
  await vi.advanceTimersByTimeAsync(60_000);
  await loading;
  expect(list.store.failure.value?.status).toBe(0);
  await opened.settle();
  expect([list.store.failure.value, rows()]).toEqual([undefined, opened.stored.rows.map(textOf)]);
});

test("The window of a list moves with the clock of the server, also if that of the browser is wrong", async () => {
  const { opened, list } = await openRows(1, { last: "15m" });
  /** Loads the list from a server whose clock is ahead. Returns how old deliveries can be, by the clock of the browser. */
  const loadAhead = async (leadMs: number) => {
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      const response = await opened.fetch(url, init);
      response.headers.set("date", new Date(Date.now() + leadMs).toUTCString());
      return response;
    });
    void list.store.load();
    await opened.settle();
    const loadedAt = Date.now();
    void list.store.load();
    await opened.settle();
    return loadedAt - Number(new URL(opened.requests.at(-1) ?? "").searchParams.get("from"));
  };
  expect(await loadAhead(-7_200_000)).toBe(7_200_000 + 900_000);
  expect(await loadAhead(0)).toBe(900_000);
});

test("An empty list shows what it missed at once, although the user points at it", async () => {
  const { opened, list, rows } = await openRows(0);
  list.hold(true);
  opened.missed(1);
  await opened.settle();
  expect(rows()).toEqual(["d-1 queued 0"]);
});

test("Rows that wait are inserted without a request if the server has no older deliveries", async () => {
  const { opened, list, rows } = await openRows(2);
  list.hold(true);
  opened.stored.rows.length = 0;
  opened.missed(1);
  await opened.settle();
  const before = opened.requests.length;
  list.insert();
  await opened.settle();
  expect([rows()[0], opened.requests.length]).toEqual(["d-3 queued 0", before]);
});

test("A list shows no row before its first page, which is read while the stream is open", async () => {
  const { opened } = await openRows(3);
  const { store } = new OpenList(opened, {});
  await vi.advanceTimersByTimeAsync(0);
  opened.arrive();
  await opened.delayOldest();
  expect(store.list.value.rows).toEqual([]);
  await opened.settle();
  expect(store.list.value.rows.map(textOf)).toEqual(opened.stored.rows.map(textOf));
});
