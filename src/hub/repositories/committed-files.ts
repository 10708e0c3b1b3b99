import { argumentInvalid } from "../validation/arguments.ts";

/**
 * The files of a commit, by path. A string is stored as UTF-8. `null` deletes the file, or the folder with all its files.
 *
 * @example
 * ```ts
 * const files: CommitFiles = { "README.md": "# Data\n", "data/old.csv": null };
 * ```
 */
export type CommitFiles = Readonly<Record<string, string | Uint8Array | null>>;

/** A file to write or delete. */
export interface FileWrite {
  path: string;
  /** `undefined`: delete the file or folder. */
  content: Uint8Array | undefined;
}

/** What a revision contains at a path. */
export interface ExistingEntry {
  path: string;
  type: string;
  oid: string;
}

/** A file to write or delete, which a revision contains in another form. */
export interface NeededWrite extends FileWrite {
  /** Whether the path is a folder in the revision. */
  isFolder: boolean;
}

/**
 * Checks and encodes the files of a commit.
 *
 * @throws `ARGUMENT_INVALID`
 */
export function readCommitFiles(files: CommitFiles): FileWrite[] {
  const entries = Object.entries(typeof files === "object" && files !== null ? files : {});
  if (entries.length === 0) throw argumentInvalid([{ field: "files", problem: "expected at least one file" }]);
  const problems = entries.flatMap(([path, content]) => {
    const problem = problemOf(path, content);
    return problem === undefined ? [] : [{ field: `files[${JSON.stringify(path)}]`, problem }];
  });
  if (problems.length > 0) throw argumentInvalid(problems);
  const encoder = new TextEncoder();
  return entries.map(([path, content]) => ({
    path,
    content: typeof content === "string" ? encoder.encode(content) : (content ?? undefined),
  }));
}

function problemOf(path: string, content: unknown): string | undefined {
  if (!isFilePath(path)) return 'expected a path such as "data/train.csv", without ".", "..", ".git", or empty parts';
  if (content === null || content instanceof Uint8Array) return undefined;
  if (typeof content !== "string") return "expected a string, a Uint8Array, or null";
  return content.isWellFormed() ? undefined : "expected well-formed Unicode";
}

function isFilePath(path: string): boolean {
  const parts = path.split("/");
  const isUsable = (part: string) => !/^(?:|\.|\.\.|\.git)$/i.test(part);
  return path.isWellFormed() && !path.includes("\0") && parts.every(isUsable);
}

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
  return entry.oid === (await blobId(content)) || entry.oid === (await pointerId(content));
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // Larger parts exceed the maximum number of arguments.
  for (let start = 0; start < bytes.byteLength; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary);
}

const encoder = new TextEncoder();

/** Returns the ID that git gives to a file with this content, as 40 hexadecimal digits. */
export async function blobId(content: Uint8Array): Promise<string> {
  const header = encoder.encode(`blob ${content.byteLength}\0`);
  const object = new Uint8Array(header.byteLength + content.byteLength);
  object.set(header);
  object.set(content, header.byteLength);
  return toHex(await crypto.subtle.digest("SHA-1", object));
}

/** Returns the ID that git gives to the pointer of a large file (Git LFS) with this content. */
export async function pointerId(content: Uint8Array): Promise<string> {
  const oid = toHex(await crypto.subtle.digest("SHA-256", new Uint8Array(content)));
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.byteLength}\n`;
  return blobId(encoder.encode(pointer));
}

function toHex(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
