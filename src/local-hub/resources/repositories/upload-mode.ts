/** The maximum size of files that git stores, in bytes. As on the Hub, larger files must be in LFS. */
export const maxRegularBytes = 10_000_000;

/** The maximum sizes of files that the Python client sends in the commit, in bytes: of a file, and of all files of an upload. */
const maxInlineBytes = { file: 50_000_000, all: 180_000_000 };

/** The Python client sends files of the mode `lfs` to Xet storage, without asking for the transfers of the server. */
export function requiresXet(userAgent: string | undefined): boolean {
  return /\bhf_hub\//.test(userAgent ?? "");
}

/** Decides which files of the mode `lfs` a client can send in the commit instead, within the limits of a commit. */
export function createInlineMode(): (mode: "regular" | "lfs", size: number) => "regular" | "lfs" {
  let total = 0;
  return (mode, size) => {
    if (size > maxInlineBytes.file || (mode === "lfs" && total + size > maxInlineBytes.all)) return mode;
    total += size;
    return "regular";
  };
}

interface UploadedFile {
  path: string;
  size: number;
  sample: Uint8Array;
}

/**
 * Returns a function that decides how files are uploaded. Files of more than 10 MB, files that `.gitattributes` assigns to LFS, and
 * binary files are uploaded to LFS.
 *
 * @param attributes is the content of `.gitattributes`.
 */
export function createUploadMode(attributes: string): (file: UploadedFile) => "regular" | "lfs" {
  const rules = linesOf(attributes).flatMap((line) => {
    const [pattern = "", ...values] = line.split(/\s+/);
    const filter = values.findLast((value) => /^[-!]?filter(=|$)/.test(value));
    return filter === undefined ? [] : [{ matches: parsePattern(pattern), isLarge: filter === "filter=lfs" }];
  });
  return ({ path, size, sample }) => {
    if (size > maxRegularBytes) return "lfs";
    // Git LFS has no pointers to empty files.
    if (size === 0) return "regular";
    const rule = rules.findLast(({ matches }) => matches(path));
    return (rule?.isLarge ?? sample.includes(0)) ? "lfs" : "regular";
  };
}

/** `ignored` is the content of `.gitignore`. */
export function createIgnore(ignored: string): (path: string) => boolean {
  const rules = linesOf(ignored).map((line) => {
    const isNegated = line.startsWith("!");
    const text = line.replace(/^!/, "").trimEnd();
    const onlyFolders = text.endsWith("/");
    return { isNegated, onlyFolders, matches: parsePattern(text.replace(/\/$/, "")) };
  });
  return (path) => {
    const segments = path.split("/");
    // A file in an ignored folder is ignored, even if a later rule includes the file again.
    return segments.some((_, index) => {
      const isFile = index === segments.length - 1;
      const part = segments.slice(0, index + 1).join("/");
      const rule = rules.findLast(({ onlyFolders, matches }) => !(onlyFolders && isFile) && matches(part));
      return rule !== undefined && !rule.isNegated;
    });
  };
}

function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trimStart())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

type PathMatcher = (path: string) => boolean;

/**
 * Parses a pattern of `.gitattributes` or `.gitignore`. Patterns without a slash match names in all folders. `*` and `?` match within a
 * name, `**` matches any number of folders. The time to match grows only with the product of the lengths, because the patterns come
 * from uploads.
 */
export function parsePattern(pattern: string): PathMatcher {
  const anchored = pattern.includes("/");
  const segments = pattern.replace(/^\//, "").split("/");
  if (!anchored) return (path) => matchesName(pattern, path.slice(path.lastIndexOf("/") + 1));
  return (path) => matchesSequence(segments, path.split("/"), (segment) => segment === "**", matchesName);
}

function matchesName(pattern: string, name: string): boolean {
  return matchesSequence(splitParts(pattern), [...name], (part) => part === "*", matchesChar);
}

/** Splits a pattern into characters, escaped characters, and classes such as `[a-z]`. */
function splitParts(pattern: string): string[] {
  // Without this split, each "[" after the last "]" would search the rest of the pattern.
  const end = pattern.lastIndexOf("]") + 1;
  return [
    ...(pattern.slice(0, end).match(/\\.|\[!?\]?[^\]]*\]|[\s\S]/g) ?? []),
    ...(pattern.slice(end).match(/\\.|[\s\S]/g) ?? []),
  ];
}

function matchesChar(part: string, char: string): boolean {
  if (part === "?") return true;
  if (part.startsWith("\\") && part.length > 1) return part[1] === char;
  const [, negated, listed] = /^\[([!^]?)([\s\S]+)\]$/.exec(part) ?? [];
  if (listed === undefined) return part === char;
  const isListed = [...listed.matchAll(/([\s\S])-([\s\S])|([\s\S])/g)].some(([, from, to, single]) =>
    from !== undefined && to !== undefined ? from <= char && char <= to : single === char,
  );
  return isListed !== (negated !== "");
}

/** Wildcards stand for any number of items. After a mismatch, only the last wildcard needs to take another item. */
function matchesSequence(
  parts: readonly string[],
  items: readonly string[],
  isWildcard: (part: string) => boolean,
  matches: (part: string, item: string) => boolean,
): boolean {
  let [part, item] = [0, 0];
  let wildcard: { part: number; item: number } | undefined;
  while (item < items.length) {
    const [wanted, found = ""] = [parts[part], items[item]];
    if (wanted !== undefined && isWildcard(wanted)) {
      wildcard = { part, item };
      part += 1;
    } else if (wanted !== undefined && matches(wanted, found)) {
      part += 1;
      item += 1;
    } else if (wildcard) {
      wildcard.item += 1;
      part = wildcard.part + 1;
      item = wildcard.item;
    } else {
      return false;
    }
  }
  return parts.slice(part).every(isWildcard);
}
