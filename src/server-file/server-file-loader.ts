import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { interceptLaunches, isControllableServer } from "../receiver/control.ts";
import type { LaunchedServer } from "../receiver/options.ts";
import type { WebhooksServer } from "../receiver/server.ts";
import { readCodeFrame, sourceFolder } from "./code-frame.ts";
import { createMask, explainLoadFailure, type LoadFailure, serverFileInvalid } from "./load-failure.ts";
import { registerTypeScriptHooks } from "./typescript-hooks.ts";

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
    registerTypeScriptHooks({
      onLoad: (file) => {
        this.#loading = file;
        onLoad?.(file);
      },
    });
    const launched = new Set<object>();
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
      return chooseServer({ exported: loaded.default, launched, shared });
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

function chooseServer({
  exported,
  launched,
  shared,
}: {
  exported: unknown;
  /** The servers whose `launch()` the file called. */
  launched: ReadonlySet<object>;
  /** The shared servers of `webhookEndpoint`, one for each loaded copy of this package. */
  shared: ReadonlySet<object>;
}): WebhooksServer {
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
