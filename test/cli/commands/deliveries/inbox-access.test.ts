import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { inboxFile } from "../../../inbox/inbox-file.ts";
import { binPath, CommandProcess, startCommand } from "../../command-process.ts";
import { runCommand } from "../../run-command.ts";
import { filledInbox } from "./filled-inbox.ts";

const commands = [
  ["list"],
  ["show", "id"],
  ["replay", "id"],
  ["replay", "--dead", "--endpoint", "retrain", "-y"],
  ["counts"],
  ["tail"],
];

describe("The inbox of hub-webhooks deliveries", () => {
  test("is set by --inbox, which takes precedence over INBOX_URL", async () => {
    const { url } = await filledInbox();
    const argv = ["--format", "quiet", "deliveries", "--inbox", url, "list"];
    const env = { INBOX_URL: "sqlite:/nonexistent/inbox.db" };
    expect(await runCommand(argv, { env })).toMatchObject({ exitCode: 0, stdout: "new\nbad\ngood\n" });
    expect(await runCommand(["deliveries", "list", "--inbox", url], { env })).toMatchObject({ exitCode: 0 });
  });

  test.each<[string, Record<string, string>]>([
    ["not set", {}],
    ["empty", { INBOX_URL: "" }],
  ])("is the default one of the folder if INBOX_URL is %s", async (_name, env) => {
    const folder = dirname(inboxFile());
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    onTestFinished(() => void vi.restoreAllMocks());
    const { exitCode, stderr } = await runCommand(["deliveries", "list"], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`There is no inbox at "${join(folder, ".hub-webhooks", "inbox.db")}"`);
    expect(await readdir(folder)).toEqual([]);
  });

  test("causes an error with the existing inbox files if it is missing", async () => {
    const folder = dirname(inboxFile());
    await mkdir(join(folder, ".hub-webhooks"));
    await writeFile(join(folder, ".hub-webhooks", "dev-7870.db"), "");
    const argv = [binPath, "deliveries", "list", "--inbox", "sqlite:./missing.db"];
    const { exitCode, stderr } = await new CommandProcess(process.execPath, argv, {}, { cwd: folder }).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Inbox files in this folder: sqlite:./.hub-webhooks/dev-7870.db.");
  });

  test("is closed afterwards, also when the command fails", async () => {
    const { inbox, file, env } = await filledInbox();
    await inbox.close(0);
    for (const [argv, exitCode] of [
      [["list"], 0],
      [["show", "unknown"], 1],
    ] as const) {
      expect(await runCommand(["deliveries", ...argv], { env })).toMatchObject({ exitCode });
      // Closing the last connection removes the write-ahead log.
      expect(await readdir(dirname(file))).toEqual([basename(file)]);
    }
  });

  test.each(commands)("is not created by a command: %s", async (...argv) => {
    const folder = dirname(inboxFile());
    const file = join(folder, "deeper", "inbox.db");
    const result = await runCommand(["deliveries", ...argv, "--inbox", `sqlite:${file}`]);
    expect(result).toMatchObject({ exitCode: 1, stdout: "" });
    expect(result.stderr).toMatch(/^error: There is no inbox at ".*inbox\.db".*Set --inbox.*\n$/);
    expect(result.stderr).not.toContain("INBOX_URL");
    expect(result.stderr).toContain(file);
    expect(await readdir(folder)).toEqual([]);
  });

  test("causes an error that names INBOX_URL and the option", async () => {
    const env = { INBOX_URL: `sqlite:${inboxFile()}` };
    const { stderr } = await runCommand(["deliveries", "list"], { env });
    expect(stderr).toMatch(/^error: There is no inbox at .*INBOX_URL.*--inbox.*\n$/);
  });

  test.each(["redis://127.0.0.1:1/0", "redis://[::1", "mysql://127.0.0.1/db"])(
    "causes an error that names --inbox if the option sets it: %s",
    async (url) => {
      const { stderr } = await runCommand(["deliveries", "list", "--inbox", url]);
      expect(stderr).toMatch(/^error: .*--inbox.*\n$/);
      expect(stderr).not.toContain("INBOX_URL");
    },
  );

  test("cannot be an empty file, which stays unchanged", async () => {
    const file = inboxFile();
    await writeFile(file, "");
    const { exitCode, stderr } = await runCommand(["deliveries", "list", "--inbox", `sqlite:${file}`]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("There is no inbox at");
    expect(await readFile(file, "utf8")).toBe("");
    expect(await readdir(dirname(file))).toEqual(["inbox.db"]);
  });

  test("cannot be in memory, which belongs to another process", async () => {
    const { exitCode, stderr } = await runCommand(["deliveries", "list", "--inbox", "sqlite::memory:"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("There is no inbox in the memory of this process");
  });

  test("cannot be the database of another program", async () => {
    const file = inboxFile();
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE mine (id)");
    database.close();
    const { exitCode, stderr } = await runCommand(["deliveries", "list", "--inbox", `sqlite:${file}`]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: .*is a database, but not an inbox.*\n$/);
  });

  test("causes a one-line error if the file is damaged", async () => {
    const { file, url } = await filledInbox();
    const database = new DatabaseSync(file);
    database.exec("DROP TABLE attempts");
    database.close();
    const { exitCode, stderr } = await runCommand(["deliveries", "list", "--inbox", url]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: The inbox could not be read or written \(no such table: attempts\).*\n$/);
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
      runCommand(["deliveries", "list", "--inbox", url]),
      runCommand(["deliveries", "list"], { env: { INBOX_URL: url } }),
    ]);
    for (const { exitCode, stdout, stderr } of results) {
      expect([1, 2]).toContain(exitCode);
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^error: .*\n$/);
      expect(stderr).not.toContain("hunter2");
    }
  });
});

describe("A password that is a common word", () => {
  test.each([
    ["postgres://postgres:postgres@127.0.0.1:1/db", "postgres://127.0.0.1:1 cannot be opened"],
    ["redis://user:in@127.0.0.1:1/0", "error: The inbox at redis://127.0.0.1:1"],
  ])("does not make a message unreadable: %s", async (url, expected) => {
    const { stderr } = await runCommand(["deliveries", "list", "--inbox", url]);
    expect(stderr).toContain(expected);
  });
});

describe("Wrong usage of hub-webhooks deliveries", () => {
  test("with an invalid cursor exits with 2", async () => {
    const { env } = await filledInbox();
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "list", "--cursor", "x"], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .*"cursor".*\n$/);
  });

  test("without a subcommand prints the help to standard error", async () => {
    const { exitCode, stdout, stderr } = await runCommand(["deliveries"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("Usage: hub-webhooks deliveries");
  });
});

describe("The process of hub-webhooks deliveries", () => {
  test.each([
    [0, ["list"]],
    [1, ["replay", "gone"]],
  ])("exits with %i for %j", async (exitCode, argv) => {
    const { env } = await filledInbox();
    const result = await startCommand(["deliveries", ...argv], env).ended;
    expect(result).toMatchObject({ exitCode, signal: null });
    expect(exitCode === 0 ? result.stderr : result.stdout).toBe("");
    expect(exitCode === 0 ? result.stdout : result.stderr).not.toBe("");
  });
});
