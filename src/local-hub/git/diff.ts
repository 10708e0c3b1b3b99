import { formatPatch, structuredPatch } from "diff";
import type { ContentStore, FileChange } from "./content-store.ts";
import type { ChangedPath, FileEntry } from "./tree-store.ts";

const maxComparedBytes = 256 * 1024;
/** The maximum number of lines that differ. The comparison takes quadratic time, so that more differences would block the process. */
const maxDifferences = 500;
const missingId = "0".repeat(40);
const idLength = 10;

/** Formats changes like `git diff`. Binary and large files have a header only. Files in LFS are compared by their pointer files. */
export function formatDiff(content: ContentStore, changes: Iterable<DiffedPath>): string {
  return Array.from(changes, (change) => formatChange(content, change)).join("");
}

/** A change of a file: its hunks as in `git diff`, or why it has none. */
export interface FilePatch {
  patch?: string;
  reason?: "binary" | "large" | "LFS";
}

/** Formats the hunks of one change. Renamed and empty files have none, and files in LFS are not compared. */
export function formatPatchOf(content: ContentStore, change: DiffedPath): FilePatch {
  const files = [change.before, change.after].filter((file) => file !== undefined);
  if (change.previousPath !== undefined) return {};
  if (files.some(({ lfs }) => lfs)) return { reason: "LFS" };
  if (files.some(({ size }) => size > maxComparedBytes)) return { reason: "large" };
  const [oldText, newText] = [readText(content, change.before), readText(content, change.after)];
  if (oldText === undefined || newText === undefined) return { reason: "binary" };
  const hunks = formatHunks(oldText, newText);
  return hunks === "" ? {} : { patch: omitSingleCounts(hunks) };
}

/** Formats changes like `git diff --raw`: one line per path. */
export function formatRawDiff(changes: Iterable<DiffedPath>): string {
  let text = "";
  for (const { path, previousPath, before, after } of changes) {
    const letter = before ? (after ? "M" : "D") : "A";
    const modes = `:${before ? "100644" : "000000"} ${after ? "100644" : "000000"}`;
    const status = previousPath === undefined ? letter : `R100\t${quote(previousPath)}`;
    text += `${modes} ${shortId(before)} ${shortId(after)} ${status}\t${quote(path)}\n`;
  }
  return text;
}

function formatChange(content: ContentStore, { path, previousPath, before, after }: DiffedPath): string {
  if (previousPath !== undefined) return formatRename(previousPath, path);
  const [oldName, newName] = [quote(`a/${path}`), quote(`b/${path}`)];
  const mode = before && after ? " 100644" : "";
  const lines = [
    `diff --git ${oldName} ${newName}`,
    ...(before ? [] : ["new file mode 100644"]),
    ...(after ? [] : ["deleted file mode 100644"]),
    `index ${shortId(before)}..${shortId(after)}${mode}`,
  ];
  const header = `${lines.join("\n")}\n`;
  const [oldText, newText] = [readText(content, before), readText(content, after)];
  const [oldLabel, newLabel] = [before ? oldName : "/dev/null", after ? newName : "/dev/null"];
  if (oldText === undefined || newText === undefined) {
    return `${header}Binary files ${oldLabel} and ${newLabel} differ\n`;
  }
  const formatted = formatHunks(oldText, newText);
  if (formatted === "") return header;
  return `${header}--- ${endName(oldLabel)}\n+++ ${endName(newLabel)}\n${omitSingleCounts(formatted)}`;
}

function formatRename(from: string, to: string): string {
  const names = `rename from ${quote(from)}\nrename to ${quote(to)}\n`;
  return `diff --git ${quote(`a/${from}`)} ${quote(`b/${to}`)}\nsimilarity index 100%\n${names}`;
}

/** Compares two texts by lines. Texts with too many differences are replaced as a whole. */
function formatHunks(before: string, after: string): string {
  const options = { context: 3, maxEditLength: maxDifferences };
  const patch =
    before === "" || after === "" ? undefined : structuredPatch("", "", before, after, undefined, undefined, options);
  if (!patch) return formatReplacement(before, after);
  if (patch.hunks.length === 0) return "";
  return formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: false });
}

