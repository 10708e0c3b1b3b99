import * as z from "zod";

type Headers = Readonly<Record<string, string>>;

/** The maximum size of the JSON text of the headers, in bytes. */
const maxHeadersBytes = 4 * 1_024;

const headersSchema = z.record(z.string(), z.string());

/** Returns the JSON text of request headers without those that exceed the limit, or `undefined` if there are none. */
export function encodeHeaders(headers: Headers | undefined): string | undefined {
  if (headers === undefined) return undefined;
  const text = JSON.stringify(headers);
  if (Buffer.byteLength(text) <= maxHeadersBytes) return text;
  const kept: [string, string][] = [];
  let bytes = 2;
  for (const entry of Object.entries(headers)) {
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (bytes > maxHeadersBytes) break;
    kept.push(entry);
  }
  return JSON.stringify(Object.fromEntries(kept));
}

/** Parses the JSON text of headers. Returns `undefined` if the text is not an object of strings. */
export function decodeHeaders(text: string): Headers | undefined {
  try {
    return headersSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
