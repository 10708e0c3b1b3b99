import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ReloadTimer } from "../../../../src/console/app/resource.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function createTimer() {
  const reload = vi.fn<() => void>();
  return { timer: new ReloadTimer(reload), reload };
}

test("Changes that arrive together cause one reload", () => {
  const { timer, reload } = createTimer();
  timer.changed();
  timer.changed();
  vi.advanceTimersByTime(299);
  expect(reload).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10_000);
  expect(reload).toHaveBeenCalledOnce();
});

test("Changes that arrive all the time do not delay reloads", () => {
  const { timer, reload } = createTimer();
  timer.refreshAfter(10_000);
  for (let time = 0; time < 3_000; time += 200) {
    timer.changed();
    vi.advanceTimersByTime(200);
  }
  expect(reload.mock.calls.length).toBeGreaterThan(6);
});

test("Without changes, a reload follows after the interval", () => {
  const { timer, reload } = createTimer();
  timer.refreshAfter(10_000);
  vi.advanceTimersByTime(9_999);
  expect(reload).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(reload).toHaveBeenCalledOnce();
});

test("An interval does not delay the reload after a change", () => {
  const { timer, reload } = createTimer();
  timer.changed();
  timer.refreshAfter(10_000);
  vi.advanceTimersByTime(300);
  expect(reload).toHaveBeenCalledOnce();
});

test("No reload follows after a stop, until the next change", () => {
  const { timer, reload } = createTimer();
  timer.changed();
  timer.stop();
  vi.advanceTimersByTime(10_000);
  expect(reload).not.toHaveBeenCalled();
  timer.changed();
  vi.advanceTimersByTime(300);
  expect(reload).toHaveBeenCalledOnce();
});
