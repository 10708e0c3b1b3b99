import { formatPatch, structuredPatch } from "diff";
import type { ContentStore } from "./content-store.ts";
import type { FileEntry } from "./tree-entry.ts";
import type { ChangedPath } from "./tree-store.ts";

/** The maximum size of a file whose lines are compared, in bytes. The comparison takes up to quadratic time. */
const maxComparedBytes = 256 * 1024;
const missingId = "0".repeat(40);
const idLength = 10;

/** Formats changes like `git diff`. Binary and large files have a header only. Files in LFS are compared by their pointer files. */
export function formatDiff(content: ContentStore, changes: Iterable<ChangedPath>): string {
  let text = "";
  for (const change of changes) text += formatChange(content, change);
  return text;
}

/** Formats changes like `git diff --raw`: one line per path. */
export function formatRawDiff(changes: Iterable<ChangedPath>): string {
  let text = "";
  for (const { path, before, after } of changes) {
    const letter = before ? (after ? "M" : "D") : "A";
    const modes = `:${before ? "100644" : "000000"} ${after ? "100644" : "000000"}`;
    text += `${modes} ${shortId(before)} ${shortId(after)} ${letter}\t${quote(path)}\n`;
  }
  return text;
}

function formatChange(content: ContentStore, { path, before, after }: ChangedPath): string {
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
  const patch = structuredPatch(oldLabel, newLabel, oldText, newText, undefined, undefined, { context: 3 });
  if (patch.hunks.length === 0) return header;
  const formatted = formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: false });
  return `${header}--- ${endName(oldLabel)}\n+++ ${endName(newLabel)}\n${omitSingleCounts(formatted)}`;
}

/** Adds the tab with which git ends a name that contains spaces. */
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
