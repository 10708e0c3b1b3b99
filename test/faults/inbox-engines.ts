import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, onTestFinished } from "vitest";
import { inboxFile } from "../inbox/inbox-file.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { hasRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/** An inbox engine to test. */
export interface InboxEngine {
  name: string;
  /** Creates an empty store, which is deleted after the test, and returns its URL. */
  url: () => Promise<string>;
  /** Stops a store from answering until the returned function is called. */
  freeze: (url: string) => Promise<() => Promise<void>>;
  /** Ids of rows that this engine skips, with the reason. */
  unsupported: Readonly<Record<string, string>>;
}

const withServers = process.env.SLOW_TESTS === "1";
if (!withServers) console.log("Skipped the faults of PostgreSQL and Redis. Set SLOW_TESTS=1 to run them.");

/** `inbox-servers.test.ts` has clock tests for PostgreSQL and Redis. */
const machineClock = { I10: "BullMQ uses the system clock" };

export const engines: readonly InboxEngine[] = [
  { name: "sqlite", url: async () => `sqlite:${inboxFile()}`, freeze: lockFile, unsupported: {} },
  ...(withServers ? [{ name: "postgres", ...onServer(startPostgres), unsupported: machineClock }] : []),
  ...(withServers && hasRedis ? [{ name: "redis", ...onServer(startRedis), unsupported: machineClock }] : []),
];

/** Starts a database server behind a proxy that tests can freeze. Each store is a new database. */
function onServer(start: () => Promise<PostgresServer | RedisServer>): Pick<InboxEngine, "url" | "freeze"> {
  const proxies = new Map<string, TcpProxy>();
  let server: PostgresServer | RedisServer | undefined;
  beforeAll(async () => {
    server = await start();
    return () => server?.[Symbol.asyncDispose]();
  }, 60_000);
  return {
    async url() {
      if (!server) throw new Error("The server is not started before the first test.");
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

/** The source of a process that locks a database until it is killed. */
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
