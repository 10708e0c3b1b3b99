import * as z from "zod/mini";
import { readJson } from "../core/text.ts";
import type { AttemptDetails, AttemptLog } from "./inbox.ts";

/** The maximum size of the JSON text of the details, in bytes. */
export const maxDetailsBytes = 16 * 1_024;

export const detailsSchema = z.object({
  result: z.optional(z.string()),
  stack: z.optional(z.string()),
  logs: z.optional(
    z.readonly(
      z.array(
        z.object({
          at: z.number(),
          level: z.enum(["debug", "info", "warn", "error"]),
          message: z.string(),
          fields: z.optional(z.string()),
        }),
      ),
    ),
  ),
  isTruncated: z.optional(z.boolean()),
});

/** Returns the JSON text of the details, cut to {@link maxDetailsBytes}, or `undefined` if there are none. */
export function encodeDetails(details: AttemptDetails | undefined): string | undefined {
  if (details === undefined || Object.values(details).every((value) => value === undefined)) return undefined;
  const text = JSON.stringify(details);
  return fits(text) ? text : JSON.stringify(cut(details));
}

/** Parses the JSON text of details. Returns `undefined` if it is not from a release that this one can read. */
export function decodeDetails(text: string): AttemptDetails | undefined {
  return detailsSchema.safeParse(readJson(text)).data;
}

/** Cuts the largest parts first: long lines of the log, then the result and the stack, and then the newest lines of the log. */
function cut(details: AttemptDetails): AttemptDetails {
  let short: AttemptDetails = { ...details, isTruncated: true };
  for (let characters = 4_096; characters >= 256; characters /= 2) {
    short = shorten(short, characters);
    if (fits(JSON.stringify(short))) return short;
  }
  const { logs = [], ...rest } = short;
  const kept: AttemptLog[] = [];
  let bytes = Buffer.byteLength(JSON.stringify({ ...rest, logs: [] }));
  for (const line of logs) {
    bytes += Buffer.byteLength(JSON.stringify(line)) + 1;
    if (bytes > maxDetailsBytes) break;
    kept.push(line);
  }
  return { ...rest, logs: kept };
}

function shorten({ result, stack, logs, ...rest }: AttemptDetails, characters: number): AttemptDetails {
  return {
    ...rest,
    result: result?.slice(0, characters),
    stack: stack?.slice(0, characters),
    logs: logs?.map((line) => shortenLine(line, characters)),
  };
}

/** Fields are JSON text, which would be invalid if it were cut. */
function shortenLine({ message, fields, ...rest }: AttemptLog, characters: number): AttemptLog {
  return {
    ...rest,
    message: message.slice(0, characters),
    ...(fields !== undefined && fields.length <= characters && { fields }),
  };
}

function fits(text: string): boolean {
  return text.length * 3 <= maxDetailsBytes || Buffer.byteLength(text) <= maxDetailsBytes;
}

type Headers = Readonly<Record<string, string>>;

/** The maximum size of the JSON text of the headers, in bytes. */
const maxHeadersBytes = 4 * 1_024;

const headersSchema = z.record(z.string(), z.string());

/** Returns the JSON text of request headers without those that exceed the limit, or `undefined` without headers. */
export function encodeHeaders(headers: Headers | undefined): string | undefined {
  if (headers === undefined) return undefined;
  const text = JSON.stringify(headers);
  if (text.length * 3 <= maxHeadersBytes || Buffer.byteLength(text) <= maxHeadersBytes) return text;
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
  return headersSchema.safeParse(readJson(text)).data;
}
