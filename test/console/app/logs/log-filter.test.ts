import fc from "fast-check";
import { expect, test } from "vitest";
import { addLines, filterLines, readLogFilter } from "../../../../src/console/app/dev/logs-view.tsx";
import type { LogLine } from "../../../../src/console/protocol/session.ts";

const lines = Array.from(
  { length: 2_400 },
  (_, index): LogLine => ({ ...{ sequence: index + 1, at: index, level: "info", message: "" } }),
);

test("The page keeps the newest 2,000 of the lines that arrived, whatever the order of their parts", () => {
  // A part is a live message or an answer, which contains at most 2,000 lines.
  const part = fc.tuple(fc.nat(2_400), fc.oneof(fc.nat(5), fc.nat(2_000)));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const arrived = parts.map(([first, count]) => lines.slice(first, first + count));
      const sequences = [...new Set(arrived.flat().map(({ sequence }) => sequence))].sort((a, b) => a - b);
      const known = arrived.reduce<readonly LogLine[]>(addLines, []);
      expect(known.map(({ sequence }) => sequence)).toEqual(sequences.slice(-2_000));
    }),
    {
      numRuns: 30,
      examples: [
        [[[0, 2_001]]],
        [
          [
            [9, 1],
            [0, 9],
          ],
        ],
      ],
    },
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
