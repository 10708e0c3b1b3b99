import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { LocalHub } from "../../../src/local-hub.ts";
import { openFolder, openLocalHub, restart, stateFile } from "../support/hub.ts";

describe("A file that is no state file", () => {
  const refused = { code: "STATE_UNUSABLE", message: expect.stringMatching(/Choose|Stop/) };

  /** Every byte in a folder. */
  function contentOf(folder: string): unknown[] {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => [
      entry.name,
      entry.isFile() ? readFileSync(join(folder, entry.name)).toString("latin1") : "a folder",
      statSync(join(folder, entry.name)).mode,
    ]);
  }

  test.each([
    { what: "a text", make: (file: string) => writeFileSync(file, "dear diary, ".repeat(500)) },
    { what: "a short text", make: (file: string) => writeFileSync(file, "a".repeat(511)) },
    { what: "a single letter", make: (file: string) => writeFileSync(file, "x") },
    {
      what: "a database of somebody else",
      make: (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('dear diary')");
        database.close();
      },
    },
    {
      what: "a database of another version",
      make: (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE webhooks (id TEXT); PRAGMA user_version = 99");
        database.close();
      },
    },
    {
      what: "a database of somebody else, at version 1 too",
      make: (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE notes (text TEXT); PRAGMA user_version = 1");
        database.close();
      },
    },
    {
      what: "half a database",
      make: (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE a (b TEXT); CREATE TABLE c (d TEXT)");
        database.close();
        writeFileSync(file, readFileSync(file).subarray(0, 5_000));
      },
    },
    { what: "a folder", make: (file: string) => mkdirSync(file) },
  ])("is left as it is, and refused with what to do: $what", async ({ make }) => {
    const folder = openFolder();
    const state = join(folder, "some.file");
    make(state);
    chmodSync(state, 0o755);
    const before = contentOf(folder);
    await expect(LocalHub.launch({ state })).rejects.toMatchObject(refused);
    await expect(LocalHub.launch({ state })).rejects.toMatchObject({ message: expect.stringContaining(state) });
    expect(contentOf(folder)).toEqual(before);
  });

  test("is not kept open, so that its own program can write to it", async () => {
    const state = stateFile();
    const database = new DatabaseSync(state);
    database.exec("PRAGMA journal_mode = DELETE; CREATE TABLE notes (text TEXT)");
    await expect(LocalHub.launch({ state })).rejects.toMatchObject(refused);
    database.exec("BEGIN EXCLUSIVE; INSERT INTO notes VALUES ('dear diary'); COMMIT");
    database.close();
  });

  test("but is used by another local Hub is refused, and that one goes on", async () => {
    const folder = openFolder();
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

  test("under a path that leads through a file is refused", async () => {
    const folder = openFolder();
    writeFileSync(join(folder, "file"), "");
    await expect(LocalHub.launch({ state: join(folder, "file", "hub.sqlite") })).rejects.toMatchObject(refused);
  });

  test("for want of anything in it is taken as a new one", async () => {
    const state = stateFile();
    writeFileSync(state, "");
    const hub = await openLocalHub({ state });
    expect((await hub.request("GET /api/settings/webhooks")).body).toEqual([]);
  });
});

describe("A state file with a record that no release has written", () => {
  test.each(["webhooks", "jobs"])("is refused, and whoever asked can go on: %s", async (table) => {
    const state = stateFile();
    const hub = await LocalHub.launch({ state });
    await hub.close();
    const database = new DatabaseSync(state);
    const [columns, values] =
      table === "jobs" ? ["id, record, secrets", "'a', '{}', '{}'"] : ["id, record", "'a', '{}'"];
    database.exec(`INSERT INTO ${table} (${columns}) VALUES (${values})`);
    database.close();
    await expect(LocalHub.launch({ state, port: hub.port })).rejects.toMatchObject({ code: "STATE_UNUSABLE" });
    const again = new DatabaseSync(state);
    again.exec(`DELETE FROM ${table}`);
    again.close();
    await using second = await LocalHub.launch({ state, port: hub.port });
    expect(second.port).toBe(hub.port);
  });
});

describe("A port that is taken", () => {
  test("leaves no state file behind", async () => {
    await using first = await LocalHub.launch();
    const state = stateFile();
    await expect(LocalHub.launch({ state, port: first.port })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    expect(existsSync(state)).toBe(false);
  });
});