function formatReplacement(before: string, after: string): string {
  if (before === after) return "";
  const [old, current] = [before, after].map((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
  const range = (lines: readonly string[] = []) => (lines.length === 0 ? "0,0" : `1,${lines.length}`);
  const format = (sign: string, lines: readonly string[] = []) =>
    lines.map((line) => `${sign}${line}${line.endsWith("\n") ? "" : "\n\\ No newline at end of file\n"}`).join("");
  return `@@ -${range(old)} +${range(current)} @@\n${format("-", old)}${format("+", current)}`;
}

function endName(label: string): string {
  return label.includes(" ") ? `${label}\t` : label;
}

/** Removes counts of one line from the headers of hunks, like git. Lines of content never start with `@`. */
function omitSingleCounts(hunks: string): string {
  return hunks.replaceAll(/^@@ .* @@$/gm, (header) => header.replaceAll(/,1(?= )/g, ""));
}

/** Returns the text of a file, `""` for a missing file, or `undefined` for a binary or large file. */
function readText(content: ContentStore, file: FileEntry | undefined): string | undefined {
  if (!file) return "";
  const bytes = content.read(file);
  // git also treats files with a NUL byte at the start as binary.
  if (bytes.byteLength > maxComparedBytes || bytes.subarray(0, 8_000).includes(0)) return undefined;
  return new TextDecoder().decode(bytes);
}

function shortId(file: FileEntry | undefined): string {
  return (file?.oid ?? missingId).slice(0, idLength);
}

/** Quotes a name like git: characters other than printable ASCII are written as octal bytes. */
function quote(name: string): string {
  if (/^[ !#-[\]-~]*$/.test(name)) return name;
  const quoted = Array.from(Buffer.from(name), (byte) => {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === "\\") return `\\${character}`;
    return byte >= 0x20 && byte < 0x7f ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${quoted.join("")}"`;
}

/** A changed path, and the previous path of a renamed file. */
export interface DiffedPath extends ChangedPath {
  previousPath?: string;
}

/** Replaces deleted and added files with the same content by renamed files, which git shows at their new path. */
export function findRenames(changes: Iterable<ChangedPath>): DiffedPath[] {
  const all = [...changes];
  const deleted = Map.groupBy(
    all.filter(({ after }) => !after),
    ({ before }) => before?.oid ?? "",
  );
  const sources = new Set<ChangedPath>();
  const diffed = all.map((change): DiffedPath => {
    const candidates = change.before || !change.after ? [] : (deleted.get(change.after.oid) ?? []);
    const source = candidates.find((candidate) => !sources.has(candidate));
    if (!source?.before) return change;
    sources.add(source);
    return { ...change, before: source.before, previousPath: source.path };
  });
  return diffed.filter((change) => !sources.has(change));
}

/**
 * Merges whole files: a path that only the source changed since the base is taken from the source. Lines within a file are not merged,
 * so two different changes of one file are a conflict, even if git could combine them. Returns the changes to apply to the target, and the
 * paths that both sides changed differently.
 */
export function mergeTrees(
  content: ContentStore,
  { base, target, source }: { base: string | undefined; target: string; source: string },
) {
  const changedInTarget = new Map(Array.from(content.compare(base, target), (change) => [change.path, change]));
  const changedInSource = [...content.compare(base, source)];
  const deleted = new Set(changedInSource.filter(({ after }) => !after).map(({ path }) => path));
  const changes: FileChange[] = [];
  const conflicts: string[] = [];
  for (const change of changedInSource) {
    const { path } = change;
    const other = changedInTarget.get(path);
    if (other && other.after?.oid === change.after?.oid) continue;
    if (other || isBlocked(content, target, change, deleted)) conflicts.push(change.path);
    else changes.push(change.after ? { path, entry: change.after } : { path, deleted: "file" });
  }
  return { changes, conflicts };
}

/** Whether the target has a folder in the place of a new file, or a file in the place of its folder, which the source does not delete. */
function isBlocked(content: ContentStore, target: string, change: ChangedPath, deleted: ReadonlySet<string>): boolean {
  const { path, before, after } = change;
  if (before || !after) return false;
  const isKeptFile = (entry: FileEntry | undefined) => entry?.type === "file" && !deleted.has(entry.path);
  const segments = path.split("/");
  const folders = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
  if (folders.some((folder) => isKeptFile(content.find(target, folder)))) return true;
  if (content.find(target, path)?.type !== "directory") return false;
  return [...content.list(target, { path, recursive: true })].some(isKeptFile);
}
