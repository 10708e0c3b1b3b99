import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeReplay, suggestTrigger } from "../../../src/console/app/deliveries/deliveries-view.tsx";
import { selectWindow } from "../../../src/console/app/deliveries/delivery-table.tsx";
import {
  deliveryHash,
  describeTime,
  listChips,
  listHash,
  readFilter,
  readListRoute,
  toApiFilter,
  toPredicate,
} from "../../../src/console/app/deliveries/filter.ts";
import {
  appendPage,
  insertWaiting,
  type ListRows,
  mergeDeliveries,
} from "../../../src/console/app/deliveries/list-store.ts";
import { parseRoute } from "../../../src/console/app/state.ts";
import type { DeliverySummary } from "../../../src/console/protocol/deliveries.ts";

const now = new Date(2026, 10, 23, 15, 0, 0);

const delivery: DeliverySummary = {
  ...{ endpoint: "retrain", id: "d1", storage: "inbox", status: "dead", attempts: 5 },
  event: { scope: "repo.content", action: "update" },
  repository: { type: "dataset", name: "acme/birds" },
  receivedAt: now.getTime() - 60_000,
  error: { code: "HANDLER_FAILED", message: "connect ECONNREFUSED" },
};

describe("The filter in the URL", () => {
  test("leaves out unknown statuses, windows, and times", () => {
    const query = { status: "dead,wrong,failed", last: "2y", from: "x", until: "5", other: "1" };
    expect(readFilter(query)).toEqual({ status: "dead,failed", until: 5 });
    expect(readFilter({ from: "-9e15", until: "1e300" })).toEqual({});
  });

  test("is read as it was written, also while a delivery is open, whose endpoint is another one", () => {
    const filter = { status: "dead", repository: "dataset:acme/birds", search: "a&b", last: "1h", until: 7 };
    expect(readListRoute(parseRoute(listHash(filter)))).toEqual({ filter, open: undefined });
    const others = { ...filter, endpoint: "other" };
    const open = { endpoint: "retrain", id: "d1" };
    expect(readListRoute(parseRoute(deliveryHash(delivery, others)))).toEqual({ filter: others, open });
  });

  test("has a moving window, which becomes a moment", () => {
    expect(toApiFilter({ last: "15m", scope: "repo" }, 1_000_000)).toEqual({ scope: "repo", from: 100_000 });
  });

  test("has a chip per filter", () => {
    expect(listChips({ status: "dead,failed", endpoint: "retrain", last: "1h" }, now)).toEqual([
      { names: ["status"], text: "Status: Dead, Failed" },
      { names: ["endpoint"], text: "Endpoint: retrain" },
      { names: ["last", "from", "until"], text: "Last hour" },
    ]);
  });

  const at = new Date(2026, 10, 23, 14, 0, 0).getTime();
  test.each([
    [{ from: at }, "Since 14:00:00"],
    [{ until: at }, "Before 14:00:00"],
    [{ from: at, until: at + 1_000 }, "14:00:00 – 14:00:01"],
    [{ last: "1h", until: at }, "Last hour, before 14:00:00"],
  ])("describes the time %j", (filter, text) => {
    expect(describeTime(filter, now)).toBe(text);
  });
});

test.each([
  [true, { status: "dead,failed" }],
  [true, { repository: "acme/birds" }],
  [true, { repository: "Birds" }],
  [true, { repository: "dataset:acme/birds" }],
  [false, { repository: "dataset:acme/bird" }],
  [false, { repository: "cats" }],
  [true, { search: "birds ECONN" }],
  [true, { last: "15m" }],
  [true, { from: delivery.receivedAt, until: delivery.receivedAt + 1 }],
  [true, { endpoint: "retrain", scope: "repo.content", action: "update" }],
  [false, { status: "failed" }],
  [false, { repository: "model:acme/birds" }],
  [false, { search: "birds missing" }],
  [false, { until: delivery.receivedAt }],
  [false, { from: delivery.receivedAt + 1 }],
  [false, { endpoint: "retrain", action: "create" }],
])("It is %s that a live delivery matches %j", (isMatch, filter) => {
  expect(toPredicate(filter, now.getTime())(delivery)).toBe(isMatch);
});

test("A delivery that waits for a retry counts as queued, like in the totals", () => {
  const accepts = toPredicate({ status: "queued" }, now.getTime());
  const statuses = ["queued", "retrying", "running"] as const;
  expect(statuses.map((status) => accepts({ ...delivery, status }))).toEqual([true, true, false]);
});

const nothing = { replayed: 0, failed: 0, failures: [], isMore: false };
const gone = { code: "DELIVERY_UNKNOWN", error: "It is gone.", count: 2 };
const down = { code: "INBOX_UNAVAILABLE", error: "The inbox is down.", count: 1 };

test.each([
  [
    { ...nothing, replayed: 3 },
    {
      kind: "done",
      text: "3 deliveries are queued again.",
      link: { hash: "#/deliveries?endpoint=retrain&status=queued,running", label: "Show queued" },
    },
  ],
  [
    { ...nothing, failed: 2, failures: [gone] },
    { kind: "failed", text: "2 deliveries could not be replayed. It is gone." },
  ],
  [
    { replayed: 1, failed: 3, failures: [gone, down], isMore: true },
    {
      kind: "failed",
      text: "1 delivery is queued again. 3 deliveries could not be replayed. 2 deliveries: It is gone. 1 delivery: The inbox is down. More are dead: replay again.",
      link: expect.objectContaining({ label: "Show queued" }),
    },
  ],
])("A replay with the result %j is described", (result, expected) => {
  expect(describeReplay(result, { endpoint: "retrain", status: "dead" })).toEqual(expected);
});

