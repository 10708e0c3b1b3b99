import { describe, expect, test, vi } from "vitest";
import { JsonArrayError, ResponseStalledError, readArrayElements } from "../../../src/hub/transport/response-body.ts";
import { watchTimers } from "../../support/timers.ts";
import { allOf, rejectionOf } from "../scripted-hub.ts";

/** Creates a response that arrives in these pieces and then ends or stalls. */
function answer(pieces: readonly Uint8Array[], { ends = true, cancel = () => {} } = {}): Response {
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      if (ends) controller.close();
    },
    cancel,
  });
  return new Response(stream);
}

const bytes = (text: string) => new TextEncoder().encode(text);
const readOptions = { timeoutMs: 10_000, signal: undefined };

describe("readArrayElements", () => {
  test("reads elements from pieces that end anywhere, even inside a character", async () => {
    const whole = bytes('["größer", {"a": [1, "😀"]}]');
    for (let place = 0; place <= whole.length; place += 1) {
      const pieces = [whole.subarray(0, place), whole.subarray(place)];
      expect(await allOf(readArrayElements(answer(pieces), readOptions))).toEqual(["größer", { a: [1, "😀"] }]);
    }
  });

  test("throws the reason of the signal, even if the response ignores it", async () => {
    const cancel = vi.fn();
    const controller = new AbortController();
    const { signal } = controller;
    const stopped = readArrayElements(answer([bytes("[1,")], { ends: false, cancel }), { timeoutMs: 10_000, signal });
    expect(await stopped.next()).toEqual({ done: false, value: 1 });
    const rejection = rejectionOf(stopped.next());
    controller.abort("enough");
    expect(await rejection).toBe("enough");
    expect(cancel).toHaveBeenCalled();
  });

  test("throws at an element that is not JSON, without quoting it", async () => {
    const rejected = await rejectionOf(allOf(readArrayElements(answer([bytes("[1,planted]")]), readOptions)));
    expect(rejected).toBeInstanceOf(JsonArrayError);
    expect(String(rejected)).not.toContain("planted");
  });

  test("throws after the timeout without new data", async () => {
    const elements = readArrayElements(answer([bytes("[1,")], { ends: false }), { timeoutMs: 5, signal: undefined });
    expect(await elements.next()).toEqual({ done: false, value: 1 });
    expect(await rejectionOf(elements.next())).toBeInstanceOf(ResponseStalledError);
  });

  test("clears its timers", async () => {
    const timers = watchTimers();
    const elements = readArrayElements(answer([bytes("[1,"), bytes("2]")]), { timeoutMs: 12_345, signal: undefined });
    expect(await allOf(elements)).toEqual([1, 2]);
    expect(timers.of(12_345)).toMatchObject([{ cleared: 1 }, { cleared: 1 }, { cleared: 1 }]);
  });

  test("yields nothing without a body", async () => {
    expect(await rejectionOf(allOf(readArrayElements(new Response(null), readOptions)))).toBeInstanceOf(Error);
  });
});
