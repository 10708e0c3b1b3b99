interface Rule {
  pattern: RegExp;
  text: string;
  keeps: boolean;
}

/** Matches paths of a build context against a `.dockerignore`. The last matching rule decides. */
export interface DockerIgnore {
  ignores(path: string): boolean;
  /** Whether the folder and all its contents are ignored, so that it can be skipped. */
  ignoresAllBelow(folder: string): boolean;
}

/** Parses a `.dockerignore` file. */
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
  if (/[[\]?\\]/.test(text)) throw new Error(`.dockerignore, ${line}: only * and ** are supported.`);
  // `**/` also matches zero folders. A pattern that matches a folder also matches its contents.
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
