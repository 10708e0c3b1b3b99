import { expect, test, vi } from "vitest";
import { readEvents } from "../../../src/hub/transport/response-body.ts";
import { allOf } from "../scripted-hub.ts";

const options = { timeoutMs: 10_000, signal: undefined };

/** Creates a response that arrives in these pieces and then ends or stalls. */
function answer(pieces: readonly (string | Uint8Array)[], { ends = true, cancel = () => {} } = {}): Response {
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces)
        controller.enqueue(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
      if (ends) controller.close();
    },
    cancel,
  });
  return new Response(stream);
}

test("Exiting the loop over events cancels the response", async () => {
  const cancel = vi.fn();
  for await (const event of readEvents(answer(['data: {"a":1}\n\n'], { ends: false, cancel }), options)) {
    expect(event).toEqual({ a: 1 });
    break;
  }
  expect(cancel).toHaveBeenCalledOnce();
});

test("An event with a line that is too long is skipped, also if the line arrives in pieces", async () => {
  const pieces = ['data: {"a":"', "x".repeat(20), "x".repeat(20), '"}\n', '\ndata: {"b":2}\n\n'];
  expect(await allOf(readEvents(answer(pieces), { ...options, maxLineChars: 30 }))).toEqual([{ b: 2 }]);
  expect(await allOf(readEvents(answer(pieces), { ...options, maxLineChars: 60 }))).toEqual([
    { a: "x".repeat(40) },
    { b: 2 },
  ]);
});

test("An event is the same wherever its bytes are divided, also within a character", async () => {
  const bytes = new TextEncoder().encode('data: {"a":"né 🤗"}\r\n\r\n');
  for (let at = 1; at < bytes.length; at += 1) {
    const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
    expect(await allOf(readEvents(answer(pieces), options))).toEqual([{ a: "né 🤗" }]);
  }
});
