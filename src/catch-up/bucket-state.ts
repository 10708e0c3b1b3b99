import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod/mini";
import { HubError } from "../core/errors.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import { type CoveredChange, idOf, withoutFiles } from "./cursor.ts";

/** Sends a GET request to the Hub within the budget. `next`: the query of the next page. @throws `HubError` */
export type Get = <Schema extends z.ZodMiniType>(
  path: string,
  schema: Schema,
) => Promise<{ answer: z.output<Schema>; next: URLSearchParams | undefined }>;

export interface BucketFile {
  xetHash: string;
  size: number;
  uploadedAt: number;
}

/** The files of a bucket, by path. */
export type BucketFiles = ReadonlyMap<string, BucketFile>;

export type UpdatedFile = NonNullable<WebhookPayload["updatedFiles"]>[number];

export interface AcceptedFile {
  state: string;
  receivedAt: number;
}

/** The maximum number of files that are compared. Each 100,000 take 20 calls and about 3 MB in the inbox. */
const maxFiles = 100_000;
/** The number of files and folders on a page, which is the maximum of the Hub. */
const pageEntries = 5_000;
/** Enough for twice as many folders as files. Pages that link to each other end too. */
const maxPages = (3 * maxFiles) / pageEntries;
/** The number of files that a payload lists. As on the Hub. */
const maxListedFiles = 10_000;
/** The part of a hash that is kept. Two contents with the same part cannot be found. */
const keptHashChars = 24;
const deleted = "";

const bucketInfo = z.object({
  id: z.string(),
  private: z.optional(z.nullable(z.boolean())),
  createdAt: z.string(),
  updatedAt: z.string(),
  size: z.number(),
  totalFiles: z.number(),
});

const treeEntry = z.object({
  type: z.string(),
  path: z.string(),
  size: z.optional(z.number()),
  xetHash: z.optional(z.string()),
  uploadedAt: z.string(),
});

export async function readBucket(get: Get, name: string) {
  return toListed((await get(`/api/buckets/${name}`, bucketInfo)).answer);
}

export async function listBuckets(get: Get, owner: string) {
  return (await get(`/api/buckets/${owner}`, z.array(bucketInfo))).answer.map(toListed);
}

/** Converts a bucket to a repository. */
function toListed({ id: name, createdAt, updatedAt, size, totalFiles, ...info }: z.output<typeof bucketInfo>) {
  return {
    ...{ type: "bucket" as const, name, id: idOf({ type: "bucket", name, id: "" }) },
    isPrivate: info.private ?? false,
    createdAt,
    // A deletion changes the number of files, and an upload changes the time.
    lastModified: `${updatedAt} ${size} ${totalFiles}`,
    totalFiles,
  };
}

/** Reads all files of a bucket. @throws `HUB_REFUSED` if there are too many. */
export async function readFiles(
  get: Get,
  { name, totalFiles = 0 }: { name: string; totalFiles?: number | undefined },
): Promise<BucketFiles> {
  if (totalFiles > maxFiles)
    throw refused(`The bucket "${name}" has ${totalFiles} files, and catch-up compares at most ${maxFiles}.`);
  const files = new Map<string, BucketFile>();
  let query: URLSearchParams | undefined = new URLSearchParams({ recursive: "true", limit: `${pageEntries}` });
  for (let pages = 0; query; pages += 1) {
    if (pages === maxPages)
      throw refused(`The list of the files in bucket "${name}" does not end after ${maxPages} pages.`);
    const path: string = `/api/buckets/${name}/tree?${query}`;
    const { answer, next } = await get(path, z.array(treeEntry));
    for (const { type, path, size = 0, xetHash, uploadedAt } of answer) {
      if (type === "file" && xetHash !== undefined)
        files.set(path, { xetHash, size, uploadedAt: Date.parse(uploadedAt) });
    }
    query = next;
  }
  return files;
}

function refused(problem: string): HubError {
  const message = `${problem} Distribute the files over several buckets, or watch the bucket in another server, without catchUp and poll.`;
  return new HubError(message, { code: "HUB_REFUSED" });
}

