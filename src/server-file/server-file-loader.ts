import { existsSync, readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { createRequire } from "node:module";
import { basename, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { interceptLaunches, isControllableServer } from "../receiver/control.ts";
import type { LaunchedServer } from "../receiver/options.ts";
import type { WebhooksServer } from "../receiver/server.ts";
import {
  createMask,
  displayPath,
  explainLoadFailure,
  type LoadFailure,
  readCodeFrame,
  serverFileInvalid,
  sourceFolder,
} from "./load-failure.ts";

/** Loads one server file in this process. The loaded server does not listen. */
export class ServerFileLoader {
  #loading: string | undefined;
  #path = "";
  // Created before a session replaces INBOX_URL, whose password the file can still print.
  readonly #mask = createMask();

  /**
   * Imports a JavaScript or TypeScript file and returns its server: the default export, the server that the file
   * launches, or the shared server of `webhookEndpoint`, in this order of precedence.
   *
   * @throws `SERVER_FILE_INVALID` when the file creates no server, or launches several servers and exports none; any
   * error that the file throws.
   * @example
   * ```ts
   * const server = await new ServerFileLoader().load({ path: "/home/me/bot/server.ts", launchResult });
   * ```
   */
  async load({
    path,
    launchResult,
    onLoad,
  }: {
    /** The absolute path of the file. */
    path: string;
    /** The value that `launch()` returns in the file. `launch()` does not start a server there. */
    launchResult: LaunchedServer;
    /** Called with the absolute path of each of the user's files before it is loaded. */
    onLoad?: (path: string) => void;
  }): Promise<WebhooksServer> {
    this.#path = path;
    registerTypeScriptHooks((file) => {
      this.#loading = file;
      onLoad?.(file);
    });
    const launched = new Set<object>();
    /** The shared servers of `webhookEndpoint`, one for each loaded copy of this package. */
    const shared = new Set<object>();
    const stopIntercepting = interceptLaunches({
      onLaunch(server) {
        launched.add(server);
        return launchResult;
      },
      onSharedServer: (server) => void shared.add(server),
    });
    try {
      if (!existsSync(path)) throw serverFileInvalid("The file was removed. Restore it, or specify another file.");
      const loaded: { default?: unknown } = await import(pathToFileURL(path).href);
      return chooseServer(defaultExport(loaded), launched, shared);
    } finally {
      stopIntercepting();
    }
  }

  /** Explains an error of {@link load}, or an error that the file throws later. The explanation contains no secrets. */
  explain(error: unknown): LoadFailure {
    const { reason, stack } = explainLoadFailure(error, { loading: this.#loading });
    const frame = readCodeFrame(`${stack ?? ""}\n${reason}`, { folder: sourceFolder(this.#path) });
    const mask = this.#mask;
    return {
      reason: mask(reason),
      ...(stack !== undefined && { stack: mask(stack) }),
      ...(frame && { frame: { ...frame, lines: frame.lines.map((line) => ({ ...line, text: mask(line.text) })) } }),
    };
  }
}

/** Returns the default export, also of a module that was compiled to CommonJS, which Node wraps in another one. */
function defaultExport({ default: exported }: { default?: unknown }): unknown {
  const isCompiled = typeof exported === "object" && exported !== null && "__esModule" in exported;
  return isCompiled && "default" in exported ? exported.default : exported;
}

function chooseServer(exported: unknown, launched: ReadonlySet<object>, shared: ReadonlySet<object>): WebhooksServer {
  if (isServer(exported)) return exported;
  const servers = [...launched].filter(isServer);
  const [server] = servers;
  if (server && servers.length === 1) return server;
  if (servers.length > 1) {
    throw serverFileInvalid(`The file launches ${servers.length} servers. Choose one with "export default".`);
  }
  const sharedServer = [...shared].filter(isServer).find(({ endpointNames }) => endpointNames.length > 0);
  if (sharedServer) return sharedServer;
  throw serverFileInvalid(
    isEmptyExport(exported)
      ? 'The file exports no server. Add "export default server;".'
      : 'The default export is not a WebhooksServer, or an incompatible version of hub-webhooks created it. Add "export default server;", or run "npm install hub-webhooks@latest" in the project.',
  );
}

/**
 * Whether the file has no exports. Node loads a file without `import` and `export` as CommonJS, which exports an empty
 * object.
 */
function isEmptyExport(exported: unknown): boolean {
  return exported === undefined || (typeof exported === "object" && Object.keys(exported ?? {}).length === 0);
}

/**
 * Whether a value is a server. The check uses a symbol instead of the class, to recognize servers of other copies of
 * this package.
 */
function isServer(value: unknown): value is WebhooksServer {
  return isControllableServer(value) && "launch" in value;
}

const typeScriptExtensions: ReadonlySet<string> = new Set([".ts", ".mts", ".tsx"]);
const sourceOf: Readonly<Record<string, string>> = { ".js": ".ts", ".mjs": ".mts", ".jsx": ".tsx" };

/**
 * Enables this process to load TypeScript. Node strips types. Files with other TypeScript syntax, such as decorators,
 * enums, and JSX, are transpiled with swc. As in TypeScript, an import of `./x.js` resolves to `./x.ts`. A file with
 * `import` or `export` is a module, regardless of package.json.
 *
 * @param onLoad Called with the absolute path of each of the user's files before it is loaded.
 * @throws `SERVER_FILE_INVALID` during an import when a file needs swc and swc is not installed.
 */
function registerTypeScriptHooks(onLoad: (path: string) => void): void {
  // On a runtime without hooks, a named import would fail before this package can report an error.
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
      if (!typeScriptExtensions.has(extension)) return nextLoad(url, context);
      const source = readFileSync(path, "utf8");
      const hasJsx = extension === ".tsx";
      if (hasJsx || needsTranspiling(source)) {
        return { format: "module", source: transpile({ source, path, hasJsx }), shortCircuit: true };
      }
      return nextLoad(url, isModule(source) ? { ...context, format: "module-typescript" } : context);
    },
  });
}

/** Returns the specifier of the TypeScript source for an import of its JavaScript output. */
function sourceSpecifier(specifier: string, parentUrl: string | undefined): string | undefined {
  if (!/^(\.{0,2}\/|file:)/.test(specifier) || !parentUrl || !/\.[mc]?tsx?$/.test(parentUrl)) return undefined;
  const extension = extname(specifier);
  const source = sourceOf[extension];
  return source && `${specifier.slice(0, -extension.length)}${source}`;
}

/**
 * Whether a source may contain decorators, enums, namespaces, or parameter properties. A false positive only costs
 * time.
 */
function needsTranspiling(source: string): boolean {
  return (
    /(^\s*|[{;}]\s+)@[\w(]/m.test(source) ||
    /\b(enum|namespace)\s+[\w.]+\s*\{/.test(source) ||
    /\bconstructor\s*\([^)]*\b(public|private|protected|readonly)\s/.test(source)
  );
}

function isModule(source: string): boolean {
  return /^\s*(import|export)\b(?!\s+\w+\s*=\s*require\b)/m.test(source);
}

/**
 * The part of swc's API that this file uses. The published types of swc do not include current targets and decorators.
 */
interface Compiler {
  transformSync(source: string, options: object): { code: string };
}

/**
 * Transpiles decorators, enums, namespaces, parameter properties, and JSX with swc. The WebAssembly build of swc runs
 * on all platforms and has no install script, which pnpm would not run.
 *
 * @throws `SERVER_FILE_INVALID` when swc is not installed, or cannot parse the file.
 */
function transpile({ source, path, hasJsx }: { source: string; path: string; hasJsx: boolean }): string {
  const { transformSync } = loadCompiler(path);
  const options = {
    filename: path,
    sourceFileName: pathToFileURL(path).href,
    sourceMaps: "inline",
    inlineSourcesContent: false,
    // Ignore any .swcrc and tsconfig.json of the project.
    swcrc: false,
    configFile: false,
    isModule: true,
    module: { type: "es6" },
    jsc: {
      // All JavaScript engines that run this package support this target.
      target: "es2024",
      parser: { syntax: "typescript", tsx: hasJsx, decorators: true },
      // The version of decorators that TypeScript 5 implements.
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

/** Loads swc from the project of the file, because npx installs this package elsewhere, or else from the place of this package. */
function loadCompiler(path: string): Compiler {
  try {
    return createRequire(path)("@swc/wasm");
  } catch {}
  try {
    return createRequire(import.meta.url)("@swc/wasm");
  } catch (cause) {
    throw serverFileInvalid(
      `${basename(path)} uses decorators or other syntax that Node cannot run without a transpiler. Run "npm install --save-dev @swc/wasm" to install one, or register the handlers as functions.`,
      { cause },
    );
  }
}

/**
 * Returns the location and text of the first problem in an error message of swc, such as:
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
  const file = displayPath(path);
  const text = typeof cause === "string" ? cause : "";
  const [, reason] = /^\s*x (.+)$/m.exec(text) ?? [];
  if (reason === undefined) return `${file} cannot be transpiled.`;
  const [, line, code, marker] = /^\s*(\d+) \| (.*)\n\s*: (\s*)\^/m.exec(text) ?? [];
  if (line === undefined || code === undefined || marker === undefined) return `${file}: ${reason}`;
  return `${file}:${line}:${marker.length + 1}: ${reason} in: ${code.trim()}`;
}
