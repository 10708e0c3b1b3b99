import { expectTypeOf, test } from "vitest";
import type { Duration } from "../../src/index.ts";
import type { invalidDurations, validDurations } from "../core/durations.ts";

test("The type Duration accepts what the parser accepts", () => {
  expectTypeOf<(typeof validDurations)[number][0]>().toExtend<Duration>();
  expectTypeOf<number>().toExtend<Duration>();
});

test("The type Duration rejects what the parser rejects", () => {
  expectTypeOf<Extract<(typeof invalidDurations)[number][1], Duration>>().toBeNever();
  expectTypeOf<string>().not.toExtend<Duration>();
});
