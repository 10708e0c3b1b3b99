import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { hostLaunches } from "../receiver/launch-host.ts";
import type { LaunchedServer } from "../receiver/launch-options.ts";
import { isDetailedServer } from "../receiver/server-details.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { serverFileInvalid } from "./invalid.ts";

/** What {@link loadServer} needs. */
export interface LoadServerOptions {
  /** Absolute path of the file. */
  path: string;
  /** What the file is told when it launches its server, which does nothing. */
  reachedAt: LaunchedServer;
}

/**
 * Imports a file that makes a server, without letting it listen. The server is its default export; else the one it
 * launches, or the one that `webhookEndpoint` registers on.
 *
 * @throws `SERVER_FILE_INVALID` when it makes no server, or several and exports none; whatever the file throws.
 * @example
 * ```ts
 * const server = await loadServer({ path: "/home/me/bot/server.ts", reachedAt });
 * ```
 */
export async function loadServer({ path, reachedAt }: LoadServerOptions): Promise<WebhooksServer> {
  const launched = new Set<object>();
  const selfLaunching = new Set<object>();
  const stopHosting = hostLaunches({
    launched(server) {
      launched.add(server);
      return reachedAt;
    },
    selfLaunching: (server) => void selfLaunching.add(server),
  });
  try {
    if (!existsSync(path)) throw serverFileInvalid("The file is gone: put it back, or give another one.");
    const loaded: { default?: unknown } = await import(pathToFileURL(path).href);
    return chooseServer({ exported: loaded.default, launched, selfLaunching });
  } finally {
    stopHosting();
  }
}

interface Found {
  exported: unknown;
  launched: ReadonlySet<object>;
  selfLaunching: ReadonlySet<object>;
}

function chooseServer({ exported, launched, selfLaunching }: Found): WebhooksServer {
  if (isServer(exported)) return exported;
  const servers = [...launched].filter(isServer);
  const [server] = servers;
  if (server && servers.length === 1) return server;
  if (servers.length > 1) {
    throw serverFileInvalid(`It launches ${servers.length} servers: say which one is meant, with export default.`);
  }
  const ownServer = [...selfLaunching].filter(isServer).find(({ endpointNames }) => endpointNames.length > 0);
  if (ownServer) return ownServer;
  throw serverFileInvalid(
    isNothing(exported)
      ? 'It exports no server: end it with "export default server;".'
      : 'Its default export is no WebhooksServer of this release: end it with "export default server;", and see that hub-webhooks is up to date.',
  );
}

/** A file without `import` and `export` is no module to Node, and exports an object with nothing in it. */
function isNothing(exported: unknown): boolean {
  return exported === undefined || (typeof exported === "object" && Object.keys(exported ?? {}).length === 0);
}

/** By a symbol, not by its class: the file may have another copy of the package. */
function isServer(value: unknown): value is WebhooksServer {
  return isDetailedServer(value) && "launch" in value;
}
