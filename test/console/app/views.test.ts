import fc from "fast-check";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { addLines, filterLines, readLogFilter } from "../../../src/console/app/dev/logs-view.tsx";
import {
  countBars,
  describeBars,
  describeFilter,
  findSharedMessage,
  sumBars,
  toHeights,
} from "../../../src/console/app/endpoints/endpoints-model.ts";
import {
  formatCompact,
  formatCount,
  formatDuration,
  formatMoment,
  formatPlural,
} from "../../../src/console/app/format.ts";
import { formatBytes } from "../../../src/console/app/hub/repository-content.tsx";
import { describeDetails, describeRetention } from "../../../src/console/app/inbox/inbox-view.tsx";
import {
  closeToast,
  formatQuery,
  formatRoute,
  parseQuery,
  parseRoute,
  showFailure,
  showToast,
  toasts,
} from "../../../src/console/app/state.ts";
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

test.each([
  [0, "0 ms", "0 s"],
  [0.34, "0.3 ms", "0 s"],
  [842, "842 ms", "1 s"],
  [999.7, "1 s", "1 s"],
  [2_340, "2.3 s", "2 s"],
  [12_400, "12 s", "12 s"],
  [59_700, "1 min", "1 min"],
  [192_000, "3 min 12 s", "3 min 12 s"],
  [7_260_000, "2 h 1 min", "2 h 1 min"],
  [604_800_000, "7 d", "7 d"],
  [90_000_000, "1 d 1 h", "1 d 1 h"],
])("%d ms are %s, and %s in whole seconds", (ms, text, seconds) => {
  expect([formatDuration(ms), formatDuration(ms, { unit: "s" })]).toEqual([text, seconds]);
});

test.each([
  [new Date(2026, 10, 23, 4, 5, 6), "04:05:06"],
  [new Date(2026, 10, 22, 23, 59, 59), "Nov 22 23:59:59"],
  [new Date(2025, 0, 2, 0, 0, 0), "Jan 2, 2025 00:00:00"],
])("A moment is as short as possible: %s", (date, text) => {
  expect(formatMoment(date, new Date(2026, 10, 23, 15, 0))).toBe(text);
});

test("Counts are grouped, shortened from 10,000, and singular for one only", () => {
  expect(formatCount(1_234_567)).toBe("1,234,567");
  expect([9_999, 12_345, 1_000_000].map(formatCompact)).toEqual(["9,999", "12.3K", "1M"]);
  const plurals = [0, 1, 2].map((count) => formatPlural(count, "delivery", "deliveries"));
  expect(plurals).toEqual(["0 deliveries", "1 delivery", "2 deliveries"]);
});

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1_000, "1 kB"],
  [12_345, "12.3 kB"],
  [1_000_000, "1 MB"],
  [5_250_000_000_000_000, "5,250 TB"],
])("A file of %d bytes has the size %s", (size, text) => {
  expect(formatBytes(size)).toBe(text);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  toasts.value = [];
});

test.each([
  ["#/deliveries/one?endpoint=retrain&id=a%20b", "deliveries/one", { endpoint: "retrain", id: "a b" }],
  ["#/endpoints/?a=", "endpoints", {}],
  ...["", "#", "#/", "#///"].map((hash) => [hash, "", {}] as const),
] as const)("The hash %j is the route %j with the query %j", (hash, path, query) => {
  expect(parseRoute(hash)).toEqual({ path, query });
});

test.each([
  [{ status: "", endpoint: undefined }, "#/deliveries"],
  [
    { status: "dead,failed", repository: "dataset:acme/data" },
    "#/deliveries?status=dead,failed&repository=dataset:acme/data",
  ],
])("The query %j is legible in a hash, without empty values", (query, hash) => {
  expect(formatRoute("deliveries", query)).toBe(hash);
});

test("A route contains what was written, also a query in its query", () => {
  const query = { id: "a&b=c#d?e%f g+h", list: formatQuery({ status: "dead", search: "x&y=1" }) };
  const { path, query: read } = parseRoute(formatRoute("deliveries/one", query));
  expect({ path, query: read }).toEqual({ path: "deliveries/one", query });
  expect(parseQuery(read.list ?? "")).toEqual({ status: "dead", search: "x&y=1" });
});

describe("Toasts", () => {
  const texts = () => toasts.value.map(({ text }) => text);

  test("disappear after 8 s, but failures stay until they are closed", () => {
    vi.useFakeTimers();
    showFailure(new Error("The inbox is unavailable."));
    showToast({ kind: "done", text: "Replayed." });
    const [failure] = toasts.value;
    vi.advanceTimersByTime(7_999);
    expect(texts()).toEqual([failure?.text, "Replayed."]);
    vi.advanceTimersByTime(1);
    expect(texts()).toEqual([failure?.text]);
    vi.advanceTimersByTime(3_600_000);
    expect(texts()).toEqual([failure?.text]);
    closeToast(failure?.id ?? 0);
    expect(texts()).toEqual([]);
  });

  test("are at most four, the newest", () => {
    for (const text of ["1", "2", "3", "4", "5"]) showToast({ kind: "failed", text });
    expect(texts()).toEqual(["2", "3", "4", "5"]);
  });
});

test("The first summary is announced at once, and the last of later ones after 5 s, again and again", async () => {
  vi.useFakeTimers();
  vi.spyOn(performance, "now").mockImplementation(Date.now);
  // The module keeps what other tests in this process have announced.
  vi.resetModules();
  const { announce, announcement } = await import("../../../src/console/app/state.ts");
  const announced: string[] = [];
  onTestFinished(announcement.subscribe((text) => void announced.push(text)));
  announced.length = 0;
  announce("1");
  for (const round of [1, 2, 3]) {
    announce(`${round} early`);
    vi.advanceTimersByTime(4_999);
    let text = "too early";
    announce(() => text);
    text = `${round} late`;
    vi.advanceTimersByTime(1);
  }
  expect(announced).toEqual(["1", "1 late", "2 late", "3 late"]);
  vi.advanceTimersByTime(5_000);
  announce("4");
  expect(announced.at(-1)).toBe("4");
});
