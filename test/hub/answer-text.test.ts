import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { readText } from "../../src/hub/answer-text.ts";

const { signal } = new AbortController();

test("An answer of many parts is one text, and leaves nothing behind on the signal", async () => {
  const bytes = new TextEncoder().encode("reçu ✓".repeat(20));
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      // One byte at a time cuts every longer character in two.
      for (const byte of bytes) stream.enqueue(Uint8Array.of(byte));
      stream.close();
    },
  });
  expect(await readText(new Response(body), { limit: bytes.length, signal })).toEqual({ text: "reçu ✓".repeat(20) });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("An answer is read up to the limit, in bytes, and no further", async () => {
  expect(await readText(new Response("✓"), { limit: 3, signal })).toEqual({ text: "✓" });
  expect(await readText(new Response("✓"), { limit: 2, signal })).toEqual({ tooLong: true });
  expect(await readText(new Response(null), { limit: 0, signal })).toEqual({ text: "" });
});
