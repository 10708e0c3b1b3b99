import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { findInbox } from "../../../../src/cli/commands/deliveries/inbox-access.ts";
import { inboxFile } from "../../../inbox/inbox-file.ts";
import { createFolder } from "../../../support/temporary-folder.ts";
import { binPath, CommandProcess } from "../../command-process.ts";
import { runCommand } from "../../run-command.ts";
import { filledInbox } from "./filled-inbox.ts";

describe("The inbox of hub-webhooks deliveries", () => {
  test("is set by --inbox, which takes precedence over INBOX_URL", async () => {
    const { url } = await filledInbox();
    const env = { INBOX_URL: "sqlite:/nonexistent/inbox.db" };
    const stdout = "new\nbad\ngood\n";
    const before = await runCommand(`--format quiet deliveries --inbox ${url} list`, { env });
    const after = await runCommand(`deliveries list --inbox ${url} --format quiet`, { env });
    expect([before, after]).toMatchObject([
      { exitCode: 0, stdout },
      { exitCode: 0, stdout },
    ]);
  });

  test.each<[string, Record<string, string>]>([
    ["not set", {}],
    ["empty", { INBOX_URL: "" }],
  ])("is the default one of the folder if INBOX_URL is %s", async (_name, env) => {
    const folder = createFolder();
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    onTestFinished(() => void vi.restoreAllMocks());
    const { exitCode, stderr } = await runCommand("deliveries list", { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`There is no inbox at "${join(folder, ".hub-webhooks", "inbox.db")}"`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("causes an error with the existing inbox files if it is missing", { tags: "slow" }, async () => {
    const folder = folderWith({ "dev-7870.db": 0 });
    const argv = [binPath, "deliveries", "list", "--inbox", "sqlite:./missing.db"];
    expect(await new CommandProcess(process.execPath, argv, {}, { cwd: folder }).ended).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Inbox files in this folder: sqlite:./.hub-webhooks/dev-7870.db."),
    });
  });

  test("is closed afterwards, also when the command fails", async () => {
    const { inbox, file, env } = await filledInbox();
    await inbox.close(0);
    for (const [words, exitCode] of [
      ["list", 0],
      ["show unknown", 1],
    ] as const) {
      expect(await runCommand(`deliveries ${words}`, { env })).toMatchObject({ exitCode });
      // Closing the last connection removes the write-ahead log.
      expect(readdirSync(dirname(file))).toEqual([basename(file)]);
    }
  });

  test.each(["list", "show id", "replay id", "replay --dead --endpoint retrain -y", "counts", "tail"])(
    "is not created by a command: %s",
    async (words) => {
      const folder = createFolder();
      const file = join(folder, "deeper", "inbox.db");
      const { stderr, ...result } = await runCommand(`deliveries ${words} --inbox sqlite:${file}`);
      expect(result).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^error: There is no inbox at ".*inbox\.db".*Set --inbox.*\n$/);
      expect(stderr).not.toContain("INBOX_URL");
      expect(stderr).toContain(file);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test("causes an error that names INBOX_URL and the option", async () => {
    const { stderr } = await runCommand("deliveries list", { env: { INBOX_URL: `sqlite:${inboxFile()}` } });
    expect(stderr).toMatch(/^error: There is no inbox at .*INBOX_URL.*--inbox.*\n$/);
  });

  test.each(["redis://127.0.0.1:1/0", "redis://[::1", "mysql://127.0.0.1/db"])(
    "causes an error that names --inbox if the option sets it: %s",
    async (url) => {
      const { stderr } = await runCommand(`deliveries list --inbox ${url}`);
      expect(stderr).toMatch(/^error: .*--inbox.*\n$/);
      expect(stderr).not.toContain("INBOX_URL");
    },
  );

  test("cannot be an empty file, which stays unchanged", async () => {
    const file = inboxFile();
    writeFileSync(file, "");
    const stderr = expect.stringContaining("There is no inbox at");
    expect(await runCommand(`deliveries list --inbox sqlite:${file}`)).toMatchObject({ exitCode: 1, stderr });
    expect(readFileSync(file, "utf8")).toBe("");
    expect(readdirSync(dirname(file))).toEqual(["inbox.db"]);
  });

  test.each([
    ["in the memory of another process", async () => ":memory:", "", /There is no inbox in the memory of this process/],
    ["the database of another program", async () => inboxFile(), "CREATE TABLE mine (id)", /is a database, but not/],
    [
      "damaged",
      async () => (await filledInbox()).file,
      "DROP TABLE attempts",
      /^error: The inbox could not be read or written \(no such table: attempts\).*\n$/,
    ],
  ])("causes a one-line error if it is %s", async (_name, makeFile, sql, expected) => {
    const file = await makeFile();
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
    const { exitCode, stderr } = await runCommand(`deliveries list --inbox sqlite:${file}`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toMatch(expected);
  });

  test.each([
    "mysql://user:hunter2@127.0.0.1/db",
    "sqlite://user:hunter2@127.0.0.1/inbox.db",
    "sqlite:/nonexistent/inbox.db?password=hunter2",
    "redis://:hunter2@127.0.0.1:1/0",
    "postgres://user:hunter2@127.0.0.1:1/db",
    "postgres://user:slash/hunter2?@127.0.0.1:1/db",
    "redis://:hunter2%40@[::1",
  ])("causes an error without the URL's secrets if it cannot be opened: %s", async (url) => {
    const results = await Promise.all([
      runCommand(`deliveries list --inbox ${url}`),
      runCommand("deliveries list", { env: { INBOX_URL: url } }),
    ]);
    for (const { exitCode, stdout, stderr } of results) {
      expect([1, 2]).toContain(exitCode);
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^error: .*\n$/);
      expect(stderr).not.toContain("hunter2");
    }
  });

  // A password that is a common word must not make a message unreadable.
  test.each([
    ["postgres://postgres:postgres@127.0.0.1:1/db", "postgres://127.0.0.1:1 cannot be opened"],
    ["redis://user:in@127.0.0.1:1/0", "error: The inbox at redis://127.0.0.1:1"],
  ])("is readable in an error: %s", async (url, expected) => {
    expect((await runCommand(`deliveries list --inbox ${url}`)).stderr).toContain(expected);
  });
});

test.each([
  ["an invalid cursor", "list --cursor x", /^error: .*"cursor".*\n$/],
  ["no subcommand", "", /Usage: hub-webhooks deliveries/],
])("hub-webhooks deliveries exits with 2 for %s", async (_name, words, expected) => {
  const { env } = await filledInbox();
  const result = await runCommand(`deliveries ${words}`.trim(), { env });
  expect(result).toEqual({ exitCode: 2, stdout: "", stderr: expect.stringMatching(expected) });
});

/** Creates a folder with these inbox files, each last modified this many seconds ago. */
function folderWith(files: Readonly<Record<string, number>>): string {
  const folder = createFolder();
  mkdirSync(join(folder, ".hub-webhooks"));
  for (const [name, secondsAgo] of Object.entries(files)) {
    const path = join(folder, ".hub-webhooks", name);
    writeFileSync(path, "");
    const time = new Date(Date.now() - secondsAgo * 1_000);
    utimesSync(path, time, time);
  }
  return folder;
}

describe("The default inbox of deliveries", () => {
  test("is the server's if dev has none", () => {
    expect(findInbox(folderWith({ "inbox.db": 1, "registrations.json": 1, "develop.db": 1 }))).toBeUndefined();
    expect(findInbox("/no/such/folder")).toBeUndefined();
  });

  test("is the latest of dev if the server has none", () => {
    const folder = folderWith({ "dev.db": 60, "dev-7861.db": 120, "dev-7861.db-wal": 5 });
    const url = "sqlite:./.hub-webhooks/dev-7861.db";
    expect(findInbox(folder)).toEqual({ url, note: expect.stringContaining(url) });
  });

  test("is the server's, with a note, if dev has a newer one", () => {
    const found = findInbox(folderWith({ "inbox.db": 60, "dev.db": 5 }));
    expect(found).toEqual({ url: undefined, note: expect.stringContaining("--inbox sqlite:./.hub-webhooks/dev.db") });
    expect(findInbox(folderWith({ "inbox.db": 5, "dev.db": 60 }))).toBeUndefined();
  });
});
