/** A file that differs between two revisions. */
export interface ChangedFile {
  /** The path in the newer revision, or the path of the deleted file. */
  path: string;
  /** `renamed`: the content is at another path, and can differ. A copied file is `added`. */
  status: "added" | "modified" | "deleted" | "renamed";
  /** The path in the older revision. Only renamed files have this field. */
  previousPath?: string;
}

/** A file in the tree of a revision. */
export interface TreeFile {
  path: string;
  /** The ID of the content. */
  oid: string;
}

/**
 * Compares the files of two revisions. A deleted and an added file with the same content are a renamed file.
 *
 * Time and memory grow with the number of files.
 */
export function compareTrees(older: readonly TreeFile[], newer: readonly TreeFile[]): ChangedFile[] {
  const remaining = new Map(older.map(({ path, oid }) => [path, oid]));
  const changed: ChangedFile[] = [];
  const added: TreeFile[] = [];
  for (const file of newer) {
    const before = remaining.get(file.path);
    remaining.delete(file.path);
    if (before === undefined) added.push(file);
    else if (before !== file.oid) changed.push({ path: file.path, status: "modified" });
  }
  const deleted = Map.groupBy(remaining.keys(), (path) => remaining.get(path) ?? "");
  for (const { path, oid } of added) {
    const previousPath = deleted.get(oid)?.shift();
    if (previousPath === undefined) changed.push({ path, status: "added" });
    else changed.push({ path, status: "renamed", previousPath });
  }
  for (const path of [...deleted.values()].flat()) changed.push({ path, status: "deleted" });
  return sortByPath(changed);
}

/** Sorts files by path, in the order of UTF-16 code units. */
function sortByPath(files: ChangedFile[]): ChangedFile[] {
  return files.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/**
 * Returns the changed files of a diff from git: the output of `git diff` (with patches), or of `git diff --raw`. Returns
 * `undefined` if the text is not such a diff, or if a name in it is ambiguous.
 */
export function readDiff(diff: string): ChangedFile[] | undefined {
  if (diff.trim() === "") return [];
  const files = diff.startsWith(":") ? readRawDiff(diff) : readPatches(diff);
  return files && sortByPath(files);
}

const rawStatuses: Readonly<Record<string, ChangedFile["status"]>> = {
  A: "added",
  C: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  T: "modified",
};

/** Reads lines such as `:100644 100644 bcd1234 0123456 M<tab>README.md`. */
function readRawDiff(diff: string): ChangedFile[] | undefined {
  const files: ChangedFile[] = [];
  for (const line of diff.trimEnd().split("\n")) {
    const [, letter = "", names = ""] = /^:\d{6} \d{6} [0-9a-f]+\.* [0-9a-f]+\.* ([A-Z])\d*\t(.+)$/.exec(line) ?? [];
    const [first, second] = names.split("\t").map(unquote);
    const status = rawStatuses[letter];
    if (status === undefined || !first) return undefined;
    if (letter !== "R" && letter !== "C") files.push({ path: first, status });
    else if (!second) return undefined;
    else files.push({ path: second, status, ...(letter === "R" && { previousPath: first }) });
  }
  return files;
}

/** Reads the headers of patches. Lines of content never look like headers, because they start with a space, `+`, `-`, or `\`. */
function readPatches(diff: string): ChangedFile[] | undefined {
  const files: ChangedFile[] = [];
  let header: string[] | undefined;
  let isHeader = false;
  for (const line of linesOf(diff)) {
    if (line.startsWith("diff --git ")) {
      if (header && !addFile(header, files)) return undefined;
      header = [];
      isHeader = true;
    }
    if (header === undefined) return undefined;
    if (line.startsWith("@@ ") || line === "GIT binary patch") isHeader = false;
    if (isHeader) header.push(line);
  }
  return header && addFile(header, files) ? files : undefined;
}

/** Yields the lines of a text without copying all of them at once, because a diff can have millions of lines. */
function* linesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end === -1 ? text.length : end);
    if (end === -1) return;
    start = end + 1;
  }
}

/** Adds the file of a header. Returns `false` if its name cannot be read. */
function addFile(header: readonly string[], files: ChangedFile[]): boolean {
  const lineAfter = (prefix: string) => header.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const previousPath = unquote(lineAfter("rename from ") ?? "");
  const target = lineAfter("rename to ") ?? lineAfter("copy to ");
  const path = target === undefined ? pathOf(header, lineAfter) : unquote(target);
  if (!path) return false;
  if (previousPath) files.push({ path, status: "renamed", previousPath });
  else if (target !== undefined || lineAfter("new file mode ") !== undefined) files.push({ path, status: "added" });
  else files.push({ path, status: lineAfter("deleted file mode ") === undefined ? "modified" : "deleted" });
  return true;
}

function pathOf(
  [first = ""]: readonly string[],
  lineAfter: (prefix: string) => string | undefined,
): string | undefined {
  // Git ends names that contain spaces with a tab.
  const named = [lineAfter("+++ "), lineAfter("--- ")].find((name) => name !== undefined && name !== "/dev/null");
  if (named !== undefined) return withoutPrefix(unquote(named.replace(/\t$/, "")));
  return pathOfFirstLine(first.slice("diff --git ".length));
}

/** Returns the name in `a/name b/name`. Both names are equal, because renamed files have other lines with their names. */
function pathOfFirstLine(names: string): string | undefined {
  if (names.startsWith('"')) {
    const [, second] = /^"(?:[^"\\]|\\.)*" ("(?:[^"\\]|\\.)*")$/.exec(names) ?? [];
    return withoutPrefix(unquote(second ?? ""));
  }
  const middle = (names.length - 1) / 2;
  const [old, current] = [names.slice(0, middle), names.slice(middle + 1)];
  return withoutPrefix(old) === withoutPrefix(current) ? withoutPrefix(current) : undefined;
}

function withoutPrefix(name: string | undefined): string | undefined {
  return name !== undefined && /^[ab]\//.test(name) ? name.slice(2) : undefined;
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

/**
 * Decodes a name that git quotes, such as `"caf\303\251"`: its escapes are bytes in UTF-8. Other names are returned unchanged.
 * Returns `undefined` for an invalid name.
 */
function unquote(name: string): string | undefined {
  if (!name.startsWith('"')) return name;
  if (!/^"(?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*"$/.test(name)) return undefined;
  const bytes: number[] = [];
  for (const [part, escaped = ""] of name.slice(1, -1).matchAll(/\\([0-7]{3}|.)|[^\\]+/g)) {
    if (escaped === "") bytes.push(...new TextEncoder().encode(part));
    else bytes.push(escapes[escaped] ?? Number.parseInt(escaped, 8));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
  } catch {
    return undefined;
  }
}
