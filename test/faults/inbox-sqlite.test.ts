import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { inboxFile } from "../inbox/inbox-file.ts";
import { damage, makeLargeFile, pagesWith } from "../inbox/sqlite/large-file.ts";
import { startReceiverProcess } from "../support/receiver-process.ts";
import { holdsSecret } from "../support/secrets.ts";
import { waitFor } from "../support/wait-for.ts";
import { Ledger } from "./inbox-ledger.ts";
import { type InboxReceiver, inboxEnvironment, inboxScript, startInboxReceiver } from "./inbox-receiver.ts";
import { syncTrace } from "./inbox-sync-trace.ts";
import { secret } from "./receiver.ts";
import { countRows, noteAccount, skipFault } from "./rows.ts";

countRows("inbox-sqlite");

/** Slow machines need more time. */
const slowTest = { timeout: 120_000 };

/** Mounts a disk of this size and unmounts it after the test. Skips the test unless it runs as root. */
function mountSmallDisk(row: string, size: "1m" | "8m"): string {
  const at = join(dirname(inboxFile()), "disk");
  mkdirSync(at);
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", at]);
  if (status !== 0) skipFault(`${row} sqlite`, "mounting a disk needs root");
  onTestFinished(() => void spawnSync("umount", ["-l", at]));
  return at;
}

describe("A file that a newer release updates while it is open", () => {
  test("I23: is answered 503, reported, and not changed any more", slowTest, async () => {
    const file = inboxFile();
    const receiver = await startInboxReceiver({ url: `sqlite:${file}`, LEASE_MS: 1_000 });
    await receiver.deliver({ id: "runs", endpoint: "held" });
    await receiver.child.says("work started");
    const newer = new DatabaseSync(file, { timeout: 5_000 });
    onTestFinished(() => newer.close());
    newer.exec("ALTER TABLE deliveries ADD COLUMN of_a_newer_release TEXT; PRAGMA user_version = 99");
    const changes = () => newer.prepare("PRAGMA data_version").get()?.data_version;
    const before = changes();
    const answer = await receiver.deliver({ id: "late" });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    expect((await receiver.page("/ready")).status).toBe(503);
    await receiver.control("release?endpoint=held");
    await receiver.saysOnce({ deliveryId: "runs", msg: /could not be stored/ });
    await receiver.saysOnce({ level: "error", code: "INBOX_UNUSABLE" });
    await receiver.keepsSecret(answer);
    receiver.child.signal("SIGTERM");
    await receiver.child.exited;
    expect(changes()).toBe(before);
    expect(newer.prepare("SELECT id, status FROM deliveries").all()).toEqual([{ id: "runs", status: "running" }]);
    noteAccount({ acknowledged: 1, succeeded: 0, dead: 0, queued: 1, lost: 0 });
  });
});

