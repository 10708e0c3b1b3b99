import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "./free-port.ts";

/** Whether there is a Redis to test with; where one is asked for by `REQUIRE_REDIS`, its absence is an error. */
export const hasRedis = isInstalled();

function isInstalled(): boolean {
  if (spawnSync("redis-server", ["--version"]).status === 0) return true;
  if (process.env.REQUIRE_REDIS)
    throw new Error("There is no redis-server: install it (apt-get install redis-server).");
  console.log("Tests on Redis are skipped: there is no redis-server (apt-get install redis-server).");
  return false;
}

/** A Redis in a process of its own. */
export interface RedisServer extends AsyncDisposable {
  port: number;
  /** The address of an empty database of it. */
  emptyDatabase(): Promise<string>;
}

/** Starts a Redis that syncs each write, unless `settings` say otherwise; where asked for, on one `core` only. */
export async function startRedis(
  settings: readonly string[] = [],
  { core }: { core?: number | undefined } = {},
): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-redis-"));
  const port = await freePort();
  const safe = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction"];
  // A replica is synced at once: by default it waits five seconds for others to be synced with.
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
