import { HTTPException } from "hono/http-exception";
import { invalidRequest } from "../../error-response.ts";
import type { ContentStore, FileChange } from "../../git/content-store.ts";
import { decodeContent } from "./file-content.ts";
import type { UploadOperation } from "./upload-lines.ts";
import { maxRegularBytes } from "./upload-mode.ts";

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
export function toFileChanges(
  content: ContentStore,
  target: Target,
  operations: readonly UploadOperation[],
): FileChange[] {
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
