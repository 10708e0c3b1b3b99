import { readdirSync, readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { Client } from "pg";

/** A clock tick of Linux, the unit of processor time in `/proc`. */
const tickMs = 10;

/**
 * Returns the CPU time that the server of an inbox has used so far, in milliseconds, or `undefined` without a server.
 */
export async function serverTimeMs(url: string): Promise<number | undefined> {
  if (url.startsWith("redis:")) return redisTimeMs(url);
  return url.startsWith("postgres:") ? postgresTimeMs(url) : undefined;
}

async function redisTimeMs(url: string): Promise<number> {
  const client = new Redis(url);
  try {
    const info = await client.info("cpu");
    const seconds = (name: string) => Number(new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1]);
    return (seconds("used_cpu_user") + seconds("used_cpu_sys")) * 1_000;
  } finally {
    client.disconnect();
  }
}

/** PostgreSQL runs a process for each connection, as a child of the listening process. */
async function postgresTimeMs(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const parent = statOf(rows[0]?.pid)?.parent;
    return readdirSync("/proc")
      .map(Number)
      .map(statOf)
      .filter((stat) => stat && (stat.parent === parent || stat.pid === parent))
      .reduce((sum, stat) => sum + (stat?.ticks ?? 0) * tickMs, 0);
  } finally {
    await client.end();
  }
}

/** The parent process accumulates the CPU time of its finished children. */
function statOf(pid: number | undefined): { pid: number; parent: number; ticks: number } | undefined {
  if (!pid) return undefined;
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    return { pid, parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) };
  } catch {
    return undefined; // It has ended.
  }
}
