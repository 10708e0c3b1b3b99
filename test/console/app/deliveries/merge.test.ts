import { describe, expect, test } from "vitest";
import {
  appendPage,
  insertWaiting,
  type ListRows,
  maxRows,
  mergeDeliveries,
} from "../../../../src/console/app/deliveries/merge.ts";
import type { DeliverySummary } from "../../../../src/console/protocol/deliveries.ts";

function delivery(id: number, changes: Partial<DeliverySummary> = {}): DeliverySummary {
  return { endpoint: "e", id: `${id}`, storage: "inbox", status: "queued", receivedAt: id, attempts: 0, ...changes };
}

const start: ListRows = { rows: [delivery(3), delivery(2)], waiting: [], isTrimmed: false };
const options = { accepts: () => true, isHeld: false, isComplete: true };
const ids = (rows: readonly DeliverySummary[]) => rows.map(({ id }) => id);

describe("mergeDeliveries", () => {
  test("inserts new deliveries, newest first", () => {
    const { rows, waiting } = mergeDeliveries(start, [delivery(4), delivery(5), delivery(1)], options);
    expect(ids(rows)).toEqual(["5", "4", "3", "2", "1"]);
    expect(waiting).toEqual([]);
  });

  test("holds new deliveries back, and still changes known ones in place", () => {
    const held = { ...options, isHeld: true };
    const first = mergeDeliveries(start, [delivery(4), delivery(2, { status: "dead" })], held);
    expect(first.rows.map(({ status }) => status)).toEqual(["queued", "dead"]);
    const second = mergeDeliveries(first, [delivery(4, { status: "running" }), delivery(5)], held);
    expect(second.waiting.map(({ id, status }) => [id, status])).toEqual([
      ["5", "queued"],
      ["4", "running"],
    ]);
    expect(ids(insertWaiting(second).rows)).toEqual(["5", "4", "3", "2"]);
  });

  test("keeps the identity of rows that have not changed", () => {
    const { rows } = mergeDeliveries(start, [delivery(4), delivery(2, { attempts: 1 })], options);
    expect(rows[1]).toBe(start.rows[0]);
  });

  test("keeps a row that does not match the filter any longer", () => {
    const { rows } = mergeDeliveries(start, [delivery(2, { status: "succeeded" }), delivery(4)], {
      ...options,
      accepts: ({ status }) => status === "running",
    });
    expect(ids(rows)).toEqual(["3", "2"]);
  });

  test("leaves a delivery of a later page out", () => {
    expect(ids(mergeDeliveries(start, [delivery(1)], { ...options, isComplete: false }).rows)).toEqual(["3", "2"]);
  });

  test("drops the oldest rows when there are too many", () => {
    const incoming = Array.from({ length: maxRows }, (_, index) => delivery(index + 10));
    const { rows, isTrimmed } = mergeDeliveries(start, incoming, options);
    expect([rows.length, rows.at(-1)?.id, isTrimmed]).toEqual([maxRows, "10", true]);
  });

  test("distinguishes endpoints that received the same ID", () => {
    expect(mergeDeliveries(start, [delivery(3, { endpoint: "other" })], options).rows).toHaveLength(3);
  });
});

test("a page is appended without what is in the list already", () => {
  const { rows } = appendPage(start, [delivery(2), delivery(1)]);
  expect(ids(rows)).toEqual(["3", "2", "1"]);
});
