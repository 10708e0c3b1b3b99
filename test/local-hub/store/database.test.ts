import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { LocalHub } from "../../../src/local-hub.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openLocalHub, restart, stateFile } from "../support/hub.ts";

describe("A file that is not a state file", () => {
  const refused = { code: "LOCAL_HUB_STATE_UNUSABLE", message: expect.stringMatching(/Choose|Stop/) };

  /** Returns the names and contents of all files in a folder. */
  function contentOf(folder: string): unknown[] {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => [
      entry.name,
      entry.isFile() ? readFileSync(join(folder, entry.name)).toString("latin1") : "a folder",
      statSync(join(folder, entry.name)).mode,
    ]);
  }

  /** Creates the database of another program. */
  function createDatabase(file: string, statements: string): void {
    const database = new DatabaseSync(file);
    database.exec(statements);
    database.close();
  }

  test.each([
    { what: "a text file", make: (file: string) => writeFileSync(file, "dear diary, ".repeat(500)) },
    { what: "a short text file", make: (file: string) => writeFileSync(file, "a".repeat(511)) },
    { what: "a file with a single letter", make: (file: string) => writeFileSync(file, "x") },
    {
      what: "the database of another program",
      make: (file: string) =>
        createDatabase(file, "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('dear diary')"),
    },
    {
      what: "a database of an unknown version",
      make: (file: string) => createDatabase(file, "CREATE TABLE webhooks (id TEXT); PRAGMA user_version = 99"),
    },
    {
      what: "the database of another program, also at version 1",
      make: (file: string) => createDatabase(file, "CREATE TABLE notes (text TEXT); PRAGMA user_version = 1"),
    },
    {
      what: "a truncated database",
      make(file: string) {
        createDatabase(file, "CREATE TABLE a (b TEXT); CREATE TABLE c (d TEXT)");
        writeFileSync(file, readFileSync(file).subarray(0, 5_000));
      },
    },
    { what: "a folder", make: (file: string) => mkdirSync(file) },
  ])("is rejected with the next step, and left unchanged: $what", async ({ make }) => {
    const folder = createFolder();
    const state = join(folder, "some.file");
    make(state);
    chmodSync(state, 0o755);
    const before = contentOf(folder);
    await expect(LocalHub.launch({ state })).rejects.toMatchObject(refused);
    await expect(LocalHub.launch({ state })).rejects.toMatchObject({ message: expect.stringContaining(state) });
    expect(contentOf(folder)).toEqual(before);
  });

  test("is closed, so that its own program can write to it", async () => {
    const state = stateFile();
    const database = new DatabaseSync(state);
    database.exec("PRAGMA journal_mode = DELETE; CREATE TABLE notes (text TEXT)");
    await expect(LocalHub.launch({ state })).rejects.toMatchObject(refused);
    database.exec("BEGIN EXCLUSIVE; INSERT INTO notes VALUES ('dear diary'); COMMIT");
    database.close();
  });

  test("because another local Hub uses it is rejected, and the other Hub keeps running", async () => {
    const folder = createFolder();
    const state = join(folder, "hub.sqlite");
    const hub = await openLocalHub({ state });
    const made = await hub.create({ url: "http://127.0.0.1:1/" });
    await expect(LocalHub.launch({ state })).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining("another process"),
    });
    expect((await hub.request("GET /api/settings/webhooks")).body).toEqual([made]);
    await hub.update(made.id, { url: "http://127.0.0.1:2/" });
    expect(await (await restart(hub, { state })).get(made.id)).toMatchObject({ url: "http://127.0.0.1:2/" });
  });

  test("because its folder is a file is rejected", async () => {
    const folder = createFolder();
    writeFileSync(join(folder, "file"), "");
    await expect(LocalHub.launch({ state: join(folder, "file", "hub.sqlite") })).rejects.toMatchObject(refused);
  });

  test("because it is empty becomes a new state file", async () => {
    const state = stateFile();
    writeFileSync(state, "");
    const hub = await openLocalHub({ state });
    expect((await hub.request("GET /api/settings/webhooks")).body).toEqual([]);
  });
});

test.each(["webhooks", "jobs"])(
  "A state file with an invalid record is rejected, and the port and the file can be used again: %s",
  async (table) => {
    const state = stateFile();
    const hub = await LocalHub.launch({ state });
    await hub.close();
    const database = new DatabaseSync(state);
    const [columns, values] =
      table === "jobs" ? ["id, record, secrets", "'a', '{}', '{}'"] : ["id, record", "'a', '{}'"];
    database.exec(`INSERT INTO ${table} (${columns}) VALUES (${values})`);
    database.close();
    await expect(LocalHub.launch({ state, port: hub.port })).rejects.toMatchObject({
      code: "LOCAL_HUB_STATE_UNUSABLE",
    });
    const again = new DatabaseSync(state);
    again.exec(`DELETE FROM ${table}`);
    again.close();
    await using second = await LocalHub.launch({ state, port: hub.port });
    expect(second.port).toBe(hub.port);
  },
);

test("A port in use leaves no state file", async () => {
  await using first = await LocalHub.launch();
  const state = stateFile();
  await expect(LocalHub.launch({ state, port: first.port })).rejects.toMatchObject({ code: "PORT_IN_USE" });
  expect(existsSync(state)).toBe(false);
});
