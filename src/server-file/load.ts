import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { hostLaunches } from "../receiver/launch-host.ts";
import type { LaunchedServer } from "../receiver/launch-options.ts";
import { isDetailedServer } from "../receiver/server-details.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { explainLoadFailure, type LoadFailure, serverFileInvalid } from "./load-failure.ts";
import { registerTypeScriptHooks } from "./typescript.ts";

/** Loads one server file in this process, without letting its server listen. */
export class ServerFileLoader {
  #loading: string | undefined;

  /**
   * Imports the file, TypeScript included, and returns its server: the default export; otherwise the server that the
   * file launches, or the one that `webhookEndpoint` registers on.
   *
   * @throws `SERVER_FILE_INVALID` when the file creates no server, or several and exports none; anything the file throws.
   * @example
   * ```ts
   * const server = await new ServerFileLoader().load({ path: "/home/me/bot/server.ts", launched });
   * ```
   */
  async load({
    path,
    launched,
    onLoad,
  }: {
    /** Absolute. */
    path: string;
    /** The result of `launch()` in the file, which starts nothing. */
    launched: LaunchedServer;
    /** Called with the absolute path of each of the user's files before it is loaded. */
    onLoad?: (path: string) => void;
  }): Promise<WebhooksServer> {
    registerTypeScriptHooks({
      onLoad: (file) => {
        this.#loading = file;
        onLoad?.(file);
      },
    });
    const launching = new Set<object>();
    const selfLaunching = new Set<object>();
    const stopHosting = hostLaunches({
      launched(server) {
        launching.add(server);
        return launched;
      },
      selfLaunching: (server) => void selfLaunching.add(server),
    });
    try {
      if (!existsSync(path)) throw serverFileInvalid("The file was removed: restore it, or give another one.");
      const loaded: { default?: unknown } = await import(pathToFileURL(path).href);
      return chooseServer({ exported: loaded.default, launching, selfLaunching });
    } finally {
      stopHosting();
    }
  }

  /** Explains an error of {@link load}, or one that the file throws later. */
  explain(error: unknown): LoadFailure {
    return explainLoadFailure(error, { loading: this.#loading });
  }
}

function chooseServer({
  exported,
  launching,
  selfLaunching,
}: {
  exported: unknown;
  launching: ReadonlySet<object>;
  selfLaunching: ReadonlySet<object>;
}): WebhooksServer {
  if (isServer(exported)) return exported;
  const servers = [...launching].filter(isServer);
  const [server] = servers;
  if (server && servers.length === 1) return server;
  if (servers.length > 1) {
    throw serverFileInvalid(`It launches ${servers.length} servers: choose one with "export default".`);
  }
  const defaultServer = [...selfLaunching].filter(isServer).find(({ endpointNames }) => endpointNames.length > 0);
  if (defaultServer) return defaultServer;
  throw serverFileInvalid(
    isEmptyExport(exported)
      ? 'It exports no server: add "export default server;".'
      : 'Its default export is not a WebhooksServer of this version: add "export default server;", and update hub-webhooks.',
  );
}

/** To Node, a file without `import` and `export` is CommonJS, which exports an empty object. */
function isEmptyExport(exported: unknown): boolean {
  return exported === undefined || (typeof exported === "object" && Object.keys(exported ?? {}).length === 0);
}

/** By a symbol instead of the class: the file may have another copy of the package. */
function isServer(value: unknown): value is WebhooksServer {
  return isDetailedServer(value) && "launch" in value;
}
