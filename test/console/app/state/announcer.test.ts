import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(performance, "now").mockImplementation(Date.now);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("The first summary is announced at once, and the last of later ones after 5 s, again and again", async () => {
  // The module keeps what other tests in this process have announced.
  vi.resetModules();
  const { announce, announcement } = await import("../../../../src/console/app/state.ts");
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
