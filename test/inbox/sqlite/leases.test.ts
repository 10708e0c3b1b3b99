import { describe, expect, test, vi } from "vitest";
import type { TotalsTable } from "../../../src/inbox/sqlite/delivery-reader.ts";
import { Leases } from "../../../src/inbox/sqlite/leases.ts";
import type { Statements } from "../../../src/inbox/sqlite/statements.ts";

/** Creates a table whose query for all running deliveries fails. */
function tableThatFails(error: Error): Leases {
  const statements = {
    running: () => ({
      all: () => {
        throw error;
      },
    }),
    runningSequences: () => ({ all: () => [{ sequence: 1 }] }),
    row: () => ({ get: () => ({ sequence: 1, id: "a", process_id: "other" }) }),
  };
  return new Leases(statements as unknown as Statements, {} as TotalsTable);
}

describe("Running deliveries that cannot be read with one query", () => {
  test("are read one by one because of a damaged page, which is reported", () => {
    const damage = Object.assign(new Error("malformed"), { errcode: 11 });
    const onDamage = vi.fn();
    const { rows } = tableThatFails(damage).running("retrain", onDamage);
    expect(rows).toEqual([{ sequence: 1, id: "a", processId: "other" }]);
    expect(onDamage.mock.calls).toEqual([[damage]]);
  });

  test("fail for any other reason", () => {
    const error = new Error("disk I/O error");
    expect(() => tableThatFails(error).running("retrain", () => {})).toThrow(error);
  });
});
