import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Inbox } from "../../../src/inbox/inbox.ts";
import { compactInboxFile } from "../../../src/inbox/sqlite/compact-inbox.ts";
import { waitFor } from "../../support/wait-for.ts";
import { inboxFile } from "../inbox-file.ts";
import { failed, incoming, openInbox, succeeded, waitForStatus, work } from "./open-inbox.ts";

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

async function acceptAll(inbox: Inbox, ids: readonly string[]): Promise<void> {
  for (const id of ids) await inbox.accept(incoming(id));
}

async function idsOf(inbox: Inbox): Promise<string[]> {
  return (await inbox.list({ limit: 1_000 })).deliveries.map(({ id }) => id).sort();
}

function execute(file: string, statement: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(statement);
  database.close();
}

/** Returns the IDs of the deliveries after a restart. */
async function idsAfterRestart(file: string): Promise<string[]> {
  return idsOf(openInbox({ file }).inbox);
}

describe("An inbox whose file was removed", () => {
  const faults: { what: string; lose: (file: string) => void }[] = [
    { what: "its folder was deleted", lose: (file) => rmSync(dirname(file), { recursive: true }) },
    { what: "its folder was moved", lose: (file) => renameSync(dirname(file), `${dirname(file)}-moved`) },
    { what: "only the file was deleted", lose: (file) => rmSync(file) },
    {
      what: "the file and the WAL were deleted",
      lose: (file) => ["", "-wal"].map((suffix) => rmSync(`${file}${suffix}`)),
    },
    { what: "only the WAL was deleted", lose: (file) => rmSync(`${file}-wal`) },
    { what: "only the index of the WAL was deleted", lose: (file) => rmSync(`${file}-shm`) },
  ];

  test.each(faults)("rejects one delivery, then restores all that it had accepted: $what", async ({ lose }) => {
    const file = fileInFolder();
    const { inbox, logger } = openInbox({ file, pollMs });
    const before = Array.from({ length: 20 }, (_, index) => `before-${index}`);
    await acceptAll(inbox, before);
    lose(file);
    await expect(inbox.accept(incoming("refused"))).rejects.toMatchObject(unavailable);
    expect(await inbox.accept(incoming("later"))).toEqual({ duplicate: false });
    expect(logger.lines).toMatchObject([
      { level: "error", code: "INBOX_UNAVAILABLE", file },
      { level: "warn", file },
    ]);
    const expected = [...before, "later", "refused"].sort();
    expect(await idsOf(inbox)).toEqual(expected);
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    expect((statSync(dirname(file)).mode & 0o777).toString(8)).toBe("700");
    // A second process can read the deliveries while the first one is running.
    expect(await idsAfterRestart(file)).toEqual(expected);
    await inbox.close(0);
    expect(await idsAfterRestart(file)).toEqual(expected);
    expect(readdirSync(dirname(file)).filter((name) => name.includes("restored"))).toEqual([]);
  });

  test("is restored by the next poll, without a delivery", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file });
    await inbox.accept(incoming("a"));
    rmSync(dirname(file), { recursive: true });
    await waitFor(() => expect(existsSync(file)).toBe(true));
    await waitFor(async () => expect(await inbox.problems()).toEqual([]));
    expect(await idsAfterRestart(file)).toEqual(["a"]);
  });

  const endings = [
    { status: "succeeded", outcome: succeeded },
    { status: "dead", outcome: failed({ retryable: false }) },
  ] as const;

  test.each(endings)("lets running handlers finish, and stores the result: $status", async ({ status, outcome }) => {
    const file = fileInFolder();
    const { inbox, logger } = openWithoutPolls({ file, pollMs: 50 });
    const release = Promise.withResolvers<void>();
    const runs = work(inbox, async () => {
      await release.promise;
      return outcome;
    });
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    rmSync(dirname(file), { recursive: true });
    release.resolve();
    // The first commit fails, and the second restores the file.
    expect((await waitForStatus(inbox, "a", status))?.attempts).toMatchObject([{ number: 1 }]);
    expect(runs).toHaveLength(1);
    await inbox.close(1_000);
    expect(logger.lines.filter(({ deliveryId }) => deliveryId === "a")).toMatchObject([{ level: "error" }]);
  });

  test("sends heartbeats to the restored file while a delivery runs", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, leaseMs: 300 });
    const runs = work(inbox, () => new Promise(() => {}));
    await inbox.accept(incoming("a"));
    await waitFor(() => expect(runs).toHaveLength(1));
    const heartbeats = () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const found = database.prepare("SELECT max(heartbeats) AS heartbeats FROM processes").get();
      database.close();
      return Number(found?.heartbeats ?? 0);
    };
    // By then, the thread has started.
    await waitFor(() => expect(heartbeats()).toBeGreaterThan(5));
    rmSync(dirname(file), { recursive: true });
    await waitFor(() => expect(existsSync(file)).toBe(true));
    await waitFor(async () => expect(await inbox.problems()).toEqual([]));
    const before = heartbeats();
    await waitFor(() => expect(heartbeats()).toBeGreaterThan(before + 2));
  });

  test("tries again if its deliveries cannot be copied into another inbox", async () => {
    const file = fileInFolder();
    const { inbox, logger } = openInbox({ file, pollMs: 50 });
    await inbox.accept(incoming("a"));
    const other = inboxFile();
    await openInbox({ file: other }).inbox.close(0);
    execute(other, "CREATE TRIGGER refuse BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'Not now.'); END");
    renameSync(other, file);
    await waitFor(() => expect(logger.lines.some(({ msg }) => msg.includes("Not now."))).toBe(true));
    execute(file, "DROP TRIGGER refuse");
    await waitFor(async () => expect(await inbox.problems()).toEqual([]));
    expect(await idsAfterRestart(file)).toEqual(["a"]);
  });

  test("runs deliveries whose claim failed because the file was removed", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs: 50 });
    await inbox.accept(incoming("a"));
    rmSync(dirname(file), { recursive: true });
    const runs = work(inbox, () => succeeded);
    expect((await waitForStatus(inbox, "a", "succeeded"))?.attempts).toMatchObject([
      { number: 1, outcome: "succeeded" },
    ]);
    expect(runs).toMatchObject([{ attempt: 1 }]);
  });

  test("copies its deliveries into an inbox that another process has created at the path", async () => {
    const file = fileInFolder();
    const first = openInbox({ file, pollMs });
    const runs = work(first.inbox, () => succeeded);
    await acceptAll(first.inbox, ["done", "both"]);
    await waitForStatus(first.inbox, "done", "succeeded");
    await waitForStatus(first.inbox, "both", "succeeded");
    await first.inbox.ownActions.add(["commit a", "commit b"]);
    rmSync(dirname(file), { recursive: true });
    const second = openInbox({ file });
    await second.inbox.ownActions.add(["commit b"]);
    await acceptAll(second.inbox, ["new", "both"]);
    // This write may fail, or succeed because the worker has already detected the fault.
    await first.inbox.accept(incoming("tried")).catch(() => {});
    await first.inbox.accept(incoming("later"));
    expect(await idsOf(second.inbox)).toEqual(["both", "done", "later", "new", "tried"]);
    expect((await second.inbox.ownActions.find(["commit a", "commit b"])).size).toBe(2);
    expect((await second.inbox.get({ id: "done", endpoint: "retrain" }))?.attempts).toMatchObject([
      { outcome: "succeeded" },
    ]);
    await waitFor(async () => expect((await second.inbox.counts()).retrain).toMatchObject({ succeeded: 5, queued: 0 }));
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(["both", "done", "later", "new", "tried"]));
    await first.inbox.close(0);
    expect(await second.inbox.accept(incoming("after"))).toEqual({ duplicate: false });
    expect(await idsAfterRestart(file)).toContain("after");
  });

  test("is copied by two receivers into an inbox that was moved to the path next to their WAL", async () => {
    const file = fileInFolder();
    const [first, second] = [openInbox({ file, pollMs }), openInbox({ file, pollMs })];
    await first.inbox.accept(incoming("a"));
    await second.inbox.accept(incoming("b"));
    const other = inboxFile();
    const moved = openInbox({ file: other });
    await moved.inbox.accept(incoming("c"));
    await moved.inbox.close(0);
    renameSync(other, file);
    const ids = Array.from({ length: 40 }, (_, index) => `d${10 + index}`);
    for (const [index, id] of ids.entries()) {
      const { inbox } = index % 2 ? first : second;
      await inbox.accept(incoming(id)).catch(() => inbox.accept(incoming(id)));
    }
    await Promise.all([first.inbox.close(0), second.inbox.close(0)]);
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
    expect(await idsAfterRestart(file)).toEqual(["a", "b", "c", ...ids]);
  });

  test("waits before it retries a slow copy that failed, because copying blocks the event loop", async () => {
    const clock = { now: 10_000 };
    const now = vi.spyOn(performance, "now").mockImplementation(() => clock.now);
    const { prepare } = DatabaseSync.prototype;
    let copies = 0;
    const failing = vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(function (this: DatabaseSync, sql) {
      if (!sql.startsWith("VACUUM")) return prepare.call(this, sql);
      copies += 1;
      clock.now += 4_000;
      throw new Error("The disk is full.");
    });
    onTestFinished(() => {
      for (const spy of [now, failing]) spy.mockRestore();
    });
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs });
    await inbox.accept(incoming("a"));
    rmSync(dirname(file), { recursive: true });
    const refuse = (id: string) => expect(inbox.accept(incoming(id))).rejects.toMatchObject(unavailable);
    for (const id of ["b", "c"]) await refuse(id);
    expect(copies).toBe(1);
    clock.now += 39_999;
    await refuse("d");
    expect(copies).toBe(1);
    clock.now += 1;
    await refuse("e");
    expect(copies).toBe(2);
    failing.mockRestore();
    clock.now += 40_000;
    await inbox.accept(incoming("f"));
    expect(await idsAfterRestart(file)).toEqual(expect.arrayContaining(["a", "f"]));
  });

  test("closes the inbox at the path if its deliveries cannot be copied into it", async () => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs });
    await inbox.accept(incoming("a"));
    rmSync(dirname(file), { recursive: true });
    await openInbox({ file }).inbox.close(0);
    const other = new DatabaseSync(file);
    other.exec("CREATE TRIGGER refuse BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'refused'); END");
    other.close();
    for (const id of ["b", "c"]) await expect(inbox.accept(incoming(id))).rejects.toMatchObject(unavailable);
    expect(await inbox.problems()).toMatchObject([{ message: expect.stringContaining("cannot be restored: refused") }]);
    // Compacting fails while a connection to the file is open.
    expect(compactInboxFile(file).bytesAfter).toBeGreaterThan(0);
  });

  test.each(faults)("is restored once if two receivers share it: $what", async ({ lose }) => {
    const file = fileInFolder();
    const [first, second] = [openInbox({ file, pollMs }), openInbox({ file, pollMs })];
    await first.inbox.accept(incoming("a"));
    await second.inbox.accept(incoming("b"));
    lose(file);
    await expect(first.inbox.accept(incoming("c"))).rejects.toMatchObject(unavailable);
    await first.inbox.accept(incoming("d"));
    await expect(second.inbox.accept(incoming("e"))).rejects.toMatchObject(unavailable);
    await second.inbox.accept(incoming("f"));
    const more = Array.from({ length: 40 }, (_, index) => `g${10 + index}`);
    for (const [index, id] of more.entries()) await (index % 2 ? first : second).inbox.accept(incoming(id));
    const expected = ["a", "b", "c", "d", "e", "f", ...more];
    expect(await idsOf(first.inbox)).toEqual(expected);
    await Promise.all([first.inbox.close(0), second.inbox.close(0)]);
    const database = new DatabaseSync(file);
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
    expect(await idsAfterRestart(file)).toEqual(expected);
  });

  test.each(faults)("is restored when the inbox closes: $what", async ({ lose }) => {
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs });
    await inbox.accept(incoming("a"));
    lose(file);
    await inbox.close(0);
    expect(await idsAfterRestart(file)).toEqual(["a"]);
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
  ])("is not changed, and the inbox is restored when it is moved away: %s", async (_what, make) => {
    const file = fileInFolder();
    const { inbox, logger } = openInbox({ file, pollMs: 50 });
    await inbox.accept(incoming("a"));
    const foreign = inboxFile();
    make(foreign);
    // Like `mv`, this leaves the inbox's WAL in place.
    renameSync(foreign, file);
    const bytes = readFileSync(file);
    await expect(inbox.accept(incoming("b"))).rejects.toMatchObject(unavailable);
    await waitFor(async () =>
      expect(await inbox.problems()).toMatchObject([{ code: "INBOX_FILE_REPLACED", severity: "unavailable" }]),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
    const errors = logger.lines.filter(({ level }) => level === "error");
    expect(errors).toMatchObject([{ code: "INBOX_UNAVAILABLE" }, { code: "INBOX_FILE_REPLACED" }]);
    mkdirSync(join(dirname(file), "elsewhere"));
    renameSync(file, join(dirname(file), "elsewhere", "notes"));
    await waitFor(async () => expect(await inbox.problems()).toEqual([]));
    await inbox.accept(incoming("c"));
    expect(await idsAfterRestart(file)).toEqual(expect.arrayContaining(["a", "c"]));
    expect(readFileSync(join(dirname(file), "elsewhere", "notes")).equals(bytes)).toBe(true);
  });

  test("is checked again after 0.9 s, not for each delivery", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
    onTestFinished(() => void clock.mockRestore());
    const file = fileInFolder();
    const { inbox } = openInbox({ file, pollMs });
    await inbox.accept(incoming("a"));
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`);
    writeFileSync(file, "dear diary, ".repeat(500));
    for (const id of ["b", "c"]) await expect(inbox.accept(incoming(id))).rejects.toMatchObject(unavailable);
    rmSync(file);
    clock.mockReturnValue(10_899);
    await expect(inbox.accept(incoming("d"))).rejects.toMatchObject(unavailable);
    expect(existsSync(file)).toBe(false);
    clock.mockReturnValue(10_900);
    await inbox.accept(incoming("e"));
    expect(await idsAfterRestart(file)).toEqual(expect.arrayContaining(["a", "e"]));
  });

  test("keeps its log when the inbox is closed that cannot be restored", async () => {
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
