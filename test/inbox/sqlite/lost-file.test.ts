import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { waitFor } from "../../support/wait-for.ts";
import { inboxFile } from "../inbox-file.ts";
import { failed, hold, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

const unavailable = { code: "INBOX_UNAVAILABLE", status: 503 };
/** Long enough that only writes detect the fault. */
const pollMs = 3_600_000;

/** Opens an inbox that never polls. `pollMs` then only sets the delay of retries. */
function openWithoutPolls(options: Parameters<typeof openInbox>[0]) {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  try {
    return openInbox(options);
  } finally {
    vi.useRealTimers();
  }
}

/** Returns the path of a file in a separate folder that the test can remove. */
function fileInFolder(): string {
  return join(dirname(inboxFile()), "private", "inbox.db");
}

async function idsOf(inbox: Inbox): Promise<string[]> {
  return (await inbox.list({ limit: 1_000 })).deliveries.map(({ id }) => id).sort();
}

/** Moves the folder of a file away. Returns a function that moves it back. */
function moveAway(file: string): () => void {
  const folder = dirname(file);
  renameSync(folder, `${folder}-moved`);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    renameSync(`${folder}-moved`, folder);
  };
}

describe("An inbox whose file was removed", () => {
  const faults: { what: string; lose: (file: string) => void }[] = [
    { what: "its folder was deleted", lose: (file) => rmSync(dirname(file), { recursive: true }) },
    { what: "its folder was moved", lose: moveAway },
    { what: "only the file was deleted", lose: (file) => rmSync(file) },
    { what: "only the WAL was deleted", lose: (file) => rmSync(`${file}-wal`) },
    { what: "only the index of the WAL was deleted", lose: (file) => rmSync(`${file}-shm`) },
    {
      what: "another inbox was moved to its path",
      lose: (file) => {
        const other = inboxFile();
        openInboxDatabase(other).close();
        renameSync(other, file);
      },
    },
  ];

  test.each(faults)("rejects deliveries, logs it once, and stores nothing: $what", async ({ lose }) => {
    const file = fileInFolder();
    const { inbox, logger } = openInbox({ file, pollMs });
    await inbox.accept(incoming("before"));
    lose(file);
    for (const id of ["a", "b"]) await expect(inbox.accept(incoming(id))).rejects.toMatchObject(unavailable);
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE", severity: "unavailable" }]);
    expect(logger.lines).toMatchObject([{ level: "error", code: "INBOX_UNAVAILABLE", file }]);
    const wasThere = existsSync(file);
    await inbox.close(0);
    expect(existsSync(file)).toBe(wasThere);
  });

  test("is a problem at the next poll, without a delivery", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file });
    rmSync(dirname(file), { recursive: true });
    await waitFor(async () => expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE" }]));
  });

  test("is used again with all deliveries when the file is moved back", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs });
    await inbox.accept(incoming("a"));
    const moveBack = moveAway(file);
    await expect(inbox.accept(incoming("b"))).rejects.toMatchObject(unavailable);
    moveBack();
    expect(await inbox.accept(incoming("c"))).toEqual({ duplicate: false });
    expect(await inbox.problems()).toEqual([]);
    await inbox.close(0);
    // The commit of "b" was written before the check, so it may run although it was refused.
    expect(await idsOf(openInbox({ file }).inbox)).toEqual(["a", "b", "c"]);
  });

  const endings = [
    { status: "succeeded", outcome: succeeded },
    { status: "dead", outcome: failed({ retryable: false }) },
  ] as const;

  test.each(endings)("lets handlers finish, and stores the result when the file is back: $status", async (ending) => {
    const { status, outcome } = ending;
    const file = fileInFolder();
    const { inbox, logger } = openWithoutPolls({ file, pollMs: 50 });
    const { runs, end } = await hold(inbox);
    const moveBack = moveAway(file);
    end(outcome);
    const complaints = () => logger.lines.filter(({ deliveryId }) => deliveryId === "a");
    await waitFor(() => expect(complaints()).toMatchObject([{ level: "error" }]));
    moveBack();
    expect((await waitForStatus(inbox, "a", status))?.attempts).toMatchObject([{ number: 1 }]);
    expect(runs).toHaveLength(1);
    await inbox.close(1_000);
    expect(complaints()).toHaveLength(1);
  });

  test("runs deliveries whose claim failed when the file is back", async () => {
    const file = fileInFolder();
    const { inbox, logger } = openInbox({ file, pollMs: 50 });
    await inbox.accept(incoming("a"));
    const moveBack = moveAway(file);
    const runs = work(inbox, () => succeeded);
    await waitFor(() => expect(logger.lines.length).toBeGreaterThan(1));
    expect(logger.lines[0]).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    moveBack();
    expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([
      { number: 1, outcome: "succeeded" },
    ]);
    expect(runs).toMatchObject([{ attempt: 1 }]);
  });
});

describe("A file of another program at the path of an inbox", () => {
  test.each([
    ["a text file", (file: string) => writeFileSync(file, "dear diary, ".repeat(500))],
    [
      "a database",
      (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE notes (text TEXT)");
        database.close();
      },
    ],
  ])("is not changed: %s", async (_what, make) => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs: 50 });
    await inbox.accept(incoming("a"));
    const foreign = inboxFile();
    make(foreign);
    // Like `mv`, this leaves the inbox's WAL in place.
    renameSync(foreign, file);
    const bytes = readFileSync(file);
    await expect(inbox.accept(incoming("b"))).rejects.toMatchObject(unavailable);
    await inbox.close(0);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  test("keeps its log when the inbox is closed", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs });
    await inbox.accept(incoming("a"));
    rmSync(dirname(file), { recursive: true });
    mkdirSync(dirname(file));
    const other = new DatabaseSync(file);
    other.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('dear diary')");
    await inbox.close(0);
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    expect(other.prepare("SELECT text FROM notes").all()).toEqual([{ text: "dear diary" }]);
    other.close();
  });
});
