import { afterEach, expect, test, vi } from "vitest";
import { closeToast, showFailure, showToast, toasts } from "../../../../src/console/app/state.ts";

afterEach(() => {
  vi.useRealTimers();
  toasts.value = [];
});

const texts = () => toasts.value.map(({ text }) => text);

test("A result disappears after 8 s, and a failure stays until it is closed", () => {
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

test("Only the four newest are shown", () => {
  for (const text of ["1", "2", "3", "4", "5"]) showToast({ kind: "failed", text });
  expect(texts()).toEqual(["2", "3", "4", "5"]);
});
