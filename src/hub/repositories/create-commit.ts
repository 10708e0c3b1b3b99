import { HubError } from "../../core/errors.ts";
import type { CallOptions } from "../operation.ts";
import { argumentInvalid, fieldInvalid } from "../validation/arguments.ts";
import { commitOperations, fileOperations, type RepositoryFile } from "./contents.ts";
import type { DiscussionSummary } from "./discussions.ts";
import { type FileContent, hashFile, readStart, sizeOf, toBase64 } from "./file-content.ts";
import { checkMarker, markCommit, markDescription } from "./marker.ts";
import { findMarked, isOpen, keepMarker } from "./read-discussions.ts";
import { repositoryOperations } from "./repositories.ts";
import { markerOf, observe, type RepositoryContext, repositoryKey, signatureOf } from "./repository-context.ts";
import type { UploadedFiles } from "./upload-files.ts";

/**
 * The files of a commit, by path. A string is stored as UTF-8. A `Blob` is read in parts if the Hub stores it as a large file. `null`
 * deletes the file, or the folder with all its files.
 *
 * @example
 * ```ts
 * const files: CommitFiles = { "README.md": "# Data\n", "data/old.csv": null };
 * ```
 */
export type CommitFiles = Readonly<Record<string, string | Uint8Array | Blob | null>>;

/** A commit to create. */
export interface CommitRequest extends CallOptions {
  /** The first line of the commit message. */
  message: string;
  /** The rest of the commit message. */
  description?: string | undefined;
  /** The files to write and delete. */
  files: CommitFiles;
  /** The commit that must be the head of the branch, as 40 hexadecimal digits. Default: any commit. */
  parent?: string | undefined;
  /** The branch, or the ref of a pull request such as `refs/pr/1`. Default `main`. */
  branch?: string | undefined;
  /** A name for the purpose of the commit, which is written into its description. */
  marker?: string | undefined;
  /**
   * Called with the bytes of large files that the Hub has, and the bytes of all large files of the commit: before the uploads, and after
   * each file or part of a file.
   */
  onUpload?: ((bytes: number, totalBytes: number) => void) | undefined;
}

/** The query of a commit that opens a pull request. */
type CommitQuery = { create_pr: true };

/** The result of a commit. */
export interface CommitResult {
  /** The ID of the new commit, or of the head of the branch if there was nothing to change. */
  oid: string;
  /** Whether a commit was created. `false`: the branch already contains the files. */
  created: boolean;
}

/** The maximum number of paths per request, of the Hub's clients. */
const pathsPerRequest = { info: 1000, preupload: 256 };
/** The Hub decides by the start of a file whether it is text. */
const sampleBytes = 512;

export async function createCommit(context: RepositoryContext, request: CommitRequest): Promise<CommitResult> {
  const { message, description = "", files, parent, branch = "main", marker, onUpload, signal } = request;
  checkMessage(message);
  const mark = marker === undefined ? signatureOf(context) : markerOf(context, checkMarker(marker));
  const signed = mark ? markCommit(description, mark) : description;
  const writes = readCommitFiles(files);

  const { head, needed } = await compareWithHead(context, { writes, branch, signal });
  if (needed.length === 0) return { oid: head, created: false };
  const uploaded = await uploadLargeFiles(context, { needed, branch, onUpload, signal });
  const body = await encodeCommit({ message, description: signed, parent }, { needed, uploaded });
  const params = { ...context.path, rev: branch };
  return observe<CommitResult>(context, {
    async send() {
      const options = { signal, encodedBody: body };
      const { commitOid } = await context.client.transport.call(commitOperations.create, { params }, options);
      return { oid: commitOid, created: true };
    },
    async find() {
      const current = await compareWithHead(context, { writes, branch, signal });
      if (current.needed.length > 0) return undefined;
      const made = await findCommit(context, { message, description: signed, branch, signal }, head);
      // Otherwise, someone else committed the same files.
      return made === undefined ? { oid: current.head, created: false } : { oid: made, created: true };
    },
    signal,
    made: ({ oid, created }) => (created ? [{ kind: "commit", id: oid }] : []),
  });
}

/** A pull request to open. */
export interface PullRequestRequest extends CallOptions {
  /** The title, with 3 to 200 characters. It is also the message of the commit. */
  title: string;
  /** The first comment, in Markdown. */
  text?: string | undefined;
  /** The files to write and delete, compared to `main`. */
  files: CommitFiles;
  /** A name for the purpose of the pull request. A pull request with the same marker is found again, even with another title. */
  marker: string;
}

/** A pull request that was opened or found. */
export interface OpenedPullRequest {
  num: number;
  /** Whether this call opened the pull request. `false`: it was found by its marker. */
  created: boolean;
  /** The status, such as `open`. A found pull request can be closed or merged. */
  status: DiscussionSummary["status"];
  /** The ref with the commits of the pull request, such as `refs/pr/1`. */
  ref: string;
}

