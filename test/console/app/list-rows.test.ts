import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  appendPage,
  insertWaiting,
  type ListRows,
  mergeDeliveries,
} from "../../../src/console/app/deliveries/list-store.ts";
import type { DeliverySummary } from "../../../src/console/protocol/deliveries.ts";

function delivery(id: number, changes: Partial<DeliverySummary> = {}): DeliverySummary {
  return { endpoint: "e", id: `${id}`, storage: "inbox", status: "queued", receivedAt: id, attempts: 0, ...changes };
}

const start = { rows: [delivery(3), delivery(2)], waiting: [], isTrimmed: false };
const options = { accepts: () => true, keeps: () => true, isHeld: false, isComplete: true };

// `list-store.test.ts` tests which rows the list contains.

test("Rows that have not changed keep their identity, so that they are not rendered again", () => {
  const { rows } = mergeDeliveries(start, [delivery(4), delivery(2, { attempts: 1 })], options);
  expect(rows[1]).toBe(start.rows[0]);
});

test.each([false, true])("A row that does not match the filter any longer leaves the list. Held: %s", (isHeld) => {
  const keeps = ({ status }: DeliverySummary) => status === "queued";
  const before = { ...start, waiting: [delivery(5), delivery(4)] };
  const changed = [3, 4].map((id) => delivery(id, { status: "succeeded" }));
  const { rows, waiting, removed } = mergeDeliveries(before, changed, { ...options, keeps, isHeld });
  expect([...waiting, ...rows].map(({ id }) => id)).toEqual(["5", "2"]);
  expect(removed).toBe(2);
});

test("A row that left the list and matches again is added, although it is older than the last row", () => {
  const keeps = ({ status }: DeliverySummary) => status === "queued";
  const given = { ...options, keeps, isComplete: false };
  const left = mergeDeliveries(start, [delivery(2, { status: "running" })], given);
  expect(mergeDeliveries(left, [delivery(2), delivery(1)], given).rows).toEqual([delivery(3), delivery(2)]);
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
        const added = Array.from({ length: count }, () => delivery(kind === "page" ? --first : ++last));
        if (kind === "stream") list = mergeDeliveries(list, added, { ...options, isHeld: true, max });
        else list = kind === "page" ? appendPage(list, added, max) : insertWaiting(list, max);
        expect(list.isTrimmed).toBe(list.rows.length + list.waiting.length < last - first + 1);
      }
    }),
  );
});

test("An old row does not wait for a list that was trimmed", () => {
  const held = mergeDeliveries({ ...start, isTrimmed: true }, [delivery(1), delivery(4)], { ...options, isHeld: true });
  expect(held.waiting).toEqual([delivery(4)]);
});

test("Deliveries of two endpoints with the same ID are two rows", () => {
  expect(mergeDeliveries(start, [delivery(3, { endpoint: "other" })], options).rows).toHaveLength(3);
});

test.each([true, false])(
  "A delivery that was reported twice, or is on a page too, is one row with its last state. Held: %s",
  (isHeld) => {
    const [first, last] = [delivery(4), delivery(4, { attempts: 1 })];
    const merged = mergeDeliveries(start, [first, delivery(5), last], { ...options, isHeld });
    const paged = appendPage(merged, [first, delivery(1)]);
    const ids = [...paged.waiting, ...paged.rows].map(({ id }) => id);
    expect(ids).toEqual(["5", "4", "3", "2", "1"]);
    expect([...paged.waiting, ...paged.rows][1]).toBe(last);
  },
);

test("A delivery that was received in the same millisecond as the last row is in the list", () => {
  const same = delivery(1, { receivedAt: 2 });
  expect(mergeDeliveries(start, [same], { ...options, isComplete: false }).rows).toContain(same);
});