describe("A disk that cannot be written to", () => {
  /** Sends deliveries until one is refused and returns that answer. */
  async function refusal(receiver: InboxReceiver) {
    return waitFor(async () => {
      const answer = await receiver.deliver({ endpoint: "later" });
      expect(answer.status).not.toBe(202);
      return answer;
    });
  }

  test("I3: because it is full causes 503 responses until there is space again", async () => {
    const disk = mountSmallDisk("I3", "1m");
    const receiver = await startInboxReceiver({ url: `sqlite:${disk}/inbox.db` });
    await receiver.stillWorks();
    const ballast = join(disk, "ballast");
    expect(() => writeFileSync(ballast, Buffer.alloc(2_000_000))).toThrow("ENOSPC");
    const answer = await refusal(receiver);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    expect(answer.headers.get("retry-after")).toBe("5");
    await receiver.saysOnce({ level: "warn", code: "INBOX_UNAVAILABLE", status: 503 });
    rmSync(ballast);
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I3", "sqlite (full disk)");
  });

  test("I3: because of a file size limit causes 503 responses, and outcomes are stored later", async () => {
    const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}`, LEASE_MS: 1_000 });
    const [ends, goesOn] = [
      { id: "ends", endpoint: "held" },
      { id: "goes-on", endpoint: "deaf" },
    ];
    for (const sent of [ends, goesOn]) await receiver.deliver(sent);
    await receiver.child.says("work started", 2);
    // Each log line contains the process ID.
    const pid = String(receiver.child.lines[0]?.pid);
    const limit = (bytes: string) => spawnSync("prlimit", ["--pid", pid, `--fsize=${bytes}:`]).status;
    if (limit("4096") !== 0) skipFault("I3 sqlite", "prlimit is missing");
    const answer = await refusal(receiver);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    await receiver.saysOnce({ level: "warn", code: "INBOX_UNAVAILABLE", status: 503 });
    await receiver.control("release?endpoint=held");
    await receiver.saysOnce({ deliveryId: "ends", msg: /could not be stored/ });
    limit("unlimited");
    const stored = await receiver.ledger.waitForStatus(ends, "succeeded");
    expect(stored?.attempts).toMatchObject([{ outcome: "succeeded" }]);
    expect(await receiver.ledger.read([goesOn])).toMatchObject([{ status: "running", attempts: [] }]);
    await receiver.control("release?endpoint=deaf");
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I3", "sqlite (write error)", { succeeded: 3 });
  });

  test.each([
    { what: "its folder", pathOf: (file: string) => dirname(file), modes: [0o500, 0o700] },
    { what: "its file", pathOf: (file: string) => file, modes: [0o400, 0o600] },
    { what: "its log (WAL)", pathOf: (file: string) => `${file}-wal`, modes: [0o400, 0o600] },
  ])("I3: because $what is read-only causes 503 responses until it is writable again", async (fault) => {
    const { what, pathOf, modes } = fault;
    const file = inboxFile();
    const url = `sqlite:${file}`;
    // Root can write to read-only files, so run the receiver as another user.
    const user = process.getuid?.() === 0 ? 1_000 : process.getuid?.();
    if (user === undefined) skipFault("I3 sqlite", "this system has no user IDs");
    // A killed process leaves the database file and its WAL behind.
    const { child } = await startInboxReceiver({ url });
    child.signal("SIGKILL");
    await child.exited;
    if (what === "its folder") readdirSync(dirname(file)).map((name) => rmSync(join(dirname(file), name)));
    const folder = dirname(file);
    for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) chownSync(path, user, user);
    const [readOnly = 0, writable = 0] = modes;
    chmodSync(pathOf(file), readOnly);
    const receiver = await startInboxReceiver({ url, RUN_AS: user });
    const answer = await waitFor(async () => {
      const refused = await receiver.deliver();
      expect(refused.status).not.toBe(404);
      return refused;
    });
    expect(answer.status, answer.text).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    expect(answer.headers.get("retry-after")).toBe("60");
    await receiver.saysOnce({ level: "warn", code: "INBOX_UNAVAILABLE", status: 503 });
    chmodSync(pathOf(file), writable);
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I3", `sqlite (read-only: ${what})`, { succeeded: 1 });
  });
});

test("I12: a file system that is not local is refused at startup, with a remedy", async () => {
  const nfs = 0x6969;
  const url = `sqlite:${dirname(inboxFile())}/new/inbox.db`;
  const child = startReceiverProcess(inboxScript, inboxEnvironment(url, { FILE_SYSTEM: String(nfs) }));
  expect(await child.exited).toEqual({ code: 1, signal: null });
  const complaints = child.lines.filter(({ level }) => level !== "info");
  expect(complaints).toMatchObject([{ level: "error", code: "INBOX_UNUSABLE" }]);
  expect(complaints[0]?.msg).toMatch(/local disk.*redis:.*postgres:.*\?unsafe-file-system=allow/);
  expect(holdsSecret([child.lines, child.errorOutput], secret)).toBe(false);
  expect(child.errorOutput).toBe("");
  const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}` });
  await receiver.stillWorks();
  await receiver.ledger.account("I12", "sqlite (refused)", { succeeded: 1 });
});

describe("A disk of 8 MB that is filled by deliveries", () => {
  /** Sends deliveries until the disk is full and one is refused. */
  async function fill(receiver: InboxReceiver, endpoint: string) {
    let socket = await receiver.connect();
    for (let sent = 0; ; sent += 1) {
      const delivery = { id: `${endpoint}-${sent}`, endpoint };
      const answer = await socket.send(receiver.bytes(delivery)).answer();
      receiver.note(answer, delivery);
      if (answer.status !== 202) return answer;
      // The server closes the connection after its last permitted request.
      if (answer.headers.get("connection") === "close") socket = await receiver.connect();
    }
  }

  test("I16: accepts deliveries again when there is space, without a restart", slowTest, async () => {
    const disk = mountSmallDisk("I16", "8m");
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(4_000_000));
    const receiver = await startInboxReceiver({ url: `sqlite:${disk}/inbox.db` });
    const answer = await fill(receiver, "later");
    expect(answer.status).toBe(503);
    // Other programs cannot write to the full disk either.
    expect(() => writeFileSync(join(disk, "more"), Buffer.alloc(4_000_000))).toThrow("ENOSPC");
    expect((await receiver.deliver()).status).toBe(503);
    rmSync(join(disk, "more"));
    rmSync(ballast);
    await waitFor(async () => expect((await receiver.deliver()).status).toBe(202));
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I16", "sqlite (space again)");
  });

  test("I16: accepts deliveries again after a restart, when there is space", slowTest, async () => {
    const disk = mountSmallDisk("I16", "8m");
    const url = `sqlite:${disk}/inbox.db`;
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(4_000_000));
    const ledger = new Ledger(url);
    // Another process takes over running deliveries when the lease of the killed one expires.
    const killed = await startInboxReceiver({ url, ledger, LEASE_MS: 1_000 });
    expect((await fill(killed, "later")).status).toBe(503);
    killed.child.signal("SIGKILL");
    await killed.child.exited;
    rmSync(ballast);
    const receiver = await startInboxReceiver({ url, ledger, LEASE_MS: 1_000 });
    await receiver.stillWorks();
    await ledger.account("I16", "sqlite (restart)");
  });

  test("I16: runs stored deliveries, and accepts more after finished ones are deleted", slowTest, async () => {
    const disk = mountSmallDisk("I16", "8m");
    const receiver = await startInboxReceiver({ url: `sqlite:${disk}/inbox.db`, CLOCK: "own" });
    const answer = await fill(receiver, "brief");
    expect(answer.status).toBe(503);
    await waitFor(async () =>
      expect(await receiver.control("counts")).toMatchObject({ brief: { queued: 0, running: 0 } }),
    );
    await receiver.control(`clock?by=${2 * 3_600_000}`);
    await receiver.control("prune");
    await waitFor(async () => expect((await receiver.deliver()).status).toBe(202));
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I16", "sqlite (forgotten)", { queued: 0 });
  });
});

