import { buffer } from "node:stream/consumers";
import { HTTPException } from "hono/http-exception";
import * as z from "zod";
import { invalidRequest, parseRequestJson } from "../../error-response.ts";
import { limitBytes } from "../../routes/route.ts";

/** The maximum size of the body of a commit, in bytes. The files of a commit are in memory while the commit is made. */
export const maxCommitBytes = 256 * 1024 * 1024;
/** The maximum size of a line, in bytes: a file of 50 MB in Base64, and its path. */
const maxLineBytes = 68 * 1024 * 1024;
const maxOperations = 25_000;

const path = z.string().min(1);
const file = z.object({
  path,
  content: z.string().optional(),
  encoding: z.enum(["utf-8", "base64"]).default("utf-8"),
  oldPath: path.optional(),
});
const largeFile = z.object({
  path,
  algo: z.literal("sha256").default("sha256"),
  oid: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "expected 64 lowercase hexadecimal digits")
    .optional(),
  size: z.int().nonnegative().optional(),
  oldPath: path.optional(),
});
const header = z.object({
  summary: z.string().trim().min(1),
  description: z.string().default(""),
  parentCommit: z
    .string()
    .regex(/^[0-9a-f]{7,40}$/, "expected the ID of a commit")
    .nullish(),
});
const deleted = z.object({ path });

const line = z.discriminatedUnion("key", [
  z.object({ key: z.literal("header"), value: header }),
  z.object({ key: z.literal("file"), value: file }),
  z.object({ key: z.literal("lfsFile"), value: largeFile }),
  z.object({ key: z.enum(["deletedFile", "deletedFolder", "deletedEntry"]), value: deleted }),
]);

const jsonCommit = z.object({
  ...header.shape,
  files: z.array(file).default([]),
  lfsFiles: z.array(largeFile).default([]),
  deletedEntries: z.array(deleted).default([]),
});

export type UploadOperation = Exclude<z.output<typeof line>, { key: "header" }>;

export interface UploadedCommit {
  header: z.output<typeof header>;
  operations: UploadOperation[];
}

/** Reads line by line, to save memory. @throws HTTPException 400 if a line is invalid, 413 if the body or a line is too large. */
export async function readUploadLines(body: AsyncIterable<Uint8Array>, maxBytes = maxCommitBytes) {
  let found: UploadedCommit["header"] | undefined;
  const operations: UploadOperation[] = [];
  let number = 0;
  for await (const text of splitLines(limit(body, maxBytes))) {
    number += 1;
    const parsed = parseRequestJson(line, text, `line ${number}`);
    if (parsed.key === "header") found = parsed.value;
    else operations.push(parsed);
    if (operations.length > maxOperations) throw tooLarge(`The commit has more than ${maxOperations} operations.`);
  }
  if (!found) throw invalidRequest(["header: required. Send the line of the header first"]);
  return { header: found, operations };
}

/** Reads the older format of the Hub, one JSON document. @throws HTTPException like {@link readUploadLines}. */
export async function readUploadDocument(body: AsyncIterable<Uint8Array>, maxBytes = maxCommitBytes) {
  const text = (await buffer(limit(body, maxBytes))).toString();
  const { files, lfsFiles, deletedEntries, ...found } = parseRequestJson(jsonCommit, text, "body");
  const operations: UploadOperation[] = [
    ...files.map((value) => ({ key: "file", value }) as const),
    ...lfsFiles.map((value) => ({ key: "lfsFile", value }) as const),
    ...deletedEntries.map((value) => ({ key: "deletedEntry", value }) as const),
  ];
  return { header: found, operations };
}

/** @throws HTTPException 422 for a path with which Windows could leave the folder of a download. */
export function checkPath(path: string): void {
  if (!path.includes("\\")) return;
  throw new HTTPException(422, { message: `The path "${path}" contains a backslash. Use "/" between folders.` });
}

async function* splitLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const text = Buffer.concat([...parts, chunk.subarray(start, end)]).toString();
      if (text.trim() !== "") yield text;
      parts = [];
      length = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    length += chunk.byteLength - start;
    if (length > maxLineBytes) throw tooLarge(`A line has more than ${maxLineBytes} bytes. Upload large files to LFS.`);
  }
  const rest = Buffer.concat(parts).toString();
  if (rest.trim() !== "") yield rest;
}

function limit(body: AsyncIterable<Uint8Array>, maxBytes: number) {
  const message = `The commit has more than ${maxBytes} bytes. Split the commit, or upload files to LFS.`;
  return limitBytes(body, maxBytes, () => tooLarge(message));
}

function tooLarge(message: string): HTTPException {
  return new HTTPException(413, { message });
}
