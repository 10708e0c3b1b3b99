import { expect, test } from "vitest";
import { DamageTracker } from "../../../src/inbox/sqlite/context.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const damage = Object.assign(new Error("database disk image is malformed"), { errcode: 11 });

test("Damage is logged once for each endpoint, and again every ten minutes", () => {
  const log = createMemoryLogger();
  let now = 0;
  const tracker = new DamageTracker({ file: "inbox.db", log, monotonicNow: () => now });
  const logged = () => log.lines.map(({ code, endpoint }) => [code, endpoint]);
  for (const endpoint of ["retrain", "retrain", "greet"]) expect(tracker.recordIfDamage(damage, endpoint)).toBe(true);
  now = 599_999;
  tracker.recordIfDamage(damage, "retrain");
  const both = [
    ["INBOX_DAMAGED", "retrain"],
    ["INBOX_DAMAGED", "greet"],
  ];
  expect(logged()).toEqual(both);
  now = 600_000;
  tracker.recordIfDamage(damage, "retrain");
  expect(logged()).toEqual([...both, ["INBOX_DAMAGED", "retrain"]]);
});
