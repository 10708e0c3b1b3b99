import { describe, expect, test } from "vitest";
import {
  deliveryHash,
  describeTime,
  listChips,
  listHash,
  readFilter,
  readListRoute,
  toApiFilter,
  toPredicate,
} from "../../../../src/console/app/deliveries/filter.ts";
import { parseRoute } from "../../../../src/console/app/state.ts";
import type { DeliverySummary } from "../../../../src/console/protocol/deliveries.ts";

const now = new Date(2026, 10, 23, 15, 0, 0);

const delivery: DeliverySummary = {
  endpoint: "retrain",
  id: "d1",
  storage: "inbox",
  status: "dead",
  event: { scope: "repo.content", action: "update" },
  repository: { type: "dataset", name: "acme/birds" },
  receivedAt: now.getTime() - 60_000,
  attempts: 5,
  error: { code: "HANDLER_FAILED", message: "connect ECONNREFUSED" },
};

describe("readFilter", () => {
  test("leaves out unknown statuses, windows, and times", () => {
    expect(readFilter({ status: "dead,wrong,failed", last: "2y", from: "x", until: "5", other: "1" })).toEqual({
      status: "dead,failed",
      until: 5,
    });
  });

  test("reads what listHash writes", () => {
    const filter = { status: "dead", repository: "dataset:acme/birds", search: "a b", last: "1h", until: 7 };
    expect(readListRoute(parseRoute(listHash(filter)))).toEqual({ filter, open: undefined });
  });

  test("survives opening a delivery, whose endpoint is another one", () => {
    const filter = { endpoint: "other", search: "a&b" };
    expect(readListRoute(parseRoute(deliveryHash(delivery, filter)))).toEqual({
      filter,
      open: { endpoint: "retrain", id: "d1" },
    });
  });
});

test("a moving window becomes a moment", () => {
  expect(toApiFilter({ last: "15m", scope: "repo" }, 1_000_000)).toEqual({ scope: "repo", from: 100_000 });
});

describe("toPredicate", () => {
  test.each([
    { status: "dead,failed" },
    { repository: "acme/birds" },
    { repository: "dataset:acme/birds" },
    { search: "birds ECONN" },
    { last: "15m" },
    { from: delivery.receivedAt, until: delivery.receivedAt + 1 },
    { endpoint: "retrain", scope: "repo.content", action: "update" },
  ])("accepts a delivery that matches %j", (filter) => {
    expect(toPredicate(filter, now.getTime())(delivery)).toBe(true);
  });

  test("counts a delivery that waits for a retry as queued, like the totals", () => {
    const accepts = toPredicate({ status: "queued" }, now.getTime());
    expect((["queued", "retrying", "running"] as const).map((status) => accepts({ ...delivery, status }))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test.each([
    { status: "failed" },
    { repository: "model:acme/birds" },
    { search: "birds missing" },
    { until: delivery.receivedAt },
    { from: delivery.receivedAt + 1 },
    { endpoint: "retrain", action: "create" },
  ])("rejects a delivery that does not match %j", (filter) => {
    expect(toPredicate(filter, now.getTime())(delivery)).toBe(false);
  });
});

describe("listChips", () => {
  test("has a chip per filter", () => {
    expect(listChips({ status: "dead,failed", endpoint: "retrain", last: "1h" }, now)).toEqual([
      { names: ["status"], text: "Status: Dead, Failed" },
      { names: ["endpoint"], text: "Endpoint: retrain" },
      { names: ["last", "from", "until"], text: "Last hour" },
    ]);
  });

  test("describes custom times", () => {
    const at = new Date(2026, 10, 23, 14, 0, 0).getTime();
    expect(describeTime({ from: at }, now)).toBe("Since 14:00:00");
    expect(describeTime({ until: at }, now)).toBe("Before 14:00:00");
    expect(describeTime({ from: at, until: at + 1_000 }, now)).toBe("14:00:00 – 14:00:01");
    expect(describeTime({ last: "1h", until: at }, now)).toBe("Last hour, before 14:00:00");
  });
});