describe("The file of an open inbox", () => {
  // `lost-file.test.ts` loses the file in other ways.
  test("I14: that is moved causes refused deliveries, and is used again when it is back", async () => {
    const folder = join(dirname(inboxFile()), "private");
    const url = `sqlite:${join(folder, "inbox.db")}`;
    const ledger = new Ledger(url);
    const receiver = await startInboxReceiver({ url, ledger, LEASE_MS: 1_000 });
    for (let sent = 0; sent < 20; sent += 1) expect((await receiver.deliver({ endpoint: "later" })).status).toBe(202);
    renameSync(folder, `${folder}-moved`);
    const answer = await receiver.deliver({ endpoint: "later" });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    const reason = { code: "INBOX_UNAVAILABLE", msg: expect.stringContaining("deleted, moved") };
    await waitFor(() => expect(receiver.child.lines.find(({ level }) => level === "error")).toMatchObject(reason));
    renameSync(`${folder}-moved`, folder);
    await waitFor(async () => expect((await receiver.deliver({ endpoint: "later" })).status).toBe(202));
    receiver.child.signal("SIGKILL");
    await receiver.child.exited;
    await (await startInboxReceiver({ url, ledger, LEASE_MS: 1_000 })).stillWorks(answer);
    const account = await ledger.account("I14", "sqlite", { succeeded: 1 });
    expect(account.queued).toBeGreaterThanOrEqual(21);
  });
});

describe("A file of more than 64 MB", () => {
  test("I17: with a damaged page blocks no other endpoint, retry or takeover", slowTest, async () => {
    const file = inboxFile();
    // The first endpoint of the index, so that the deliveries of the others are not next to the damaged page.
    makeLargeFile(file, { endpoint: "blocking" });
    const url = `sqlite:${file}`;
    const ledger = new Ledger(url);
    const before = await startInboxReceiver({ url, ledger, LEASE_MS: 1_000 });
    const held = { id: "interrupted", endpoint: "held" };
    await before.deliver(held);
    await before.child.says("work started");
    before.child.signal("SIGKILL");
    await before.child.exited;
    const database = new DatabaseSync(file);
    // The log (WAL) contains a newer copy of the page.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    damage(file, pagesWith(file, { name: "deliveries_queued", kind: "leaf", text: "blocking" }).slice(0, 1));
    // With a shorter lease, a busy machine could delay a heartbeat, so that a delivery waits as a suspect.
    const receiver = await startInboxReceiver({ url, ledger, LEASE_MS: 3_000, HELD: "no" });
    await receiver.child.says(/is damaged/);
    const stored = await ledger.waitForStatus(held, "succeeded");
    expect(stored?.attempts).toMatchObject([{ outcome: "abandoned" }, { outcome: "succeeded" }]);
    const retried = { id: "poison-retried", endpoint: "picky" };
    await receiver.deliver(retried);
    expect((await ledger.waitForStatus(retried, "dead"))?.attempts).toHaveLength(3);
    await receiver.saysOnce({ level: "error", code: "INBOX_DAMAGED" });
    await ledger.account("I17", "sqlite", { succeeded: 1, dead: 1 });
  });
});

describe("The sync of the disk", () => {
  test("I1: happens after each delivery is written and before its 202 response", async () => {
    const file = join(dirname(inboxFile()), "new", "folder", "inbox.db");
    const trace = await syncTrace(file);
    if (typeof trace === "string") skipFault("I1 sqlite (trace)", trace);
    const { answers, writes, syncs, syncedPaths } = trace;
    // A power loss could otherwise remove the new file and its folders.
    const folders = [dirname(file), dirname(dirname(file)), dirname(dirname(dirname(file)))];
    for (const folder of folders) expect(syncedPaths.get(folder)).toBeLessThan(answers[0]?.at ?? 0);
    // Five single deliveries, then twenty concurrent ones, some of which share a sync.
    expect(answers).toHaveLength(25);
    for (const { id, at } of answers) {
      const written = writes.find(({ text }) => text.includes(id))?.at ?? Number.POSITIVE_INFINITY;
      const synced = syncs.some((sync) => sync > written && sync < at);
      expect({ id, written: written < at, synced }).toEqual({ id, written: true, synced: true });
    }
    console.log(
      `I1 sqlite: ${answers.length} answers of 202, a sync of the file before each of them, ${syncs.length} syncs`,
    );
    expect(holdsSecret([readFileSync(file), readFileSync(`${file}-wal`, { flag: "a+" })], secret)).toBe(false);
  });
});
