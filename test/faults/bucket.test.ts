import { beforeEach, expect, onTestFinished, test } from "vitest";
import { denied, FaultyS3, full, type S3Fault, slowDown } from "../support/faulty-s3.ts";
import { type ReceiverProcess, startReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { Ledger } from "./inbox-ledger.ts";
import { type InboxReceiver, inboxEnvironment, inboxScript, startInboxReceiver } from "./inbox-receiver.ts";
import { countRows } from "./rows.ts";

countRows("bucket");

/** Longer than the lease of an owner, in milliseconds. */
const leaseMs = 61_000;
/** Processes have to start during these tests. */
const timeout = { timeout: 90_000 };

let s3: FaultyS3;
let ledger: Ledger;

beforeEach(async () => {
  s3 = await FaultyS3.start();
  const server = s3;
  onTestFinished(() => server.close());
  // The ledger reads the bucket in this process.
  Object.assign(process.env, s3.variables());
  ledger = new Ledger(s3.variables().INBOX_URL ?? "");
});

/** Limits that are short enough for tests. An application opens the inbox without them. */
const limits = { SNAPSHOT_RECORDS: "20", MAX_WAIT_MS: "5000" };

/** The variables of a receiver whose access key is its name. */
function variablesOf(name: string, environment: Readonly<Record<string, string>> = limits): Record<string, string> {
  return { SPACE_ID: "me/receiver", ...s3.variables({ accessKey: name }), ...environment };
}

/** Starts a receiver and waits until it is ready. */
function start(name: string, environment?: Readonly<Record<string, string>>): Promise<InboxReceiver> {
  const { INBOX_URL: url = "", ...variables } = variablesOf(name, environment);
  return startInboxReceiver({ url, ledger, ...variables });
}

/** Starts a receiver that does not have to become ready. */
function startProcess(name: string, environment?: Readonly<Record<string, string>>): ReceiverProcess {
  const { INBOX_URL: url = "", ...variables } = variablesOf(name, environment);
  return startReceiverProcess(inboxScript, inboxEnvironment(url, variables));
}

/** Kills a receiver, and starts another one without faults. Nothing is lost or reported as damaged. */
async function accountAfterKill(row: string, { child }: InboxReceiver): Promise<InboxReceiver> {
  child.signal("SIGKILL");
  await child.exited;
  const last = await start("LAST");
  await last.stillWorks();
  await ledger.account(row, "Bucket", { queued: 0, dead: 0 });
  expect(last.child.lines.filter(({ code }) => code === "INBOX_DAMAGED")).toEqual([]);
  return last;
}

const isRecord = { operations: ["PUT"], keys: "/log/" } as const;

test("B1: restore the newest snapshot if the log is pruned while they restore an older one", timeout, async () => {
  const owner = await start("OWNER");
  const load = owner.load();
  await waitFor(() => expect(snapshots()).toBeGreaterThan(0));
  // The other receiver restores so slowly that the owner deletes what it is about to read.
  s3.faults = [{ kind: "latency", ms: 1_000, operations: ["GET", "LIST"], accessKey: "SLOW" }];
  const before = snapshots();
  const slow = start("SLOW");
  await waitFor(() => expect(snapshots()).toBeGreaterThan(before + 2));
  s3.faults = [];
  const receiver = await slow;
  await receiver.stillWorks();
  expect(receiver.child.lines.filter(({ code }) => code === "INBOX_DAMAGED")).toEqual([]);
  owner.child.signal("SIGKILL");
  await load;
  await accountAfterKill("B1", receiver);
});

/** The number of snapshots that were completed. */
function snapshots(): number {
  return s3.history.filter(({ key, appliedAt, operation }) => {
    return operation === "PUT" && appliedAt !== undefined && key.endsWith("/manifest");
  }).length;
}

test("B2: end a request without an answer after a garbage collection, and report it", timeout, async () => {
  const receiver = await start("OWNER");
  await receiver.stillWorks();
  s3.next({ kind: "silent", ...isRecord });
  const [answer] = await Promise.all([
    receiver.deliver(),
    waitFor(() => expect(s3.history.some(({ result }) => result === "silent")).toBe(true)).then(() =>
      receiver.control("collect-garbage"),
    ),
    waitFor(async () => expect((await fetch(`${receiver.url}/ready`)).status).toBe(503)),
  ]);
  expect(answer.status).toBe(503);
  await waitFor(async () => expect((await receiver.deliver()).status).toBe(202), { timeout: 20_000 });
  await waitFor(async () => expect((await fetch(`${receiver.url}/ready`)).status).toBe(200));
  await accountAfterKill("B2", receiver);
});

test("B3: take over from a loaded process within 5 s", timeout, async () => {
  const owner = await start("OWNER");
  s3.faults = [{ kind: "latency", ms: 200 }];
  const load = owner.load();
  const receiver = await start("NEW");
  await waitFor(async () => expect((await receiver.deliver()).status).toBe(202), { interval: 20 });
  // The heartbeat precedes the takeover, and the check of the store precedes the heartbeat.
  const first = s3.history.find(({ accessKey, operation, key }) => {
    return accessKey === "NEW" && operation === "PUT" && !key.includes("/check/");
  });
  const takeoverMs = s3.now() - (first?.receivedAt ?? 0);
  console.log(`B3 Bucket: taken over after ${takeoverMs} ms`);
  expect(takeoverMs).toBeLessThan(5_000);
  expect((await owner.deliver()).status).toBe(503);
  owner.child.signal("SIGKILL");
  await load;
  s3.faults = [];
  await accountAfterKill("B3", receiver);
});

test.each<{ what: string; faults: S3Fault[] }>([
  { what: "lists without the newest records", faults: [{ kind: "stale list", newest: 5 }] },
  { what: "one short read of each kind of object", faults: shortly({ kind: "short" }, 1) },
  { what: "two short reads of each kind of object", faults: shortly({ kind: "short" }, 2) },
  { what: "two corrupted reads of each kind of object", faults: shortly({ kind: "corrupted" }, 2) },
])("B4: start without a gap after $what", timeout, async ({ faults }) => {
  const owner = await start("OWNER");
  for (let count = 0; count < 50; count += 1) expect((await owner.deliver()).status).toBe(202);
  owner.child.signal("SIGKILL");
  await owner.child.exited;
  s3.faults = faults;
  const receiver = await start("NEW");
  // A damaged manifest contradicts its parts, so the inbox is opened again after a second.
  await waitFor(async () => expect((await receiver.deliver()).status).toBe(202), { timeout: 30_000 });
  await receiver.stillWorks();
  s3.faults = [];
  expect(receiver.child.lines.filter(({ code }) => code === "INBOX_DAMAGED")).toEqual([]);
  await accountAfterKill("B4", receiver);
});

/** Damages the next reads of a record, a manifest, and a part of a snapshot. */
function shortly(fault: { kind: "short" | "corrupted" }, count: number): S3Fault[] {
  return ["/log/", "/manifest", "/000000"].map((keys) => ({ ...fault, count, keys, operations: ["GET"] }));
}

test("B5: take over again after a dead process has fenced them", timeout, async () => {
  const owner = await start("OWNER");
  await owner.stillWorks();
  s3.next({ kind: "late", accessKey: "DEAD", ...isRecord });
  const dead = startProcess("DEAD");
  await waitFor(() => expect(s3.late).toBe(1));
  dead.signal("SIGKILL");
  await dead.exited;
  s3.applyLate();
  s3.advance(leaseMs);
  await waitFor(async () => expect((await owner.deliver()).status).toBe(503));
  await waitFor(
    async () => {
      s3.advance(leaseMs);
      expect((await owner.deliver()).status).toBe(202);
    },
    { timeout: 60_000, interval: 1_000 },
  );
  await owner.stillWorks();
  await accountAfterKill("B5", owner);
});

test.each<{ what: string; fault: S3Fault }>([
  { what: "false 412", fault: { kind: "false 412" } },
  { what: "a revoked access key", fault: denied },
  { what: "a full bucket", fault: full },
  { what: "an outage", fault: slowDown },
])("B6: listen, answer 503, and recover if the bucket starts with $what", timeout, async ({ fault }) => {
  s3.faults = [fault];
  // As an application opens the inbox.
  const receiver = await start("OWNER", {});
  expect((await receiver.deliver()).status).toBe(503);
  expect((await fetch(`${receiver.url}/ready`)).status).toBe(503);
  s3.faults = [];
  await waitFor(async () => expect((await receiver.deliver()).status).toBe(202), { timeout: 30_000 });
  await receiver.stillWorks();
  await accountAfterKill("B6", receiver);
});

test("B6: exit if the bucket ignores conditions, which does not heal", timeout, async () => {
  s3.faults = [{ kind: "ignored condition" }];
  const child = startProcess("OWNER", {});
  const { code } = await child.exited;
  expect(code).not.toBe(0);
  expect(JSON.stringify([child.lines, child.errorOutput])).toContain("INBOX_UNUSABLE");
});

test("B7: keep the inbox while a handler blocks the event loop", timeout, async () => {
  const owner = await start("OWNER", { ...limits, HEARTBEAT_MS: "2000", BLOCKED_MS: "8000" });
  await owner.stillWorks();
  const delivered = owner.deliver({ id: "blocking", endpoint: "blocking" });
  const health = () => fetch(`${owner.url}/health`, { signal: AbortSignal.timeout(1_000) }).then(() => "answered");
  await waitFor(() => expect(health()).rejects.toMatchObject({ name: "TimeoutError" }));
  const blockedAt = s3.history.length;
  s3.advance(leaseMs);
  const isHeartbeat = ({ accessKey, key }: { accessKey?: string; key: string }) =>
    accessKey === "OWNER" && key.includes("/heartbeats/");
  await waitFor(() => expect(s3.history.slice(blockedAt).some(isHeartbeat)).toBe(true));
  await expect(health()).rejects.toMatchObject({ name: "TimeoutError" });
  const other = startProcess("OTHER", { SPACE_ID: "me/other" });
  expect((await delivered).status).toBe(202);
  await ledger.waitForStatus({ id: "blocking", endpoint: "blocking" }, "succeeded");
  expect((await owner.deliver()).status).toBe(202);
  other.signal("SIGKILL");
  await other.exited;
  const [blocking] = await ledger.read([{ id: "blocking", endpoint: "blocking" }]);
  expect(blocking?.attempts).toHaveLength(1);
  await accountAfterKill("B7", owner);
});

test("B8: store a record once although it is read back short", timeout, async () => {
  const owner = await start("OWNER");
  await owner.stillWorks();
  s3.next({ kind: "lost answer", ...isRecord });
  s3.next({ kind: "short", operations: ["GET"], keys: "/log/", count: 2 });
  const id = crypto.randomUUID();
  expect((await owner.deliver({ id })).status).toBe(202);
  await ledger.waitForStatus({ id, endpoint: "target" }, "succeeded");
  expect(owner.child.lines.filter(({ code }) => code === "INBOX_DAMAGED")).toEqual([]);
  await accountAfterKill("B8", owner);
});
