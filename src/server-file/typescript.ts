import { readFileSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { basename, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as z from "zod";
import { shownPath } from "./failure.ts";
import { serverFileInvalid } from "./invalid.ts";

/** What is told while files are loaded. */
export interface TypeScriptOptions {
  /** Called with the absolute path of each file of the user's own that is about to be loaded. */
  onLoad: (path: string) => void;
}

type Loader = "ts" | "tsx";

const loaders: Readonly<Record<string, Loader>> = { ".ts": "ts", ".mts": "ts", ".tsx": "tsx" };
const sourceOf: Readonly<Record<string, string>> = { ".js": ".ts", ".mjs": ".mts", ".jsx": ".tsx" };

/**
 * Makes this process load TypeScript as it is. Node strips types by itself; what it leaves, decorators, enums and JSX
 * among it, is lowered by esbuild, file by file and only where it is needed. An import of `./x.js` finds `./x.ts`, as
 * TypeScript has it, and a file with `import` or `export` is a module, whatever package.json says.
 *
 * @throws `SERVER_FILE_INVALID`, at an import, when a file needs esbuild and that is not installed.
 */
export function loadTypeScript({ onLoad }: TypeScriptOptions): void {
  registerHooks({
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
      const loader = loaders[extname(path)];
      if (loader === undefined) return nextLoad(url, context);
      const source = readFileSync(path, "utf8");
      if (loader === "tsx" || needsLowering(source)) {
        return { format: "module", source: lower({ source, path, loader }), shortCircuit: true };
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

type Transform = typeof import("esbuild").transformSync;

function lower({ source, path, loader }: { source: string; path: string; loader: Loader }): string {
  const transform = findTransform(path);
  try {
    const { code } = transform(source, {
      loader,
      format: "esm",
      jsx: "automatic",
      // Engines do not run decorators yet; all else they know.
      target: "es2024",
      sourcemap: "inline",
      sourcefile: pathToFileURL(path).href,
      logLevel: "silent",
      // Standard decorators are the ones that endpoints are made with, whatever a tsconfig.json above says.
      tsconfigRaw: { compilerOptions: { experimentalDecorators: false } },
    });
    return code;
  } catch (cause) {
    throw serverFileInvalid(syntaxProblem(path, cause), { cause });
  }
}

/** What esbuild says of the first thing that it cannot read. */
function syntaxProblem(path: string, cause: unknown): string {
  const shown = shownPath(path);
  const parsed = z
    .object({ errors: z.tuple([z.object({ text: z.string(), location: location.nullish() })], z.unknown()) })
    .safeParse(cause);
  if (!parsed.success) return `${shown} cannot be lowered.`;
  const [{ text, location: place }] = parsed.data.errors;
  return place
    ? `${shown}:${place.line}:${place.column + 1}: ${text} in: ${place.lineText.trim()}`
    : `${shown}: ${text}`;
}

const location = z.object({ line: z.number(), column: z.number(), lineText: z.string() });

function findTransform(path: string): Transform {
  try {
    // Not imported: a file without decorators is to run where esbuild, which is optional, was left out.
    const esbuild: { transformSync: Transform } = createRequire(import.meta.url)("esbuild");
    return esbuild.transformSync;
  } catch (cause) {
    throw serverFileInvalid(
      `${basename(path)} has decorators or other syntax that Node does not run, and esbuild, which lowers it, is not installed: npm install --save-dev esbuild, or register the handlers as functions.`,
      { cause },
    );
  }
}
