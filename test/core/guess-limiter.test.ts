import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GuessLimiter, PasswordGuesses } from "../../src/core/guesses.ts";

const minute = 60_000;

test("A limit of wrong guesses resets after a minute, and when the clock was set back", () => {
  let now = 0;
  const limiter = new GuessLimiter(() => now, { maxGuesses: 2 });
  const guess = () => [limiter.waitSeconds, limiter.countWrong()];
  const limited = () => [guess(), guess(), guess()];
  const expected = [
    [undefined, undefined],
    [undefined, undefined],
    [60, 60],
  ];
  expect(limited()).toEqual(expected);
  now = minute - 1;
  expect(guess()).toEqual([1, 1]);
  now = minute;
  expect(limited()).toEqual(expected);
  now = minute - 1;
  expect(limited()).toEqual(expected);
});

/** Guesses of a password whose turns the test gives. */
function openGuesses() {
  const turns: (() => void)[] = [];
  let now = 0;
  const wait = () => new Promise<void>((resolve) => void turns.push(resolve));
  const guesses = new PasswordGuesses(() => now, { wait });
  /** Gives the next turn, and waits until it is used. */
  const takeTurn = async () => {
    turns.shift()?.();
    for (let step = 0; step < 10; step += 1) await Promise.resolve();
  };
  const reachLimit = async () => {
    for (let count = 0; count < 20; count += 1) expect(await guesses.check(() => false)).toBe("wrong");
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { guesses, takeTurn, reachLimit, pass, waitsFor: () => turns.length };
}

describe("After 20 wrong passwords in a minute", () => {
  test("at most one password is compared in each turn, in the order of arrival, and no comparison precedes its turn", async () => {
    const arrival = fc.record({ isRight: fc.boolean(), turnsBefore: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 60, size: "max" }), async (arrivals) => {
        const { guesses, takeTurn, reachLimit, waitsFor } = openGuesses();
        await reachLimit();
        const [compared, expected]: [number[], number[]] = [[], []];
        const results = new Map<number, string | number>();
        const queue: number[] = [];
        const takeNext = async () => {
          await takeTurn();
          expected.push(...queue.splice(0, 1));
          expect(compared).toEqual(expected);
        };
        const answers = arrivals.map(({ isRight }) => (isRight ? "right" : 60));
        const checks: Promise<void>[] = [];
        for (const [index, { isRight, turnsBefore }] of arrivals.entries()) {
          for (let turn = 0; turn < turnsBefore; turn += 1) await takeNext();
          if (queue.length < 20) queue.push(index);
          else answers[index] = 60;
          const compare = () => {
            compared.push(index);
            return isRight;
          };
          checks.push(guesses.check(compare).then((result) => void results.set(index, result)));
          await Promise.resolve();
          expect([compared, waitsFor()]).toEqual([expected, Math.min(queue.length, 1)]);
        }
        while (queue.length > 0) await takeNext();
        await Promise.all(checks);
        expect(arrivals.map((_arrival, index) => results.get(index))).toEqual(answers);
      }),
      { numRuns: 30 },
    );
  });

  test("a check that may not wait compares nothing", async () => {
    const { guesses, reachLimit } = openGuesses();
    const check = (isRight: boolean) => guesses.check(() => isRight, { mayWait: false });
    expect(await check(true)).toBe("right");
    await reachLimit();
    expect([await check(true), await check(false)]).toEqual([60, 60]);
  });

  test("the right password is compared at once when the minute is over", async () => {
    const { guesses, reachLimit, pass } = openGuesses();
    await reachLimit();
    pass(minute);
    expect(await guesses.check(() => true)).toBe("right");
  });
});
