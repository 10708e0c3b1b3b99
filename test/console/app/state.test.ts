import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
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
