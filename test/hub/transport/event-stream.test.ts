import { expect, test, vi } from "vitest";
import { readEvents } from "../../../src/hub/transport/event-stream.ts";
import { allOf } from "../scripted-hub.ts";

const options = { timeoutMs: 10_000, signal: undefined };

/** Creates a response that arrives in these pieces and then ends or stalls. */
function answer(pieces: readonly string[], { ends = true, cancel = () => {} } = {}): Response {
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
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
