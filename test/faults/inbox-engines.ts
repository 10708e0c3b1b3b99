import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, onTestFinished } from "vitest";
import { inboxFile } from "../inbox/inbox-file.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { hasRedis, type RedisServer, startRedis } from "../support/redis-server.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

/** An inbox engine to test. */
export interface InboxEngine {
  name: string;
  /** Creates an empty store, which is deleted after the test, and returns its URL. */
  url: () => Promise<string>;
  /** Creates an empty store. `freeze` stops it from answering until the function that it returns is called. */
  freezable: () => Promise<{ url: string; freeze: () => Promise<() => Promise<void>> }>;
  /** Ids of rows that this engine skips, with the reason. */
  unsupported: Readonly<Record<string, string>>;
}

const withServers = process.env.SLOW_TESTS === "1";
if (!withServers) console.log("Skipped the faults of PostgreSQL and Redis. Set SLOW_TESTS=1 to run them.");

/** `inbox-servers.test.ts` has clock tests for PostgreSQL and Redis. */
const machineClock = { I10: "BullMQ uses the system clock" };

export const engines: readonly InboxEngine[] = [
  { name: "sqlite", url: async () => `sqlite:${inboxFile()}`, freezable: lockableFile, unsupported: {} },
  ...(withServers ? [{ name: "postgres", ...onServer(startPostgres), unsupported: machineClock }] : []),
  ...(withServers && hasRedis ? [{ name: "redis", ...onServer(startRedis), unsupported: machineClock }] : []),
];

/** Starts a database server. Each store is an empty database. */
function onServer(start: () => Promise<PostgresServer | RedisServer>): Pick<InboxEngine, "url" | "freezable"> {
  let server: PostgresServer | RedisServer | undefined;
  beforeAll(async () => {
    server = await start();
    return () => server?.[Symbol.asyncDispose]();
  }, 60_000);
  const started = () => {
    if (!server) throw new Error("The server is not started before the first test.");
    return server;
  };
  return {
    url: () => started().emptyDatabase(),
    // Only here, because a proxy forwards in the process of the tests, which takes as long as the work of a receiver.
    async freezable() {
      const proxy = await startTcpProxy(started().port);
      const freeze = async () => {
        proxy.freeze();
        return async () => proxy.thaw();
      };
      return { url: proxy.urlOf(await started().emptyDatabase()), freeze };
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

async function lockableFile() {
  const file = inboxFile();
  return { url: `sqlite:${file}`, freeze: () => lockFile(file) };
}

async function lockFile(file: string): Promise<() => Promise<void>> {
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
