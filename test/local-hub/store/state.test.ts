import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Job } from "../../../src/hub/jobs/schemas.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { isRunning } from "../../support/program.ts";
import { startReceiverProcess } from "../../support/receiver-process.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { watchTimers } from "../../support/timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { data, jobs, openLocalHub, pushed, restart, secret, stateFile, TestHub, waitForJobs } from "../support/hub.ts";
import { neverRespond, openTarget } from "../support/target.ts";

describe("A state file", () => {
  test("keeps webhooks, repositories, the log and jobs across a restart", async () => {
    const state = stateFile();
    const target = await openTarget(500, 200);
    const first = await openLocalHub({ state });
    const made = await first.create({ url: target.url, secret });
    const job = await first.create({ job: { flavor: "cpu-basic", secrets: { TOKEN: secret }, volumes: undefined } });
    const other = await first.create({ url: "http://127.0.0.1:1/" }, { token: "hf_other" });
    await first.request(`POST /api/settings/webhooks/${other.id}/disable`, { token: "hf_other" });
    await first.trigger();
    await first.trigger({ repo: data, event: { scope: "discussion", action: "create" } });
    await first.trigger({ ...pushed, repo: { type: "dataset", name: "me/secret-data", private: true } });
    const listed = (await first.request("GET /api/settings/webhooks")).body;
    const entries = await first.entries(made.id);
    const jobs = first.hub.jobs().map(withoutOwner);
    const arrived = target.requests.length;

    const second = await restart(first, { state, runJobs: true });
    expect((await second.request("GET /api/settings/webhooks")).body).toEqual(listed);
    expect((await second.request("GET /api/settings/webhooks", { token: "hf_other" })).body).toEqual([
      { ...other, disabled: true },
    ]);
    expect(await second.entries(made.id)).toEqual(entries);
    expect(second.hub.jobs().map(withoutOwner)).toEqual(jobs);
    expect(target.requests).toHaveLength(arrived);

    const before = target.payloads.find(({ event }) => event.scope === "repo.content");
    await second.trigger();
    const after = target.payloads.at(-1);
    expect(after?.repo.id).toBe(before?.repo.id);
    expect(after?.updatedRefs?.[0]?.oldSha).toBe(before?.repo.headSha);
    expect(target.requests.at(-1)?.headers["x-webhook-secret"]).toBe(secret);
    await second.trigger({ repo: data, event: { scope: "discussion", action: "create" } });
    expect(target.payloads.at(-1)?.discussion?.num).toBe(2);
    expect(await second.replay(made.id, entries.at(-1)?.logId)).toEqual({ status: 200 });
    expect((await second.entries(job.id)).length).toBeGreaterThan(0);
  });

  test("keeps the consecutive failures and the daily triggers", async () => {
    const state = stateFile();
    const target = await openTarget(500);
    const options = { state, attempts: 1, suspendAfter: 2, triggersPerDay: 3, now: () => Date.UTC(2026, 0, 31) };
    const first = await openLocalHub(options);
    const { id } = await first.create({ url: target.url });
    await first.trigger();
    const second = await restart(first, options);
    await second.trigger();
    expect(await second.get(id)).toMatchObject({ disabled: "suspended-after-failure" });
    const third = await restart(second, options);
    expect(await third.get(id)).toMatchObject({ disabled: "suspended-after-failure" });
    await third.setState(id, "enable");
    expect(await third.trigger()).toHaveLength(1);
    expect(await third.trigger()).toEqual([]);
  });

  test("keeps an attempt that was interrupted by close(), and sends it again with the same number", async () => {
    const state = stateFile();
    const target = await openTarget(neverRespond);
    const first = await openLocalHub({ state, suspendAfter: 1, attempts: 1 });
    const { id } = await first.create({ url: target.url });
    const [delivery] = await first.trigger(pushed, { wait: false });
    await target.hasReceived(1);
    target.answerWith(200);
    const second = await restart(first, { state, suspendAfter: 1, attempts: 1 });
    await waitFor(async () => expect(await second.entries(id)).toMatchObject([{ attempt: 1, status: 200 }]));
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId]);
    expect(await second.get(id)).toMatchObject({ disabled: false });
  });

  test("keeps a retry that is due after the longest possible timer", async () => {
    const day = 86_400_000;
    const maxTimerMs = 2_147_483_647;
    const state = stateFile();
    const clock = { now: Date.UTC(2026, 0, 31) };
    const target = await openTarget(500, 200);
    const first = await openLocalHub({ state, backoff: "24d", now: () => clock.now });
    const { id } = await first.create({ url: target.url });
    await first.trigger(pushed, { wait: false });
    await waitFor(async () => expect(await first.entries(id)).toHaveLength(1));
    clock.now -= 2 * day;

    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => {
      for (const { value } of timers.mock.results) clearTimeout(value);
      timers.mockRestore();
    });
    const wakeAfter = (milliseconds: number) => {
      const [wake] = timers.mock.calls.find(([, span]) => span === milliseconds) ?? [];
      expect(wake, `a timer of ${milliseconds} ms`).toBeTypeOf("function");
      wake?.();
    };
    const second = await restart(first, { state, backoff: "24d", now: () => clock.now });
    clock.now += 25 * day;
    wakeAfter(maxTimerMs);
    expect(await second.entries(id)).toHaveLength(1);
    clock.now += day;
    wakeAfter(day);
    await waitFor(async () => expect(await second.entries(id)).toMatchObject([{ attempt: 2, status: 200 }, {}]));
  });

  test("keeps a retry, which does not wait longer if the clock is set back", async () => {
    const state = stateFile();
    const clock = { now: Date.UTC(2026, 0, 31) };
    const options = { state, backoff: "1h", attempts: 2, now: () => clock.now } as const;
    const first = await openLocalHub(options);
    const { id } = await first.create({ url: (await openTarget(500)).url });
    await first.trigger(pushed, { wait: false });
    await waitFor(async () => expect(await first.entries(id)).toHaveLength(1));
    clock.now -= 86_400_000;
    const timers = watchTimers();
    await restart(first, options);
    expect(timers.of(3_600_000)).toHaveLength(1);
  });

  test("is cleared by a reset", async () => {
    const state = stateFile();
    const rows = () => {
      const database = new DatabaseSync(state, { readOnly: true });
      const tables = ["webhooks", "repositories", "jobs", "pending", "attempts", "records", "audit_log"];
      const counts = tables.map((table) => {
        const row = database.prepare(`SELECT count(*) AS count FROM ${table}`).get();
        return [table, row?.count] as const;
      });
      database.close();
      return Object.fromEntries(counts);
    };
    const options = { state, backoff: "1h" } as const;
    const first = await openLocalHub(options);
    await first.hub.close();
    const empty = rows();
    expect(empty).toMatchObject({ webhooks: 0, jobs: 0, pending: 0, attempts: 0 });
    const second = await openLocalHub(options);
    const { id } = await second.create({ url: "http://127.0.0.1:1/" });
    await second.create({ job: { flavor: "cpu-basic" } });
    await second.trigger(pushed, { wait: false });
    await waitFor(() => expect(second.hub.deliveries(id)).toHaveLength(1));
    await second.hub.close();
    expect(rows()).toMatchObject({ webhooks: 2, jobs: 1, pending: 1, attempts: 2 });
    const third = await openLocalHub(options);
    third.hub.reset();
    expect((await third.request("GET /api/settings/webhooks")).body).toEqual([]);
    expect(await third.trigger(pushed, { wait: false })).toEqual([]);
    third.hub.reset();
    await third.hub.close();
    expect(rows()).toEqual(empty);
  });

  test("is created with its folder, readable only by its user, like the files next to it", async () => {
    const folder = createFolder();
    const state = join(folder, "deep", "er", "hub.sqlite");
    const hub = await openLocalHub({ state });
    await hub.create({ url: "http://127.0.0.1:1/", secret });
    const files = readdirSync(join(folder, "deep", "er"));
    // With a write-ahead log, committed data survives a killed process.
    expect(files).toEqual(expect.arrayContaining(["hub.sqlite", "hub.sqlite-wal"]));
    for (const file of files) expect(statSync(join(folder, "deep", "er", file)).mode & 0o777, file).toBe(0o600);
  });
});

