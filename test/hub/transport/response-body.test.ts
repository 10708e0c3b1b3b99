import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { readText } from "../../../src/hub/transport/response-body.ts";

const { signal } = new AbortController();

test("readText joins the parts of a body, and removes its listeners from the signal", async () => {
  const bytes = new TextEncoder().encode("reçu ✓".repeat(20));
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      // Pieces of one byte split every multi-byte character.
      for (const byte of bytes) stream.enqueue(Uint8Array.of(byte));
      stream.close();
    },
  });
  expect(await readText(new Response(body), { limit: bytes.length, signal })).toEqual({ text: "reçu ✓".repeat(20) });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("readText reads up to the limit, in bytes", async () => {
  expect(await readText(new Response("✓"), { limit: 3, signal })).toEqual({ text: "✓" });
  expect(await readText(new Response("✓"), { limit: 2, signal })).toEqual({ tooLong: true });
  expect(await readText(new Response(null), { limit: 0, signal })).toEqual({ text: "" });
});

test("readText cancels a body that is too long or aborted", async () => {
  const canceled: string[] = [];
  const endless = (name: string, text: string) =>
    new Response(
      new ReadableStream({
        start: (stream) => stream.enqueue(new TextEncoder().encode(text)),
        cancel: () => void canceled.push(name),
      }),
    );
  expect(await readText(endless("too long", "abc"), { limit: 2, signal })).toEqual({ tooLong: true });
  expect(canceled).toEqual(["too long"]);
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(readText(endless("cut off", ""), { limit: 2, signal: aborted })).rejects.toThrow("enough");
  expect(canceled).toEqual(["too long", "cut off"]);
});
