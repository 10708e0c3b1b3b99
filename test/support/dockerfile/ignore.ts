interface Rule {
  pattern: RegExp;
  text: string;
  keeps: boolean;
}

/** Tells which paths of a context a `.dockerignore` keeps out of it. The last rule that fits decides. */
export interface DockerIgnore {
  ignores(path: string): boolean;
  /** Whether nothing below this folder can be wanted, so that nobody needs to look. */
  ignoresAllBelow(folder: string): boolean;
}

/** Reads a `.dockerignore`. */
export function parseDockerIgnore(text: string): DockerIgnore {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(parseRule);
  const ignores = (path: string) => {
    const last = rules.findLast(({ pattern }) => pattern.test(path));
    return last !== undefined && !last.keeps;
  };
  return {
    ignores,
    ignoresAllBelow(folder) {
      const keptBelow = rules.some(({ keeps, text }) => keeps && (text.includes("*") || text.startsWith(`${folder}/`)));
      return ignores(folder) && !keptBelow;
    },
  };
}

function parseRule(line: string): Rule {
  const keeps = line.startsWith("!");
  const text = line.slice(keeps ? 1 : 0).replace(/^\/|\/$/g, "");
  if (/[[\]?\\]/.test(text)) throw new Error(`.dockerignore, ${line}: only * and ** are known here.`);
  // `**/` fits no folder at all too, and what fits a folder fits everything in it.
  const source = text
    .split(/(\*\*\/|\*\*|\*)/)
    .map((part) => {
      if (part === "**/") return "(?:.*/)?";
      if (part === "**") return ".*";
      return part === "*" ? "[^/]*" : part.replace(/[.^$+(){}|]/g, "\\$&");
    })
    .join("");
  return { text, keeps, pattern: new RegExp(`^${source}(?:/.*)?$`) };
}
