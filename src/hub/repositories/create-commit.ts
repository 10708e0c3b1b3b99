import type * as z from "zod/mini";
import { HubError } from "../../core/errors.ts";
import type { CallOptions } from "../operation.ts";
import { argumentInvalid } from "../validation/arguments.ts";
import { type commit, commitOperations } from "./commits.ts";
import {
  type CommitFiles,
  type ExistingEntry,
  type FileWrite,
  findNeededWrites,
  type NeededWrite,
  readCommitFiles,
  toBase64,
} from "./committed-files.ts";
import { fileOperations } from "./files.ts";
import { checkMarker, markCommit } from "./marker.ts";
import { repositoryOperations } from "./repositories.ts";
import { markerOf, observe, type RepositoryContext, signatureOf } from "./repository-context.ts";
import { sendOnce } from "./send-once.ts";

/** A commit in the history of a repository. */
export type RepositoryCommit = z.output<typeof commit>;

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
}

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
  const { message, description = "", files, parent, branch = "main", marker, signal } = request;
  checkMessage(message);
  const mark = marker === undefined ? signatureOf(context) : markerOf(context, checkMarker(marker));
  const signed = mark ? markCommit(description, mark) : description;
  const writes = readCommitFiles(files);

  const { head, needed } = await compareWithHead(context, { writes, branch, signal });
  if (needed.length === 0) return { oid: head, created: false };
  await checkUploadModes(context, { needed, branch, signal });
  const body = encodeCommit({ message, description: signed, parent, needed });
  const params = { ...context.path, rev: branch };
  return observe(context, {
    send: () =>
      sendOnce<CommitResult>(context.client.transport, {
        async send() {
          const options = { signal, encodedBody: body };
          const { commitOid } = await context.client.transport.call(commitOperations.create, { params }, options);
          return { oid: commitOid, created: true };
        },
        async find() {
          const current = await compareWithHead(context, { writes, branch, signal });
          if (current.needed.length > 0) return undefined;
          const made = await findCommit(context, { message, description: signed, branch, until: head, signal });
          // Otherwise, someone else committed the same files.
          return made === undefined ? { oid: current.head, created: false } : { oid: made, created: true };
        },
        signal,
      }),
    made: ({ oid, created }) => (created ? [{ kind: "commit", id: oid }] : []),
  });
}

/** The changes that a branch needs. */
export interface BranchComparison {
  /** The head of the branch. */
  head: string;
  /** The writes that change the branch. */
  needed: NeededWrite[];
}

/** Compares files with the head of a branch. */
export async function compareWithHead(
  { client, path }: RepositoryContext,
  { writes, branch, signal }: CallOptions & { writes: readonly FileWrite[]; branch: string },
): Promise<BranchComparison> {
  const { transport } = client;
  const { sha } = await transport.call(
    repositoryOperations.infoAtRevision,
    { params: { ...path, rev: branch } },
    { signal },
  );
  if (sha === undefined) {
    throw new HubError(`The Hub returned no commit for the branch ${JSON.stringify(branch)}. Check the branch.`, {
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

/**
 * Checks that the Hub stores these files in the commit itself. Without `createPullRequest`, the Hub requires write access.
 *
 * @throws `LARGE_FILE_UNSUPPORTED`
 */
export async function checkUploadModes(
  { client, path }: RepositoryContext,
  {
    needed,
    branch,
    createPullRequest = false,
    signal,
  }: CallOptions & { needed: readonly NeededWrite[]; branch: string; createPullRequest?: boolean },
): Promise<void> {
  const params = { ...path, rev: branch };
  const files = needed.flatMap(({ path: file, content }) =>
    // The Hub stores empty files in the commit.
    content && content.byteLength > 0
      ? [{ path: file, size: content.byteLength, sample: toBase64(content.subarray(0, sampleBytes)) }]
      : [],
  );
  for (const part of chunksOf(files, pathsPerRequest.preupload)) {
    const input = { params, body: { files: part }, ...(createPullRequest && { query: { create_pr: true } }) };
    const answer = await client.transport.call(commitOperations.preupload, input, { signal, idempotent: true });
    const large = answer.files.find(({ uploadMode }) => uploadMode !== "regular");
    if (large === undefined) continue;
    throw new HubError(
      `The Hub stores ${JSON.stringify(large.path)} as a large file, which a commit of this client cannot contain. Upload the file with uploadFiles() of the package @huggingface/hub.`,
      { code: "LARGE_FILE_UNSUPPORTED", fields: [`files[${JSON.stringify(large.path)}]`] },
    );
  }
}

/** Encodes the body of a commit as lines of JSON. */
export function encodeCommit({
  message,
  description,
  parent,
  needed,
}: {
  message: string;
  description: string;
  parent?: string | undefined;
  needed: readonly NeededWrite[];
}) {
  const header = { summary: message, description, ...(parent !== undefined && { parentCommit: parent }) };
  const lines = needed.map(({ path, content, isFolder }) =>
    content
      ? { key: "file", value: { path, content: toBase64(content), encoding: "base64" } }
      : { key: isFolder ? "deletedFolder" : "deletedFile", value: { path } },
  );
  const text = [{ key: "header", value: header }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
  return { type: "application/x-ndjson", text };
}

/** @throws `ARGUMENT_INVALID` */
export function checkMessage(message: string): void {
  if (typeof message === "string" && message.trim() !== "") return;
  throw argumentInvalid([{ field: "message", problem: "expected a text" }]);
}

/** Finds a commit by its message among the newest commits after the commit `until`. */
async function findCommit(
  { client, path }: RepositoryContext,
  {
    message,
    description,
    branch,
    until,
    signal,
  }: CallOptions & { message: string; description: string; branch: string; until: string },
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
