import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  JsonArrayError,
  JsonArraySplitter,
  readArrayElements,
  readEvents,
  readText,
} from "../../../src/hub/transport/response-body.ts";
import { watchTimers } from "../../support/timers.ts";
import { allOf } from "../scripted-hub.ts";

const { signal } = new AbortController();
const options = { timeoutMs: 10_000, signal: undefined };
const bytes = (text: string) => new TextEncoder().encode(text);

/** Creates a response that arrives in these pieces and then ends or stalls. */
function answer(pieces: readonly (string | Uint8Array)[], { ends = true, cancel = () => {} } = {}): Response {
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? bytes(piece) : piece);
      if (ends) controller.close();
    },
    cancel,
  });
  return new Response(stream);
}

/** Returns all ways to divide a text into two pieces, also within a character. */
function halves(text: string): Uint8Array[][] {
  const whole = bytes(text);
  return Array.from({ length: whole.length + 1 }, (_, at) => [whole.subarray(0, at), whole.subarray(at)]);
}

describe("readText", () => {
  test("joins the parts of a body, and removes its listeners from the signal", async () => {
    const text = "reçu ✓".repeat(20);
    const parts = Array.from(bytes(text), (byte) => Uint8Array.of(byte));
    expect(await readText(answer(parts), { limit: parts.length, signal })).toBe(text);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("reads up to the limit, in bytes", async () => {
    expect(await readText(new Response("✓"), { limit: 3, signal })).toBe("✓");
    expect(await readText(new Response("✓"), { limit: 2, signal })).toBeUndefined();
    expect(await readText(new Response(null), { limit: 0, signal })).toBe("");
  });

  test("cancels a body that is too long or aborted", async () => {
    const cancel = vi.fn();
    expect(await readText(answer(["abc"], { ends: false, cancel }), { limit: 2, signal })).toBeUndefined();
    expect(cancel).toHaveBeenCalledOnce();
    const aborted = AbortSignal.abort(new Error("enough"));
    const reading = readText(answer([""], { ends: false, cancel }), { limit: 2, signal: aborted });
    await expect(reading).rejects.toThrow("enough");
    expect(cancel).toHaveBeenCalledTimes(2);
  });
});

describe("A JSON array that arrives in pieces", () => {
  /** Parses a text that arrives in these pieces. */
  function split(pieces: readonly string[]): unknown[] {
    const splitter = new JsonArraySplitter();
    const elements = pieces.flatMap((piece) => splitter.push(piece));
    splitter.end();
    return elements.map((element) => JSON.parse(element));
  }

  /** Splits a text at these positions. */
  function cut(text: string, places: readonly number[]): string[] {
    const sorted = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
    return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
  }

  test("has the same elements for all pieces and indentations", () => {
    const cases = fc.record({
      values: fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }),
      indent: fc.constantFrom(0, 1, "\t", "\n"),
      places: fc.array(fc.nat(), { maxLength: 12, size: "max" }),
    });
    fc.assert(
      fc.property(cases, ({ values, indent, places }) => {
        const text = JSON.stringify(values, null, indent);
        expect(split(cut(text, places))).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("returns each element with the piece that completes it", () => {
    const splitter = new JsonArraySplitter();
    expect(splitter.push('[{"a":"]')).toEqual([]);
    expect(splitter.push('}"}')).toEqual([]);
    expect(splitter.push(", 2")).toEqual(['{"a":"]}"}']);
    expect(splitter.push(',[3,"\\"],"]')).toEqual([" 2"]);
    expect(splitter.push("]\n")).toEqual(['[3,"\\"],"]']);
    expect(() => splitter.end()).not.toThrow();
  });

  test.each(["[]", " [ ] ", "\n[\n]\n"])("can be empty: %j", (text) => {
    expect(split([text])).toEqual([]);
  });

  test.each([
    ...["", " ", "[", "[1", "[1,", '["', '["]', '["\\"]', "[{]", "[[1]", '[{"a":1}'],
    ...["{}", "1", "x[]", "<html>", "[]x", "[1][2]", "[1]]", "[,1]", "[1,]", "[1,,2]", "[ , ]"],
  ])("throws if the text is incomplete or not an array: %j", (text) => {
    expect(() => split([text])).toThrow(JsonArrayError);
    expect(() => split([...text])).toThrow(JsonArrayError);
  });

  test("throws for an element that is too long", () => {
    const text = "x".repeat(9_999_998);
    expect(split([`["${text}"]`])).toEqual([text]);
    const splitter = new JsonArraySplitter();
    splitter.push(`["${text}x`);
    expect(() => splitter.push("x")).toThrow(JsonArrayError);
  });
});

describe("readArrayElements", () => {
  test("reads elements from pieces that end anywhere, even inside a character", async () => {
    for (const pieces of halves('["größer", {"a": [1, "😀"]}]')) {
      expect(await allOf(readArrayElements(answer(pieces), options))).toEqual(["größer", { a: [1, "😀"] }]);
    }
  });

  test("clears its timers", async () => {
    const timers = watchTimers();
    const elements = readArrayElements(answer(["[1,", "2]"]), { timeoutMs: 12_345, signal: undefined });
    expect(await allOf(elements)).toEqual([1, 2]);
    expect(timers.of(12_345)).toMatchObject([{ cleared: 1 }, { cleared: 1 }, { cleared: 1 }]);
  });

  test("throws without a body", async () => {
    await expect(allOf(readArrayElements(new Response(null), options))).rejects.toThrow(JsonArrayError);
  });
});

describe("readEvents", () => {
  test("cancels the response if the loop is exited", async () => {
    const cancel = vi.fn();
    for await (const event of readEvents(answer(['data: {"a":1}\n\n'], { ends: false, cancel }), options)) {
      expect(event).toEqual({ a: 1 });
      break;
    }
    expect(cancel).toHaveBeenCalledOnce();
  });

  test("skips an event with a line that is too long, also if the line arrives in pieces", async () => {
    const pieces = ['data: {"a":"', "x".repeat(20), "x".repeat(20), '"}\n', '\ndata: {"b":2}\n\n'];
    const read = (maxLineChars: number) => allOf(readEvents(answer(pieces), { ...options, maxLineChars }));
    expect(await read(30)).toEqual([{ b: 2 }]);
    expect(await read(60)).toEqual([{ a: "x".repeat(40) }, { b: 2 }]);
  });

  test("skips an event with too many lines", async () => {
    const lines = Array.from({ length: 4 }, () => `data:${" ".repeat(10)}\n`);
    const pieces = ["data: {\n", ...lines, "data: }\n\n", 'data: {"b":2}\n\n'];
    const read = (maxLineChars: number) => allOf(readEvents(answer(pieces), { ...options, maxLineChars }));
    expect(await read(30)).toEqual([{ b: 2 }]);
    expect(await read(60)).toEqual([{}, { b: 2 }]);
  });

  test("yields the same event wherever its bytes are divided, also within a character", async () => {
    for (const pieces of halves('data: {"a":"né 🤗"}\r\n\r\n')) {
      expect(await allOf(readEvents(answer(pieces), options))).toEqual([{ a: "né 🤗" }]);
    }
  });
});
