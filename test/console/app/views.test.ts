import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addLines, filterLines, readLogFilter } from "../../../src/console/app/dev/logs-view.tsx";
import {
  countBars,
  describeBars,
  describeFilter,
  findSharedMessage,
  sumBars,
  toHeights,
} from "../../../src/console/app/endpoints/endpoints-model.ts";
import { describeDetails, describeRetention } from "../../../src/console/app/inbox/inbox-view.tsx";
import type { InboxEndpoint } from "../../../src/console/protocol/inbox.ts";
import type { LogLine } from "../../../src/console/protocol/session.ts";

describe("The view of the endpoints", () => {
  const bars = [
    { deliveries: 4, failures: 1, attempts: 6, failedAttempts: 3 },
    { deliveries: 0, failures: 2, attempts: 0, failedAttempts: 0 },
  ];

  test("counts deliveries and attempts apart", () => {
    expect(sumBars(countBars(bars, "deliveries"))).toEqual({ total: 4, failed: 3 });
    expect(sumBars(countBars(bars, "attempts"))).toEqual({ total: 6, failed: 3 });
    expect(describeBars({ total: 1, failed: 0 }, "deliveries")).toBe("1 delivery, 0 failed");
  });

  test("scales to the highest bar, even if only failures of earlier deliveries are in one", () => {
    expect(toHeights(countBars(bars, "deliveries"))).toEqual([
      { good: 0.75, bad: 0.25 },
      { good: 0, bad: 0.5 },
    ]);
    expect(toHeights([{ total: 0, failed: 0 }])).toEqual([{ good: 0, bad: 0 }]);
  });

  test.each([
    [{}, ["All events"]],
    [{ scopes: ["repo"], repos: ["dataset:acme/*"], watch: ["acme"] }, ["repo of dataset:acme/* watching acme"]],
    [
      { actions: ["create", "update"], refs: ["refs/pr/*"], paths: ["data/**", "README.md"], ignoreSelf: true },
      [
        "All events",
        "action create or update",
        "ref refs/pr/*",
        "a changed file matches data/** or README.md",
        "not caused by this server",
      ],
    ],
  ])("describes the filter %j", (filter, lines) => {
    const none = { scopes: [], actions: [], repos: [], refs: [], paths: [], ignoreSelf: false, watch: [] };
    expect(describeFilter({ ...none, ...filter })).toEqual(lines);
  });

  test("shows the message of unknown registrations once if all endpoints have it", () => {
    const unknown = { registration: { state: "unknown", message: "No token." } } as const;
    expect([[unknown, unknown], [unknown], []].map(findSharedMessage)).toEqual(["No token.", undefined, undefined]);
    for (const other of [
      { registration: { state: "unknown", message: "The Hub does not respond." } },
      { registration: { state: "missing", message: "No token." } },
      {},
    ] as const) {
      expect([[unknown, other] as const, [other, unknown] as const].map(findSharedMessage)).toEqual([
        undefined,
        undefined,
      ]);
    }
  });
});

describe("The view of the inbox", () => {
  const day = 24 * 3_600_000;
  const endpoint: InboxEndpoint = {
    ...{ name: "retrain", isServed: true, isPaused: false },
    counts: { queued: 0, running: 0, dead: 0, succeeded: 0, ignored: 0, cancelled: 0 },
  };

  test("names the option that turns details off", () => {
    expect([true, false].map((records) => describeDetails(records).includes("recordDetails"))).toEqual([false, true]);
  });

  test("describes how long deliveries and IDs are kept, unless another server decides it", () => {
    const described = describeRetention({ ...endpoint, retentionMs: 3 * day, idRetentionMs: 7 * day });
    expect(described).toEqual({ text: "3 d", title: expect.stringMatching(/3 d .* 7 d/) });
    expect(describeRetention(endpoint)).toBeUndefined();
  });
});

const lines = Array.from(
  { length: 2_400 },
  (_, index): LogLine => ({ ...{ sequence: index + 1, at: index, level: "info", message: "" } }),
);

test("The page keeps the newest 2,000 of the lines that arrived, whatever the order of their parts", () => {
  expect(addLines(lines.slice(9, 10), lines.slice(0, 9)).map(({ sequence }) => sequence)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
  ]);
  expect(addLines([], lines.slice(0, 2_001))).toEqual(lines.slice(1, 2_001));
  // A part is a live message or an answer, which contains at most 2,000 lines.
  const part = fc.tuple(fc.nat(2_400), fc.oneof(fc.nat(5), fc.nat(2_000)));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const arrived = parts.map(([first, count]) => lines.slice(first, first + count));
      const sequences = [...new Set(arrived.flat().map(({ sequence }) => sequence))].sort((a, b) => a - b);
      const known = arrived.reduce<readonly LogLine[]>(addLines, []);
      expect(known.map(({ sequence }) => sequence)).toEqual(sequences.slice(-2_000));
    }),
    { numRuns: 30 },
  );
});

test("The log shows the lines that match the level, the delivery, and the text", () => {
  const line = (sequence: number, changes: Partial<LogLine>): LogLine => ({
    ...{ sequence, at: 0, level: "info", message: "started", ...changes },
  });
  const all = [
    line(1, { level: "debug", message: "Loaded the model" }),
    line(2, { level: "output", fields: '{"model":7}' }),
    line(3, { level: "warn", endpoint: "model-card", deliveryId: "d-1" }),
    line(4, { level: "error", deliveryId: "d-2" }),
  ];
  for (const [query, expected] of [
    [{}, [1, 2, 3, 4]],
    [{ level: "unknown" }, [1, 2, 3, 4]],
    [{ level: "info" }, [2, 3, 4]],
    [{ level: "error" }, [4]],
    [{ deliveryId: "d-1" }, [3]],
    [{ search: " MODEL " }, [1, 2, 3]],
    [{ search: "model", level: "warn" }, [3]],
  ] as const) {
    expect([query, filterLines(all, readLogFilter(query)).map(({ sequence }) => sequence)]).toEqual([query, expected]);
  }
});
