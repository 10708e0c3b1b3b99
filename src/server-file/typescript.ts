import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { lowerTypeScript } from "./lower.ts";

/** What is told while files are loaded. */
export interface TypeScriptOptions {
  /** Called with the absolute path of each file of the user's own that is about to be loaded. */
  onLoad: (path: string) => void;
}

const loweredExtensions: ReadonlySet<string> = new Set([".ts", ".mts", ".tsx"]);
const sourceOf: Readonly<Record<string, string>> = { ".js": ".ts", ".mjs": ".mts", ".jsx": ".tsx" };

/**
 * Makes this process load TypeScript as it is. Node strips types by itself; what it leaves, decorators, enums and JSX
 * among it, is lowered by swc, file by file and only where it is needed. An import of `./x.js` finds `./x.ts`, as
 * TypeScript has it, and a file with `import` or `export` is a module, whatever package.json says.
 *
 * @throws `SERVER_FILE_INVALID`, at an import, when a file needs swc and that is not installed.
 */
export function loadTypeScript({ onLoad }: TypeScriptOptions): void {
  // Not imported by name, which would fail where there are no hooks, before anything can report it.
  nodeModule.registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        const source = sourceSpecifier(specifier, context.parentURL);
        if (source === undefined) throw error;
        try {
          return nextResolve(source, context);
        } catch {
          throw error;
        }
      }
    },
    load(url, context, nextLoad) {
      if (!url.startsWith("file:") || url.includes("/node_modules/")) return nextLoad(url, context);
      const path = fileURLToPath(url);
      onLoad(path);
      const extension = extname(path);
      if (!loweredExtensions.has(extension)) return nextLoad(url, context);
      const source = readFileSync(path, "utf8");
      const hasJsx = extension === ".tsx";
      if (hasJsx || needsLowering(source)) {
        return { format: "module", source: lowerTypeScript({ source, path, hasJsx }), shortCircuit: true };
      }
      return nextLoad(url, isModule(source) ? { ...context, format: "module-typescript" } : context);
    },
  });
}

/** The TypeScript file that an import of its output means. */
function sourceSpecifier(specifier: string, parentUrl: string | undefined): string | undefined {
  if (!/^(\.{0,2}\/|file:)/.test(specifier) || !parentUrl || !/\.[mc]?tsx?$/.test(parentUrl)) return undefined;
  const extension = extname(specifier);
  const source = sourceOf[extension];
  return source && `${specifier.slice(0, -extension.length)}${source}`;
}

/** Decorators, enums, namespaces and parameter properties. What only looks like one of them is lowered for nothing. */
function needsLowering(source: string): boolean {
  return (
    /(^\s*|[{;}]\s+)@[\w(]/m.test(source) ||
    /\b(enum|namespace)\s+[\w.]+\s*\{/.test(source) ||
    /\bconstructor\s*\([^)]*\b(public|private|protected|readonly)\s/.test(source)
  );
}

function isModule(source: string): boolean {
  return /^\s*(import|export)\b(?!\s+\w+\s*=\s*require\b)/m.test(source);
}
