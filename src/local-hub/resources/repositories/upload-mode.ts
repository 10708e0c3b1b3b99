import { parsePattern } from "./path-pattern.ts";

/** The maximum size of files that git stores, in bytes. As on the Hub, larger files must be in LFS. */
export const maxRegularBytes = 10_000_000;

/** A file that a client wants to upload. */
export interface UploadedFile {
  path: string;
  /** The size in bytes. */
  size: number;
  /** The start of the file. */
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

/**
 * Returns a function that decides whether `.gitignore` excludes a file.
 *
 * @param ignored is the content of `.gitignore`.
 */
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
