import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { interceptLaunches } from "../receiver/launch-interceptor.ts";
import type { LaunchedServer } from "../receiver/launch-options.ts";
import { isControllableServer } from "../receiver/server-control.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { explainLoadFailure, type LoadFailure, serverFileInvalid } from "./load-failure.ts";
import { registerTypeScriptHooks } from "./typescript-hooks.ts";

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
   * const server = await new ServerFileLoader().load({ path: "/home/me/bot/server.ts", launchResult });
   * ```
   */
  async load({
    path,
    launchResult,
    onLoad,
  }: {
    /** Absolute. */
    path: string;
    /** The result of `launch()` in the file, which starts nothing. */
    launchResult: LaunchedServer;
    /** Called with the absolute path of each of the user's files before it is loaded. */
    onLoad?: (path: string) => void;
  }): Promise<WebhooksServer> {
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
      if (!existsSync(path)) throw serverFileInvalid("The file was removed: restore it, or give another one.");
      const loaded: { default?: unknown } = await import(pathToFileURL(path).href);
      return chooseServer({ exported: loaded.default, launched, shared });
    } finally {
      stopIntercepting();
    }
  }

  /** Explains an error of {@link load}, or one that the file throws later. */
  explain(error: unknown): LoadFailure {
    return explainLoadFailure(error, { loading: this.#loading });
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
  /** The server of `webhookEndpoint`; one for each copy of this package. */
  shared: ReadonlySet<object>;
}): WebhooksServer {
  if (isServer(exported)) return exported;
  const servers = [...launched].filter(isServer);
  const [server] = servers;
  if (server && servers.length === 1) return server;
  if (servers.length > 1) {
    throw serverFileInvalid(`It launches ${servers.length} servers: choose one with "export default".`);
  }
  const sharedServer = [...shared].filter(isServer).find(({ endpointNames }) => endpointNames.length > 0);
  if (sharedServer) return sharedServer;
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
  return isControllableServer(value) && "launch" in value;
}
