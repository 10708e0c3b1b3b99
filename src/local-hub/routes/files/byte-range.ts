import type { Readable } from "node:stream";
import type { ByteRange } from "../../git/large-files.ts";

/** The part of a file that a request asks for. */
export type RequestedRange = "whole" | "unsatisfiable" | ByteRange;

/**
 * Reads the header `Range` of a request for a file. Several ranges, other units, and invalid ranges stand for the whole file, as RFC
 * 9110 allows.
 *
 * @example
 * ```ts
 * readRange("bytes=0-99", { size: 1_000 }); // { start: 0, end: 99 }
 * ```
 */
export function readRange(header: string | undefined, { size }: { size: number }): RequestedRange {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return "whole";
  // An empty file has no ranges, but clients ask for its first byte to learn its size.
  if (size === 0) return "whole";
  if (first === "")
    return Number(last) === 0 ? "unsatisfiable" : { start: Math.max(0, size - Number(last)), end: size - 1 };
  const [start, end] = [Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "unsatisfiable" : { start, end };
}

/** Whether a header such as `If-None-Match` lists an entity tag. Weak and strong tags are equal. */
export function listsTag(header: string | undefined, tag: string): boolean {
  const listed = (header ?? "").split(",").map((item) => item.trim().replace(/^W\//, ""));
  return listed.includes(tag) || listed.includes("*");
}

/** Converts a stream of Node. The file is closed when the client disconnects. */
export function streamOf(file: Readable): ReadableStream<Uint8Array> {
  const chunks = file[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      file.destroy();
    },
  });
}
