import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, onTestFinished } from "vitest";
import { inboxFile } from "../inbox/open-file.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { hasRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/** A kind of inbox on which the rows are tried. */
export interface InboxEngine {
  name: string;
  /** The URL of an empty store; it is gone after the test. */
  url: () => Promise<string>;
  /** Makes a store answer nobody until the returned function is called. */
  freeze: (url: string) => Promise<() => Promise<void>>;
  /** Rows that cannot be tried on it, with the reason. */
  cannotTry: Readonly<Record<string, string>>;
}

const withServers = process.env.SLOW_TESTS === "1";
if (!withServers) console.log("The rows are tried on SQLite only: npm run faults tries PostgreSQL and Redis too.");

/** What can be tried instead is in `inbox-servers.test.ts`. */
const clockOfItsOwn = { I10: "BullMQ asks the clock of the machine, which the test would have to set" };

/** Whatever is true of every inbox is tried on each of these. */
export const engines: readonly InboxEngine[] = [
  { name: "sqlite", url: async () => `sqlite:${inboxFile()}`, freeze: lockFile, cannotTry: {} },
  ...(withServers ? [{ name: "postgres", ...onServer(startPostgres), cannotTry: clockOfItsOwn }] : []),
  ...(withServers && hasRedis ? [{ name: "redis", ...onServer(startRedis), cannotTry: clockOfItsOwn }] : []),
];

/** A server behind a proxy that can be frozen; each store is a database of its own. */
function onServer(start: () => Promise<PostgresServer | RedisServer>): Pick<InboxEngine, "url" | "freeze"> {
  const proxies = new Map<string, TcpProxy>();
  let server: PostgresServer | RedisServer | undefined;
  beforeAll(async () => {
    server = await start();
    return () => server?.[Symbol.asyncDispose]();
  }, 60_000);
  return {
    async url() {
      if (!server) throw new Error("The server is started before the first test.");
      const proxy = await startTcpProxy(server.port);
      const url = proxy.urlOf(await server.emptyDatabase());
      proxies.set(url, proxy);
      return url;
    },
    async freeze(url) {
      proxies.get(url)?.freeze();
      return async () => proxies.get(url)?.thaw();
    },
  };
}

/** A process that locks a database for as long as it is not told to end. */
const locking = `
  import { DatabaseSync } from "node:sqlite";
  const database = new DatabaseSync(process.argv[1], { timeout: 10_000 });
  database.exec("BEGIN IMMEDIATE");
  process.stdout.write("locked");
  process.stdin.resume().on("end", () => process.exit());
`;

async function lockFile(url: string): Promise<() => Promise<void>> {
  const file = url.replace(/^sqlite:/, "");
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "--eval", locking, file]);
  const closed = once(child, "close");
  const release = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(release);
  if (child.stdout) await once(child.stdout, "data");
  return release;
}