/** The URL of the owner's avatar contains the port, and the duration of a scheduled job grows. */
function withoutOwner({ owner: _owner, durations: _durations, ...further }: Job): object {
  return further;
}

test("A local Hub that was killed leaves no process of a job behind, and the next one sends its deliveries and marks jobs as failed", {
  tags: "slow",
}, async () => {
  const state = stateFile();
  const child = startReceiverProcess(new URL("../support/hub-script.ts", import.meta.url), { STATE: state });
  const { url } = await child.says("started");
  const { hub: inProcess, log } = await openLocalHub();
  const hub = Object.assign(new TestHub({ hub: inProcess, log, overSocket: true }), { url: String(url) });
  const [retried, ran] = [{ type: "model", name: "me/retried" } as const, { type: "model", name: "me/ran" } as const];
  const file = join(createFolder(), "pids");
  const command = ["sh", "-c", `trap "" TERM PIPE; sleep 600 & echo $$ $! >> ${file}; while :; do sleep 0.1; done`];
  // The first process has ended when the local Hub is killed.
  await hub.runJob({ command: ["true"] });
  await waitForJobs(hub);
  await hub.create({ job: { flavor: "cpu-basic", command }, watched: [ran] });
  for (let job = 0; job < 6; job += 1) await hub.trigger({ ...pushed, repo: ran });
  const [waits, runs] = [{ status: { stage: "SCHEDULING" } }, { status: { stage: "RUNNING" } }];
  await waitFor(async () => expect(await jobs(hub)).toMatchObject([waits, waits, runs, runs, runs, runs, {}]));
  const pids = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split(/\s/).map(Number) : []);
  await expect.poll(() => pids().length).toBe(8);
  onTestFinished(() => {
    for (const pid of pids().filter(isRunning)) process.kill(pid, "SIGKILL");
  });
  expect(pids().every(isRunning)).toBe(true);
  const failing = await openTarget(500, 500, neverRespond);
  const { id: retriedId } = await hub.create({ url: failing.url, watched: [retried] });
  const [interrupted] = await hub.trigger({ ...pushed, repo: retried }, { wait: false });
  await failing.hasReceived(3);
  const silent = await openTarget(neverRespond);
  const { id: pendingId } = await hub.create({ url: silent.url });
  const fired = (await Promise.all(Array.from({ length: 50 }, () => hub.trigger(pushed, { wait: false })))).flat();
  await silent.hasReceived(15);
  child.signal("SIGKILL");
  await child.exited;
  await expect.poll(() => pids().filter(isRunning)).toEqual([]);

  for (const target of [failing, silent]) target.answerWith(200);
  const second = await openLocalHub({ state });
  const failed = (message: string) => ({ status: { stage: "ERROR", message } });
  const [hasWaited, hasRun] = [
    failed("the local Hub stopped before the job ran"),
    failed("the local Hub stopped while the job was running"),
  ];
  expect(second.hub.jobs()).toMatchObject([hasWaited, hasWaited, hasRun, hasRun, hasRun, hasRun, {}]);
  await second.hub.settled();
  const { deliveryId } = interrupted ?? {};
  expect(await second.entries(retriedId)).toMatchObject([
    { attempt: 3, status: 200, deliveryId },
    { attempt: 2, status: 500, deliveryId },
    { attempt: 1, status: 500, deliveryId },
  ]);
  const entries = await second.entries(pendingId);
  expect(entries.every(({ status }) => status === 200)).toBe(true);
  const ids = (deliveries: readonly { deliveryId: string }[]) => deliveries.map((one) => one.deliveryId).sort();
  expect(ids(entries)).toEqual(ids(fired));
});

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