export async function openPullRequest(
  context: RepositoryContext,
  { title, text = "", files, marker: name, signal }: PullRequestRequest,
): Promise<OpenedPullRequest | undefined> {
  checkMessage(title);
  const { client, path } = context;
  const marker = markerOf(context, checkMarker(name));
  const writes = readCommitFiles(files);
  const query: CommitQuery = { create_pr: true };
  const branch = "main";
  const find = () => findMarked(context, { marker, title, type: "pull_request", signal });
  return client.markedCalls.run(`pull request ${repositoryKey(context)} ${name}`, signal, async () => {
    const found = await find();
    if (found && isOpen(found)) {
      await createCommit(context, { message: title, files, branch: refOf(found.num), marker: name, signal });
    }
    // A closed pull request was rejected. A merged pull request does not prevent another one with newer files.
    if (found && found.status !== "merged") return toOpened(found);
    const { needed } = await compareWithHead(context, { writes, branch, signal });
    if (needed.length === 0) return found && toOpened(found);
    const uploaded = await uploadLargeFiles(context, { needed, branch, query, signal });
    const description = markDescription(text, marker);
    const encodedBody = await encodeCommit({ message: title, description }, { needed, uploaded });
    const input = { params: { ...path, rev: branch }, query };
    const { opened } = await observe(context, {
      async send() {
        const answer = await client.transport.call(commitOperations.create, input, { signal, encodedBody });
        const opened = toOpened({ num: numberIn(answer.pullRequestUrl), status: "open" }, true);
        keepMarker(context, opened.num, marker);
        return { opened, commit: answer.commitOid };
      },
      async find() {
        const made = await find();
        if (!made || made.status === "merged") return undefined;
        const { head } = await compareWithHead(context, { writes, branch: refOf(made.num), signal });
        return { opened: toOpened(made, true), commit: head };
      },
      signal,
      made: ({ opened, commit }) => [
        { kind: "discussion", id: String(opened.num) },
        { kind: "commit", id: commit },
      ],
    });
    return opened;
  });
}

function refOf(num: number): string {
  return `refs/pr/${num}`;
}

function toOpened({ num, status }: Pick<DiscussionSummary, "num" | "status">, created = false): OpenedPullRequest {
  return { num, status, created, ref: refOf(num) };
}

/** Returns the number at the end of the URL of a pull request. */
function numberIn(url: string | undefined): number {
  const [, number] = /\/discussions\/(\d+)\/?$/.exec(url ?? "") ?? [];
  if (number !== undefined) return Number(number);
  throw new HubError("The Hub opened a pull request, but returned no number. Look for it on the Hub.", {
    code: "HUB_RESPONSE_INVALID",
  });
}

/** Compares files with the head of a branch. Returns the head, and the writes that change the branch. */
async function compareWithHead(
  { client, path }: RepositoryContext,
  { writes, branch, signal }: CallOptions & { writes: readonly FileWrite[]; branch: string },
): Promise<{ head: string; needed: NeededWrite[] }> {
  const { transport } = client;
  const params = { ...path, rev: branch };
  const { sha } = await transport.call(repositoryOperations.infoAtRevision, { params }, { signal });
  if (sha === undefined) {
    throw new HubError(`The Hub returned no commit. Check the branch ${JSON.stringify(branch)}.`, {
      code: "HUB_RESPONSE_INVALID",
    });
  }
  const existing: ExistingEntry[] = [];
  for (const part of chunksOf(writes, pathsPerRequest.info)) {
    const input = { params: { ...path, rev: sha }, body: { paths: part.map((write) => write.path), expand: false } };
    existing.push(...(await transport.call(fileOperations.pathsInfo, input, { signal, idempotent: true })));
  }
  return { head: sha, needed: await findNeededWrites(writes, existing) };
}

/** Uploads those files that the Hub stores as large files. Without the query for a pull request, the Hub requires write access. */
async function uploadLargeFiles(
  context: RepositoryContext,
  {
    needed,
    branch,
    query,
    onUpload,
    signal,
  }: Pick<CommitRequest, "onUpload" | "signal"> & {
    needed: readonly NeededWrite[];
    branch: string;
    query?: CommitQuery;
  },
): Promise<UploadedFiles> {
  const { client, path } = context;
  const params = { ...path, rev: branch };
  const contents = new Map<string, FileContent>();
  // The Hub stores empty files in the commit.
  for (const { path: file, content } of needed) if (content && sizeOf(content) > 0) contents.set(file, content);
  const large: [path: string, content: FileContent][] = [];
  for (const part of chunksOf([...contents], pathsPerRequest.preupload)) {
    const files = await Promise.all(
      part.map(async ([file, content]) => {
        const sample = toBase64(await readStart(content, sampleBytes));
        return { path: file, size: sizeOf(content), sample };
      }),
    );
    const input = { params, query, body: { files } };
    const answer = await client.transport.call(commitOperations.preupload, input, { signal, idempotent: true });
    for (const { path: file, uploadMode } of answer.files) {
      const content = contents.get(file);
      if (content && uploadMode !== "regular") large.push([file, content]);
    }
  }
  if (large.length === 0) return new Map();
  const { uploadFiles } = await import("./upload-files.ts");
  return uploadFiles(context, { files: new Map(large), ref: query?.create_pr ? undefined : branch, onUpload, signal });
}

