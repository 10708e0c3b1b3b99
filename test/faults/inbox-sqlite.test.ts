import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { inboxFile } from "../inbox/open-file.ts";
import { mountFuse } from "../inbox/sqlite/mount-fuse.ts";
import { startReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { type InboxReceiver, inboxEnvironment, inboxScript, startInboxReceiver } from "./inbox-receiver.ts";
import { syncTrace } from "./inbox-sync-trace.ts";
import { holdsSecret } from "./leak.ts";
import { secret } from "./receiver.ts";
import { countRows, noteNotTried } from "./rows.ts";

countRows("inbox-sqlite");

/** Says why a fault could not be brought about on this machine. */
function notTried(row: string, reason: string): void {
  noteNotTried(`${row} sqlite`, reason);
}

describe("A disk on which nothing can be written", () => {
  /** A disk of its own, as small as that; it is gone after the test. */
  function mountSmallDisk(): string | undefined {
    const at = join(dirname(inboxFile()), "disk");
    mkdirSync(at);
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", at]);
    if (status !== 0) return undefined;
    onTestFinished(() => void spawnSync("umount", ["-l", at]));
    return at;
  }

  /** Sends until one is refused, and returns the answer. */
  async function refusal(receiver: InboxReceiver) {
    return waitFor(async () => {
      const answer = await receiver.deliver({ endpoint: "later" });
      expect(answer.status).not.toBe(202);
      return answer;
    });
  }

  test("I3: because it is full refuses with 503, and takes deliveries again once there is room", async () => {
    const disk = mountSmallDisk();
    if (disk === undefined) return notTried("I3", "since no small disk can be mounted without being root");
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

  test("I3: because its files may not grow refuses with 503, and runs again what ended meanwhile", async () => {
    const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}`, LEASE_MS: 1_000 });
    const [ends, goesOn] = [
      { id: "ends", endpoint: "held" },
      { id: "goes-on", endpoint: "deaf" },
    ];
    for (const sent of [ends, goesOn]) await receiver.deliver(sent);
    await receiver.child.says("work started", 2);
    // Each line of a log names the process.
    const pid = String(receiver.child.lines[0]?.pid);
    const limit = (bytes: string) => spawnSync("prlimit", ["--pid", pid, `--fsize=${bytes}:`]).status;
    if (limit("4096") !== 0) return notTried("I3", "since there is no prlimit here");
    const answer = await refusal(receiver);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    await receiver.saysOnce({ level: "warn", code: "INBOX_UNAVAILABLE", status: 503 });
    await receiver.control("release?endpoint=held");
    await receiver.saysOnce({ deliveryId: "ends", msg: /could not be stored: it will be run again/ });
    limit("unlimited");
    // Its lease ends, although this very process goes on renewing that of the other one.
    const stored = await receiver.ledger.reached(ends, "succeeded");
    expect(stored?.attempts).toMatchObject([{ outcome: "abandoned" }, { outcome: "succeeded" }]);
    expect(await receiver.ledger.read([goesOn])).toMatchObject([{ status: "running", attempts: [] }]);
    await receiver.control("release?endpoint=deaf");
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I3", "sqlite (write error)", { succeeded: 3 });
  });

  test.each([
    { what: "its folder", pathOf: (file: string) => dirname(file), modes: [0o500, 0o700] },
    { what: "its file", pathOf: (file: string) => file, modes: [0o400, 0o600] },
    { what: "its log (WAL)", pathOf: (file: string) => `${file}-wal`, modes: [0o400, 0o600] },
  ])("I3: because $what is read-only refuses with 503, and takes deliveries again when it is not", async (fault) => {
    const { what, pathOf, modes } = fault;
    const file = inboxFile();
    const url = `sqlite:${file}`;
    // Root may write what is read-only.
    const user = process.getuid?.() === 0 ? 1_000 : process.getuid?.();
    if (user === undefined) return notTried("I3", "since there are no users here");
    // What a killed one leaves behind: the file, and its log.
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

describe("A file system that is no disk of this machine", () => {
  const nfs = 0x6969;

  /** Where the inbox would be, and what else the receiver has to be told for it. */
  const places = [
    { what: "FUSE", place: () => mountFuse(), environment: {} },
    { what: "NFS", place: () => dirname(inboxFile()), environment: { FILE_SYSTEM: String(nfs) } },
  ];

  test.each(places)("I12: is refused at the start, with the remedy named: $what", async ({ place, environment }) => {
    const folder = place();
    if (folder === undefined) return notTried("I12", "since there is no such file system here");
    const url = `sqlite:${folder}/new/inbox.db`;
    const child = startReceiverProcess(inboxScript, inboxEnvironment(url, environment));
    expect(await child.exited).toEqual({ code: 1, signal: null });
    const complaints = child.lines.filter(({ level }) => level !== "info");
    expect(complaints).toMatchObject([{ level: "error", code: "INBOX_UNUSABLE" }]);
    expect(complaints[0]?.msg).toMatch(/WAL.*local disk.*redis:.*postgres:.*\?unsafe-file-system=allow/);
    expect(holdsSecret([child.lines, child.errorOutput], secret)).toBe(false);
    expect(child.errorOutput).toBe("");
    const receiver = await startInboxReceiver({ url: `sqlite:${inboxFile()}` });
    await receiver.stillWorks();
    await receiver.ledger.account("I12", "sqlite (refused)", { succeeded: 1 });
  });

  test.each(places)("I12: is used where the URL says so, with a warning: $what", async ({ place, environment }) => {
    const folder = place();
    if (folder === undefined) return notTried("I12", "since there is no such file system here");
    const url = `sqlite:${folder}/inbox.db?unsafe-file-system=allow`;
    const receiver = await startInboxReceiver({ url, ...environment });
    await receiver.saysOnce({ level: "warn", msg: /WAL.*used all the same.*local disk/ });
    await receiver.stillWorks();
    await receiver.ledger.account("I12", "sqlite (allowed)", { succeeded: 1 });
  });
});

describe("The sync of the disk", () => {
  test("I1: stands between the write of each delivery and its 202", async () => {
    const file = join(dirname(inboxFile()), "new", "folder", "inbox.db");
    const trace = await syncTrace(file);
    if (typeof trace === "string") return notTried("I1 trace", trace);
    const { answers, writes, syncs, syncedFolders } = trace;
    // Or the file itself would be gone after a power cut, with the folders that were made for it.
    const folders = [dirname(file), dirname(dirname(file)), dirname(dirname(dirname(file)))];
    for (const folder of folders) expect(syncedFolders.get(folder)).toBeLessThan(answers[0]?.at ?? 0);
    // One alone, and then twenty together, of which some share a sync.
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
