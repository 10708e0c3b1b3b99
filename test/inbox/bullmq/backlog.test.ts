import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { Backlog } from "../../../src/inbox/bullmq/stored-queue.ts";

test("A backlog with room is counted at most once a second", async () => {
  let now = 1_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const count = vi.fn(async () => 3);
  const backlog = new Backlog(count);
  for (const _ of [1, 2, 3]) expect(await backlog.isFull(10)).toBe(false);
  now += 999;
  await backlog.isFull(10);
  expect(count).toHaveBeenCalledTimes(1);
  now += 1;
  await backlog.isFull(10);
  expect(count).toHaveBeenCalledTimes(2);
});

test("A full backlog is not counted again for four times as long as counting took", async () => {
  const times: number[] = [];
  const backlog = new Backlog(async () => {
    times.push(performance.now());
    await setTimeout(20);
    times.push(performance.now());
    return 10;
  });
  for (const _ of [1, 2]) expect(await backlog.isFull(10)).toBe(true);
  const [startedAt = 0, endedAt = 0, startedAgainAt = 0] = times;
  expect(startedAgainAt - endedAt).toBeGreaterThanOrEqual(4 * (endedAt - startedAt) - 2);
});

test("A delivery that is added during a count counts as queued", async () => {
  const counted = Promise.withResolvers<number>();
  const backlog = new Backlog(() => counted.promise);
  const isFull = backlog.isFull(10);
  backlog.added();
  counted.resolve(9);
  expect(await isFull).toBe(true);
});