/** Encodes the body of a commit as lines of JSON. */
async function encodeCommit(
  { message, description, parent }: Pick<CommitRequest, "message" | "description" | "parent">,
  { needed, uploaded }: { needed: readonly NeededWrite[]; uploaded: UploadedFiles },
) {
  const header = { summary: message, description, ...(parent !== undefined && { parentCommit: parent }) };
  const lines: object[] = [{ key: "header", value: header }];
  for (const { path, content, isFolder } of needed) {
    const file = uploaded.get(path);
    if (file) lines.push({ key: "lfsFile", value: { path, algo: "sha256", ...file } });
    else if (!content) lines.push({ key: isFolder ? "deletedFolder" : "deletedFile", value: { path } });
    else {
      const bytes = await readStart(content, sizeOf(content));
      lines.push({ key: "file", value: { path, content: toBase64(bytes), encoding: "base64" } });
    }
  }
  return { type: "application/x-ndjson", text: lines.map((line) => `${JSON.stringify(line)}\n`).join("") };
}

/** @throws `ARGUMENT_INVALID` */
function checkMessage(message: string): void {
  if (typeof message === "string" && message.trim() !== "") return;
  throw fieldInvalid("message", "expected a text");
}

/** Finds a commit by its message among the newest commits after the commit `until`. */
async function findCommit(
  { client, path }: RepositoryContext,
  { message, description, branch, signal }: CallOptions & { message: string; description: string; branch: string },
  until: string,
): Promise<string | undefined> {
  const params = { ...path, rev: branch };
  for await (const commits of client.transport.pages(commitOperations.list, { params }, { signal })) {
    const end = commits.findIndex(({ id }) => id === until);
    const added = end === -1 ? commits : commits.slice(0, end);
    return added.find(({ title, message: rest }) => title === message.trim() && rest.trim() === description.trim())?.id;
  }
  return undefined;
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** A file to write or delete. */
interface FileWrite {
  path: string;
  /** `undefined`: delete the file or folder. */
  content: FileContent | undefined;
}

/** What a revision contains at a path. */
type ExistingEntry = Pick<RepositoryFile, "path" | "type" | "oid">;

/** A file to write or delete, which a revision contains in another form. */
interface NeededWrite extends FileWrite {
  /** Whether the path is a folder in the revision. */
  isFolder: boolean;
}

/** Checks and encodes the files of a commit. @throws `ARGUMENT_INVALID` */
export function readCommitFiles(files: CommitFiles): FileWrite[] {
  const entries = Object.entries(typeof files === "object" && files !== null ? files : {});
  if (entries.length === 0) throw fieldInvalid("files", "expected at least one file");
  const problems = entries.flatMap(([path, content]) => {
    const problem = problemOf(path, content);
    return problem === undefined ? [] : [{ field: `files[${JSON.stringify(path)}]`, problem }];
  });
  if (problems.length > 0) throw argumentInvalid(problems);
  return entries.map(([path, content]) => ({
    path,
    content: typeof content === "string" ? encoder.encode(content) : (content ?? undefined),
  }));
}

function problemOf(path: string, content: unknown): string | undefined {
  if (!isFilePath(path)) return 'expected a path such as "data/train.csv", without ".", "..", ".git", or empty parts';
  if (content === null || content instanceof Uint8Array || content instanceof Blob) return undefined;
  if (typeof content !== "string") return "expected a string, a Uint8Array, a Blob, or null";
  return content.isWellFormed() ? undefined : "expected well-formed Unicode";
}

function isFilePath(path: string): boolean {
  const parts = path.split("/");
  const isUsable = (part: string) => !/^(?:|\.|\.\.|\.git)$/i.test(part);
  return path.isWellFormed() && !path.includes("\0") && parts.every(isUsable);
}

const encoder = new TextEncoder();

/** Returns the files that a revision does not contain yet in this form. */
export async function findNeededWrites(
  writes: readonly FileWrite[],
  existing: readonly ExistingEntry[],
): Promise<NeededWrite[]> {
  const entries = new Map(existing.map((entry) => [entry.path, entry]));
  const needed: NeededWrite[] = [];
  for (const write of writes) {
    const entry = entries.get(write.path);
    if (!(await isDone(write, entry))) needed.push({ ...write, isFolder: entry?.type === "directory" });
  }
  return needed;
}

async function isDone({ content }: FileWrite, entry: ExistingEntry | undefined): Promise<boolean> {
  if (content === undefined) return entry === undefined;
  if (entry === undefined) return false;
  // The ID of a large file is the ID of its pointer.
  const { blob, pointer } = await hashFile(content);
  return entry.oid === blob || entry.oid === pointer;
}