/** Returns a text that is equal for two equal states of a file. */
export function fileState({ action, xetHash = "unknown" }: Pick<UpdatedFile, "action" | "xetHash">): string {
  return action === "delete" ? deleted : xetHash.slice(0, keptHashChars);
}

/**
 * Returns the changes that no accepted delivery contains. A change and its reversal are invisible.
 *
 * The Hub promises no order. A delivery of the present content that was received after the upload ends the changes of a file, even if
 * another one was received later. So does the last comparison, if it has read this upload. A delivery without all files makes the handler
 * read the bucket, as it was at that time.
 */
export function missedFiles(
  known: { states: ReadonlyMap<string, string>; uploadedAt: number },
  present: BucketFiles,
  { files, truncatedAt }: { files: ReadonlyMap<string, readonly AcceptedFile[]>; truncatedAt: number },
): UpdatedFile[] {
  const missed: UpdatedFile[] = [];
  for (const [path, { xetHash, size, uploadedAt }] of present) {
    const added: UpdatedFile = { path, action: "add", xetHash, size };
    const state = fileState(added);
    const changes = files.get(path) ?? [];
    const wasCompared = known.states.get(path) === state;
    if (wasCompared && (changes.length === 0 || uploadedAt <= known.uploadedAt)) continue;
    if (changes.at(-1)?.state === state || truncatedAt >= uploadedAt) continue;
    if (changes.some((change) => change.state === state && change.receivedAt >= uploadedAt)) continue;
    missed.push(added);
  }
  for (const path of new Set([...known.states.keys(), ...files.keys()])) {
    const state = files.get(path)?.at(-1)?.state ?? known.states.get(path);
    if (!present.has(path) && state !== deleted) missed.push({ path, action: "delete" });
  }
  return missed;
}

/** Returns the fields of a payload that list files. */
export function listFiles(
  files: readonly UpdatedFile[],
): Pick<WebhookPayload, "updatedFiles" | "updatedFilesTruncated"> {
  if (files.length <= maxListedFiles) return { updatedFiles: [...files] };
  return { updatedFiles: files.slice(0, maxListedFiles), updatedFilesTruncated: true };
}

/** Returns the files that the endpoint already had at a time. What was deleted since `stored` has no time. */
export function filesBefore(present: BucketFiles, since: Date | "all", stored: ReadonlyMap<string, string>) {
  const gone = [...stored].filter(([path]) => !present.has(path));
  const older = [...present].filter(([, { uploadedAt }]) => since !== "all" && uploadedAt <= since.getTime());
  return [...gone, ...older];
}

/** Returns the files of a delivery that catch-up has not derived, and the derived changes without those that it undoes. */
export function uncoveredFiles(
  updatedFiles: readonly UpdatedFile[],
  { covered, receivedAt }: { covered: readonly CoveredChange[]; receivedAt: number },
): { uncovered: UpdatedFile[]; covered: readonly CoveredChange[] } {
  const derived = new Map(covered.flatMap(({ files = [] }) => files));
  const uncovered = updatedFiles.filter((file) => derived.get(file.path) !== fileState(file));
  const undone = new Set(uncovered.map(({ path }) => path).filter((path) => derived.has(path)));
  return { uncovered, covered: withoutFiles(covered, { paths: undone, until: receivedAt }) };
}

/** Separates paths and states. No path contains it. */
const separator = "\0";

/** Packs the states of files for a cursor: about 30 bytes per file. */
export async function packFiles(files: Iterable<readonly [string, BucketFile | string]>): Promise<string> {
  const parts: string[] = [];
  for (const [path, file] of files) {
    parts.push(path, typeof file === "string" ? file : fileState({ action: "add", xetHash: file.xetHash }));
  }
  return (await promisify(gzip)(parts.join(separator))).toString("base64");
}

/** @throws if the text was not packed. */
export async function unpackFiles(text: string): Promise<Map<string, string>> {
  const parts = (await promisify(gunzip)(Buffer.from(text, "base64"))).toString().split(separator);
  const files = new Map<string, string>();
  for (let index = 0; index + 1 < parts.length; index += 2) files.set(parts[index] ?? "", parts[index + 1] ?? "");
  return files;
}
