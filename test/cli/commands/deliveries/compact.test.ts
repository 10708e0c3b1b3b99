import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { migrations } from "../../../../src/inbox/sqlite/database.ts";
import { inboxFile } from "../../../inbox/inbox-file.ts";
import { openInbox } from "../../../inbox/sqlite/open-inbox.ts";
import { runCommand } from "../../run-command.ts";

/** Creates a file of an older release with mostly deleted content. */
function oldFile(): { file: string; env: Record<string, string> } {
  const file = inboxFile();
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA journal_mode = WAL; ${migrations[0]}; PRAGMA application_id = 0x6877696e; PRAGMA user_version = 1`,
  );
  database.exec(`
    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 200)
    INSERT INTO deliveries (endpoint, id, body, received_at, set_at, status, due_at)
      SELECT 'retrain', 'd' || number, hex(zeroblob(10000)), 1, 1, 'queued', 1 FROM numbers;
    DELETE FROM deliveries WHERE sequence > 3;
  `);
  database.close();
  return { file, env: { INBOX_URL: `sqlite:${file}`, NO_COLOR: "1" } };
}

describe("hub-webhooks deliveries compact", () => {
  test("frees unused space, and keeps the deliveries", async () => {
    const { file, env } = oldFile();
    expect(statSync(file).size).toBeGreaterThan(3_000_000);
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "compact", "--format", "json"], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { bytesBefore, bytesAfter } = JSON.parse(stdout);
    expect(bytesBefore).toBeGreaterThan(3_000_000);
    expect(bytesAfter).toBe(statSync(file).size);
    expect(bytesAfter).toBeLessThan(300_000);
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA auto_vacuum").get()).toEqual({ auto_vacuum: 2 });
    database.close();
    const { inbox } = openInbox({ file });
    expect((await inbox.list()).deliveries.map(({ id }) => id)).toEqual(["d3", "d2", "d1"]);
  });

  test("shows both sizes", async () => {
    const { env } = oldFile();
    const { stdout } = await runCommand(["deliveries", "compact"], { env, isTerminal: true });
    expect(stdout).toMatch(/Before\s+4\.\d MB\nAfter\s+0\.\d MB\n/);
  });

  test("refuses while a receiver has the inbox open, and changes nothing", async () => {
    const { file, env } = oldFile();
    const { inbox } = openInbox({ file });
    const before = statSync(file).size;
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "compact"], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/in use by another process\. Stop the server/);
    expect(statSync(file).size).toBe(before);
    expect((await inbox.list()).deliveries).toHaveLength(3);
  });

  test.each(["redis://localhost:1", "postgres://localhost:1/x"])(
    "refuses an inbox that is not a file: %s",
    async (url) => {
      const { exitCode, stderr } = await runCommand(["deliveries", "compact", "--inbox", url]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/SQLite/);
    },
  );

  test("does not create an inbox", async () => {
    const file = inboxFile();
    const { exitCode, stderr } = await runCommand(["deliveries", "compact", "--inbox", `sqlite:${file}`]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("There is no inbox");
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined();
  });
});
