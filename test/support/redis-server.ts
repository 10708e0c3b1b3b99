import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "./free-port.ts";

/** Whether Redis is installed. With `REQUIRE_REDIS`, a missing Redis is an error. */
export const hasRedis = isInstalled();

function isInstalled(): boolean {
  if (spawnSync("redis-server", ["--version"]).status === 0) return true;
  if (process.env.REQUIRE_REDIS) throw new Error("redis-server is missing. Install it (apt-get install redis-server).");
  console.log("Skipped tests with Redis: redis-server is missing (apt-get install redis-server).");
  return false;
}

/** A Redis server in a separate process. */
export interface RedisServer extends AsyncDisposable {
  port: number;
  /** Returns the URL of an empty database. */
  emptyDatabase(): Promise<string>;
}

/** Starts Redis, by default with a sync for each write, on a free port. With `core`, it runs on this CPU core only. */
export async function startRedis(
  settings: readonly string[] = [],
  { core, port: chosenPort }: { core?: number | undefined; port?: number } = {},
): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-redis-"));
  const port = chosenPort ?? (await freePort());
  const safe = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"];
  // Sync replicas immediately. By default, Redis waits five seconds for more replicas.
  const fast = ["--repl-diskless-sync-delay", "0"];
  const [program = "", ...before] = [...(core === undefined ? [] : ["taskset", "-c", `${core}`]), "redis-server"];
  const child = spawn(
    program,
    [...before, "--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, ...safe, ...fast, ...settings],
    { stdio: "ignore" },
  );
  const client = new Redis({ port, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on("error", () => {});
  await client.ping();
  let databases = 0;
  return {
    port,
    async emptyDatabase() {
      databases = (databases + 1) % 16;
      await client.select(databases);
      await client.flushdb();
      return `redis://127.0.0.1:${port}/${databases}`;
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