const endpoint = { url: "http://127.0.0.1:7860/webhooks/retrain", repos: ["dataset:acme/*"], watch: [] };

test.each([
  ["receiver", [endpoint], `dataset:me/data --url ${endpoint.url}`],
  ["dev", [{ ...endpoint, watch: ["org:acme", "model:acme/net"] }], "model:acme/net"],
  ["dev", [], "dataset:me/data"],
] as const)("The command for a first event in the place %s names a repository that is watched", (place, given, end) => {
  expect(suggestTrigger(given, place)).toBe(`npx hub-webhooks trigger ${end}`);
});

test("The rows in the document contain all rows in view, wherever the list is scrolled to", () => {
  const view = { height: 640, rowHeight: 32, count: 500 };
  expect(selectWindow({ ...view, scrollTop: 0 })).toEqual({ first: 0, end: 50 });
  for (let scrollTop = 0; scrollTop <= 500 * 32 - 640; scrollTop += 17) {
    const { first, end } = selectWindow({ ...view, scrollTop });
    expect(first * 32).toBeLessThanOrEqual(scrollTop);
    expect(end * 32).toBeGreaterThanOrEqual(scrollTop + 640);
    expect(end - first).toBeLessThanOrEqual(70);
  }
  // The list became shorter.
  expect(selectWindow({ ...view, scrollTop: 9_000, count: 3 })).toEqual({ first: 3, end: 3 });
});

function rowOf(id: number, changes: Partial<DeliverySummary> = {}): DeliverySummary {
  return { endpoint: "e", id: `${id}`, storage: "inbox", status: "queued", receivedAt: id, attempts: 0, ...changes };
}

const start = { rows: [rowOf(3), rowOf(2)], waiting: [], isTrimmed: false };
const options = { accepts: () => true, keeps: () => true, isHeld: false, isComplete: true };

// `list-store.test.ts` tests which rows the list contains.

test("Rows that have not changed keep their identity, so that they are not rendered again", () => {
  const { rows } = mergeDeliveries(start, [rowOf(4), rowOf(2, { attempts: 1 })], options);
  expect(rows[1]).toBe(start.rows[0]);
});

test.each([false, true])("A row that does not match the filter any longer leaves the list. Held: %s", (isHeld) => {
  const keeps = ({ status }: DeliverySummary) => status === "queued";
  const before = { ...start, waiting: [rowOf(5), rowOf(4)] };
  const changed = [3, 4].map((id) => rowOf(id, { status: "succeeded" }));
  const { rows, waiting, removed } = mergeDeliveries(before, changed, { ...options, keeps, isHeld });
  expect([...waiting, ...rows].map(({ id }) => id)).toEqual(["5", "2"]);
  expect(removed).toBe(2);
});

test("A row that left the list and matches again is added, although it is older than the last row", () => {
  const keeps = ({ status }: DeliverySummary) => status === "queued";
  const given = { ...options, keeps, isComplete: false };
  const left = mergeDeliveries(start, [rowOf(2, { status: "running" })], given);
  expect(mergeDeliveries(left, [rowOf(2), rowOf(1)], given).rows).toEqual([rowOf(3), rowOf(2)]);
});

test("A list from which a delivery was dropped keeps its mark, whatever is added later", () => {
  const max = 4;
  const newer = fc.record({ kind: fc.constant("stream" as const), count: fc.integer({ min: 1, max: 6 }) });
  const older = fc.record({ kind: fc.constant("page" as const), count: fc.nat(3) });
  const step = fc.oneof(newer, older, fc.record({ kind: fc.constant("insert" as const), count: fc.constant(0) }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      let list: ListRows = { rows: [], waiting: [], isTrimmed: false };
      let [first, last] = [100, 99];
      for (const { kind, count } of steps) {
        const added = Array.from({ length: count }, () => rowOf(kind === "page" ? --first : ++last));
        if (kind === "stream") list = mergeDeliveries(list, added, { ...options, isHeld: true, max });
        else list = kind === "page" ? appendPage(list, added, max) : insertWaiting(list, max);
        expect(list.isTrimmed).toBe(list.rows.length + list.waiting.length < last - first + 1);
      }
    }),
  );
});

test("An old row does not wait for a list that was trimmed", () => {
  const held = mergeDeliveries({ ...start, isTrimmed: true }, [rowOf(1), rowOf(4)], { ...options, isHeld: true });
  expect(held.waiting).toEqual([rowOf(4)]);
});

test("Deliveries of two endpoints with the same ID are two rows", () => {
  expect(mergeDeliveries(start, [rowOf(3, { endpoint: "other" })], options).rows).toHaveLength(3);
});

test.each([true, false])(
  "A delivery that was reported twice, or is on a page too, is one row with its last state. Held: %s",
  (isHeld) => {
    const [first, last] = [rowOf(4), rowOf(4, { attempts: 1 })];
    const merged = mergeDeliveries(start, [first, rowOf(5), last], { ...options, isHeld });
    const paged = appendPage(merged, [first, rowOf(1)]);
    const ids = [...paged.waiting, ...paged.rows].map(({ id }) => id);
    expect(ids).toEqual(["5", "4", "3", "2", "1"]);
    expect([...paged.waiting, ...paged.rows][1]).toBe(last);
  },
);

test("A delivery that was received in the same millisecond as the last row is in the list", () => {
  const same = rowOf(1, { receivedAt: 2 });
  expect(mergeDeliveries(start, [same], { ...options, isComplete: false }).rows).toContain(same);
});
