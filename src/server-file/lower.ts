import { createRequire } from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { shownPath } from "./failure.ts";
import { serverFileInvalid } from "./invalid.ts";

/** A source file with syntax that Node does not run. */
export interface LowerOptions {
  source: string;
  /** Its absolute path. */
  path: string;
  hasJsx: boolean;
}

/** What is used of swc, whose own types lack the targets and decorators of today. */
interface Compiler {
  transformSync(source: string, options: object): { code: string };
}

/**
 * Lowers decorators, enums, namespaces, parameter properties and JSX of a TypeScript file, by swc. As WebAssembly it runs
 * everywhere and installs without a script, which pnpm would refuse to run.
 *
 * @throws `SERVER_FILE_INVALID` when swc is not installed, or cannot parse the file.
 */
export function lowerTypeScript({ source, path, hasJsx }: LowerOptions): string {
  const { transformSync } = loadCompiler(path);
  const options = {
    filename: path,
    sourceFileName: pathToFileURL(path).href,
    sourceMaps: "inline",
    inlineSourcesContent: false,
    // Whatever .swcrc and tsconfig.json stand above.
    swcrc: false,
    configFile: false,
    isModule: true,
    module: { type: "es6" },
    jsc: {
      // Engines do not run decorators yet; all else they know.
      target: "es2024",
      parser: { syntax: "typescript", tsx: hasJsx, decorators: true },
      // The decorators of TypeScript 5, which endpoints are made with.
      transform: { decoratorVersion: "2023-11", react: { runtime: "automatic" } },
      externalHelpers: false,
    },
  };
  try {
    return transformSync(source, options).code;
  } catch (cause) {
    throw serverFileInvalid(syntaxProblem(path, cause), { cause });
  }
}

function loadCompiler(path: string): Compiler {
  try {
    // Not imported: a file without decorators is to run where swc, which is optional, was left out.
    return createRequire(import.meta.url)("@swc/wasm");
  } catch (cause) {
    throw serverFileInvalid(
      `${basename(path)} has decorators or other syntax that Node does not run, and @swc/wasm, which lowers it, is not installed: npm install --save-dev @swc/wasm, or register the handlers as functions.`,
      { cause },
    );
  }
}

/**
 * The first problem that swc reports. It throws a text for people:
 *
 * ```
 *   x Expected ',', got '}'
 *    ,-[/bot/server.ts:2:1]
 *  1 | const a = 1;
 *  2 | class A { @d m({} }
 *    :                   ^
 * ```
 */
function syntaxProblem(path: string, cause: unknown): string {
  const shown = shownPath(path);
  const text = typeof cause === "string" ? cause : "";
  const [, reason] = /^\s*x (.+)$/m.exec(text) ?? [];
  if (reason === undefined) return `${shown} cannot be lowered.`;
  const [, line, code, marker] = /^\s*(\d+) \| (.*)\n\s*: (\s*)\^/m.exec(text) ?? [];
  if (line === undefined || code === undefined || marker === undefined) return `${shown}: ${reason}`;
  return `${shown}:${line}:${marker.length + 1}: ${reason} in: ${code.trim()}`;
}
