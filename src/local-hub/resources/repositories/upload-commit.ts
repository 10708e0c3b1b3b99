import { HTTPException } from "hono/http-exception";
import type * as z from "zod/mini";
import type { commitResult } from "../../../hub/repositories/contents.ts";
import { CodedException, invalidRequest } from "../../error-response.ts";
import type { ContentStore, FileChange } from "../../git/content-store.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { commitChanges } from "./commit-changes.ts";
import { openPullRequest } from "./pull-requests.ts";
import type { UploadedCommit, UploadOperation } from "./upload-lines.ts";
import { maxRegularBytes } from "./upload-mode.ts";

interface CommitRequest extends UploadedCommit {
  repository: StoredRepository;
  /** The branch, or the ref of a pull request. */
  rev: string;
  createPullRequest: boolean;
  /** The name of the user. */
  user: string;
}

/**
 * Makes a commit that a client uploaded, on a branch or in a new pull request.
 *
 * @throws HTTPException 404 if the branch does not exist, 412 if the parent is not the head of the branch, 400 if an operation is
 *   invalid.
 */
export function makeUploadedCommit(hub: HubContext, request: CommitRequest): z.output<typeof commitResult> {
  const { repository, rev, createPullRequest, user, operations } = request;
  const { content } = hub.store;
  const { summary: title, description: message } = request.header;
  const ref = rev.startsWith("refs/") ? rev : `refs/heads/${rev}`;
  const parentId = request.header.parentCommit ?? undefined;
  // Short IDs of parents are allowed.
  const parent = parentId === undefined ? undefined : (content.resolve(repository.id, parentId)?.oid ?? parentId);
  const base = content.resolve(repository.id, createPullRequest ? (parent ?? rev) : ref);
  if (!base) throw new CodedException(404, { code: "RevisionNotFound", message: `Invalid rev id: ${rev}` });
  const changes = toFileChanges(content, { repositoryId: repository.id, tree: base.tree }, operations);
  if (!createPullRequest) {
    const { commit } = commitChanges(hub, { repository, ref, changes, title, message, user, parent });
    return toResult(hub, { repository, oid: commit.oid });
  }
  const opened = { repository, user, title, description: message, changes, parent: base.oid };
  const { commit, discussion } = openPullRequest(hub, opened);
  const pullRequestUrl = `${repositoryUrl(hub, repository)}/discussions/${discussion.num}`;
  return { ...toResult(hub, { repository, oid: commit.oid }), pullRequestUrl };
}

function toResult(hub: HubContext, { repository, oid }: { repository: StoredRepository; oid: string }) {
  return {
    success: true,
    commitOid: oid,
    commitUrl: `${repositoryUrl(hub, repository)}/commit/${oid}`,
    hookOutput: "",
  };
}

function repositoryUrl({ hubUrl }: HubContext, { type, name }: StoredRepository): string {
  return `${hubUrl}/${type === "model" ? "" : `${type}s/`}${name}`;
}

interface Target {
  repositoryId: string;
  /** The tree to which the changes are applied. */
  tree: string;
}

/**
 * Converts the operations of a client to changes of files.
 *
 * @throws HTTPException 400 if an operation is incomplete, or if a file is too large for git.
 */
function toFileChanges(content: ContentStore, target: Target, operations: readonly UploadOperation[]): FileChange[] {
  return operations.flatMap((operation): FileChange[] => {
    if (operation.key === "file") return fileChanges(content, target, operation.value);
    if (operation.key === "lfsFile") return largeFileChanges(content, target, operation.value);
    const { path } = operation.value;
    if (operation.key !== "deletedEntry") {
      return [{ path: trimSlash(path), deleted: operation.key === "deletedFolder" ? "folder" : "file" }];
    }
    const isFolder = content.find(target.tree, trimSlash(path))?.type === "directory";
    return [{ path: trimSlash(path), deleted: isFolder ? "folder" : "file" }];
  });
}

type ValueOf<Key extends UploadOperation["key"]> = Extract<UploadOperation, { key: Key }>["value"];

function fileChanges(
  store: ContentStore,
  target: Target,
  { path, content, encoding, oldPath }: ValueOf<"file">,
): FileChange[] {
  const moved: FileChange[] = oldPath === undefined ? [] : [{ path: oldPath, deleted: "file" }];
  if (content === undefined) return moveChanges(store, target, { path, oldPath });
  const bytes = decodeContent({ path, content, encoding });
  if (bytes.byteLength > maxRegularBytes) {
    throw new HTTPException(400, {
      message: `"${path}" has more than ${maxRegularBytes} bytes. Upload the file to LFS, and commit it as lfsFile.`,
    });
  }
  return [...moved, { path, content: bytes }];
}

function largeFileChanges(store: ContentStore, target: Target, value: ValueOf<"lfsFile">): FileChange[] {
  const { path, oid, oldPath } = value;
  if (oid === undefined) return moveChanges(store, target, { path, oldPath });
  const moved: FileChange[] = oldPath === undefined ? [] : [{ path: oldPath, deleted: "file" }];
  // The Python client omits the size of copied files.
  const size = value.size ?? store.findLarge(target.repositoryId, oid)?.size ?? 0;
  return [...moved, { path, lfs: { oid, size } }];
}

function moveChanges(
  store: ContentStore,
  { tree }: Target,
  { path, oldPath }: { path: string; oldPath: string | undefined },
): FileChange[] {
  if (oldPath === undefined) throw invalidRequest([`${path}: expected content, oid, or oldPath`]);
  const entry = store.find(tree, oldPath);
  if (entry?.type !== "file") throw invalidRequest([`oldPath: "${oldPath}" is not a file of the branch`]);
  return [
    { path: oldPath, deleted: "file" },
    { path, entry },
  ];
}

function trimSlash(path: string): string {
  return path.replace(/\/$/, "");
}

/** A file in the body of a request. */
interface EncodedFile {
  path: string;
  content: string;
  encoding: "utf-8" | "base64";
}

/**
 * Decodes the content of a file.
 *
 * @throws HTTPException 400 if the content is not in Base64, of which Node would decode a part only.
 */
export function decodeContent({ path, content, encoding }: EncodedFile): Buffer {
  const bytes = Buffer.from(content, encoding);
  if (encoding === "utf-8") return bytes;
  const digits = content.replace(/\s+/g, "").replace(/={1,2}$/, "").length;
  if (digits % 4 !== 1 && bytes.byteLength === Math.floor((digits * 3) / 4)) return bytes;
  throw invalidRequest([`${path}: expected content in Base64`]);
}
