import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { DeliveryFollower } from "../../../../src/cli/commands/deliveries/tail.ts";
import { run } from "../../../../src/cli/main.ts";
import type { Inbox, StoredDelivery } from "../../../../src/inbox/inbox.ts";
import { countAllSql } from "../../../../src/inbox/sqlite/schema.ts";
import { type DeliveryLookup, ServerInbox } from "../../../../src/receiver/inbox.ts";
import { failed, incoming, openInbox, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { startCommand } from "../../command-process.ts";
import { type RunOptions, runCommand } from "../../run-command.ts";
import { filledInbox, hour, livelyInbox, received, settled, slowPoll } from "./filled-inbox.ts";

/** Runs `tail` in this process until it is stopped. `says` waits for output. */
function tail(words: string, options: RunOptions) {
  const stop = Promise.withResolvers<void>();
  let output = "";
  const ended = runCommand(`deliveries tail --interval 5ms ${words}`, {
    ...options,
    stopped: stop.promise,
    onOutput: (text) => {
      output = text;
    },
  });
  return {
    says: (text: string | RegExp) => expect.poll(() => output, slowPoll).toMatch(text),
    stop: () => {
      stop.resolve();
      return ended;
    },
  };
}

describe("hub-webhooks deliveries tail", () => {
  test("starts with the last ten deliveries, and exits with 0 when it is stopped", async () => {
    const { inbox, env } = livelyInbox();
    for (let number = 1; number <= 12; number += 1) await inbox.accept(incoming(String(number)));
    const stdout = "3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    expect(await runCommand("deliveries tail --format quiet", { env })).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test.each([
    ["--last 1", "new\n"],
    ["--last 0", ""],
    ["--endpoint retrain", "good\nbad\n"],
    ["--status dead", "bad\n"],
  ])("starts with the deliveries that %s selects", async (options, stdout) => {
    const { env } = await filledInbox();
    expect(await runCommand(`deliveries tail --format quiet ${options}`, { env })).toEqual({
      exitCode: 0,
      stdout,
      stderr: "",
    });
  });

  test("prints a line when a delivery arrives, and one for each status", async () => {
    const { inbox, env } = livelyInbox();
    const command = tail("--last 10", { env });
    await inbox.accept(incoming("one"));
    await command.says(/^one\tretrain\tqueued\t\t\t\t\S+\t\t0\tdue \S+$/m);
    const running = Promise.withResolvers<void>();
    work(inbox, async () => {
      await running.promise;
      return failed({ retryable: false });
    });
    await command.says(/^one\tretrain\trunning\t\t\t\t\S+\t\t0\t$/m);
    running.resolve();
    await command.says(/^one\tretrain\tdead\t\t\t\t\S+\t\d+ ms\t1\tIt failed\.$/m);
    const { exitCode, stdout, stderr } = await command.stop();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
    expect(stdout).toMatch(/^id\tendpoint\tstatus\tevent\trepo\tsubject\treceivedAt\tduration\tattempts\tnote\n/);
  });

  test("prints only deliveries with the given status", async () => {
    const { inbox, env } = livelyInbox();
    const command = tail("--status succeeded --format quiet", { env });
    await inbox.accept(incoming("waits", { endpoint: "notify" }));
    await inbox.accept(incoming("done"));
    work(inbox, () => succeeded);
    await command.says("done\n");
    expect(await command.stop()).toMatchObject({ stdout: "done\n" });
  });

  test("warns that it missed deliveries if more arrive than one poll reads", async () => {
    const { inbox, env, file } = livelyInbox();
    await inbox.accept(incoming("first"));
    const command = tail("--format quiet", { env });
    await command.says("first\n");
    const database = new DatabaseSync(file, { timeout: 5_000 });
    // One statement, so that no poll runs between two of the deliveries.
    database.exec(`
      INSERT INTO deliveries (endpoint, id, body, received_at, scheduled_at, status, due_at)
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1001)
        SELECT 'retrain', 'n' || n, 'x', received_at, scheduled_at, 'queued', due_at FROM numbers, deliveries WHERE id = 'first';
      ${countAllSql}
    `);
    database.close();
    await command.says("n1001\n");
    expect((await command.stop()).stderr).toMatch(/missed.*--interval/);
  });

  test("warns once when the inbox is deleted or moved", { tags: "slow" }, async () => {
    const { inbox, env, file } = livelyInbox();
    await inbox.accept(incoming("one"));
    let notices = "";
    const command = tail("--format quiet", { env, onNotice: (text) => (notices += text) });
    await command.says("one\n");
    renameSync(file, `${file}-moved`);
    await expect.poll(() => notices, slowPoll).toContain("warning: ");
    const { stderr } = await command.stop();
    expect(stderr).toMatch(/^warning: .* was deleted, moved, or replaced .* run this command again\.\n$/);
  });

  test("prints one JSON object per line, without the body", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand("deliveries tail --format json", { env });
    const objects = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(objects).toMatchObject([{ id: "good" }, { id: "bad", status: "dead", attempts: [{}, {}] }, { id: "new" }]);
    const dates = { receivedAt: hour, dueAt: hour };
    expect(objects[2]).toEqual({ id: "new", endpoint: "notify", status: "queued", ...dates, attempts: [] });
  });

  test.each(["table", "json", "quiet"])("escapes control characters in a delivery: %s", async (format) => {
    const { env, inbox } = await filledInbox({ reason: "\u001b[2Jred\u009b\nline" });
    await inbox.accept(incoming("\u001b]0;owned\u0007id\u202e", { endpoint: "notify" }));
    const { stdout } = await runCommand(`deliveries tail --format ${format}`, { env, isTerminal: true });
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).not.toContain("\nline");
  });
});

describe("The process of hub-webhooks deliveries tail", () => {
  test("prints the changes of a running server, and exits with 0 at SIGTERM", { tags: "slow" }, async () => {
    const { inbox, env } = livelyInbox();
    const command = startCommand(["deliveries", "tail", "--interval", "5ms", "--format", "json"], env);
    await inbox.accept(incoming("beside"));
    await command.says('"status":"queued"');
    work(inbox, () => succeeded);
    await settled(inbox, ["beside"]);
    await command.says('"status":"succeeded"');
    command.signal("SIGTERM");
    expect(await command.ended).toMatchObject({ exitCode: 0, signal: null, stderr: "" });
  });

  test("can be stopped while its output is blocked, and removes its listeners", async () => {
    const { inbox, env } = livelyInbox();
    const stop = Promise.withResolvers<void>();
    // A stream that never completes its first write.
    const stdout = new Writable({ highWaterMark: 1, write() {} });
    const ended = run(["deliveries", "tail", "--interval", "1ms"], {
      stdin: Readable.from([]),
      stdout,
      stderr: new PassThrough(),
      env,
      untilStopped: () => stop.promise,
      stop() {},
    });
    await inbox.accept(incoming("one"));
    await expect.poll(() => stdout.listenerCount("drain"), slowPoll).toBe(1);
    stop.resolve();
    expect(await ended).toBe(0);
    expect([stdout.listenerCount("drain"), stdout.listenerCount("error")]).toEqual([0, 0]);
  });
});

/** An inbox that records the requested IDs. */
class AskedInbox extends ServerInbox {
  readonly asked: string[] = [];
  /** IDs that count as deleted. */
  readonly deleted = new Set<string>();

  override async get(id: string, lookup?: DeliveryLookup): Promise<StoredDelivery | undefined> {
    this.asked.push(id);
    return this.deleted.has(id) ? undefined : super.get(id, lookup);
  }
}

/** Follows an inbox. Each poll returns changes in the form `id status attempts`. */
async function follow(inbox: Inbox, endpoint?: string) {
  const server = new AskedInbox(async () => inbox);
  const follower = new DeliveryFollower({ inbox: server, endpoint });
  await follower.start({ last: 0, status: undefined });
  const look = async () => {
    const { changed } = await follower.poll();
    return changed.map(({ id, status, attempts }) => `${id} ${status} ${attempts.length}`);
  };
  return { look, asked: server.asked, deleted: server.deleted };
}

/** Accepts deliveries `from` to `to` in this order. */
async function accept(inbox: Inbox, from: number, to: number, endpoint = "retrain"): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await Promise.all(numbers.map((number) => inbox.accept(received(String(number), { endpoint }))));
}

describe("A follower of deliveries", () => {
  test("returns every change of a followed delivery", async () => {
    const { inbox } = openInbox();
    const attempts = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await accept(inbox, 1, 1);
    const { look } = await follow(inbox);
    const runs = work(inbox, async ({ attempt }) => {
      await attempts[attempt - 1]?.promise;
      return attempt === 1 ? failed({ retryAt: new Date() }) : succeeded;
    });
    await expect.poll(() => runs.length, slowPoll).toBe(1);
    expect(await look()).toEqual(["1 running 0"]);
    attempts[0]?.resolve();
    await expect.poll(() => runs.length, slowPoll).toBe(2);
    // The status is the same, but an attempt has failed since the last poll.
    expect(await look()).toEqual(["1 running 1"]);
    attempts[1]?.resolve();
    await settled(inbox, ["1"]);
    expect(await look()).toEqual(["1 succeeded 2"]);
  });

  test("returns a finished delivery that is replayed", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 1);
    const first = work(inbox, () => succeeded);
    await settled(inbox, ["1"]);
    const { look } = await follow(inbox);
    await inbox.replay({ id: "1", endpoint: "retrain" });
    await expect.poll(() => first.length, slowPoll).toBe(2);
    await settled(inbox, ["1"]);
    expect(await look()).toEqual(["1 succeeded 2"]);
  });

  test("follows an unfinished delivery despite hundreds of newer ones", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 1);
    const { look } = await follow(inbox);
    await accept(inbox, 2, 400);
    expect(await look()).toHaveLength(399);
    const runs = work(inbox, () => succeeded, { concurrency: 1 });
    await expect.poll(() => runs.length, slowPoll).toBeGreaterThan(0);
    await settled(inbox, ["1"]);
    expect((await look())[0]).toBe("1 succeeded 1");
  });

  test("does not return deliveries from before the start", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 250);
    const { look } = await follow(inbox);
    await accept(inbox, 251, 251);
    expect(await look()).toEqual(["251 queued 0"]);
  });

  test("does not return older deliveries when newer ones are removed", async () => {
    const clock = { now: Date.now() };
    const { inbox } = openInbox({ now: () => clock.now });
    await accept(inbox, 1, 120, "notify");
    await accept(inbox, 1, 10);
    work(inbox, () => succeeded, { retentionMs: 1_000 });
    await settled(inbox, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    const { look } = await follow(inbox);
    clock.now += 60_000;
    expect(await inbox.prune()).toBe(10);
    expect(await look()).toEqual([]);
  });

  test("follows only the given endpoint", async () => {
    const { inbox } = openInbox();
    const { look } = await follow(inbox, "notify");
    await inbox.accept(received("other"));
    await inbox.accept(received("mine", { endpoint: "notify" }));
    expect(await look()).toEqual(["mine queued 0"]);
  });

  test("starts with the latest deliveries of a status, regardless of their age", async () => {
    const { inbox } = openInbox();
    await inbox.accept(received("dead"));
    work(inbox, () => failed({ retryable: false }));
    await settled(inbox, ["dead"]);
    await accept(inbox, 1, 120, "notify");
    const follower = new DeliveryFollower({ inbox: new ServerInbox(async () => inbox), endpoint: undefined });
    expect(await follower.start({ last: 10, status: "dead" })).toMatchObject([{ id: "dead" }]);
    expect(await follower.poll()).toEqual({ changed: [], hasMissed: false });
  });

  test("keeps following the first deliveries, regardless of their age", async () => {
    const { inbox } = openInbox();
    const done = Promise.withResolvers<void>();
    await inbox.accept(received("slow"));
    const runs = work(inbox, () => done.promise.then(() => succeeded));
    await expect.poll(() => runs.length, slowPoll).toBe(1);
    await accept(inbox, 1, 120, "notify");
    const follower = new DeliveryFollower({ inbox: new ServerInbox(async () => inbox), endpoint: undefined });
    expect(await follower.start({ last: 1, status: "running" })).toMatchObject([{ id: "slow" }]);
    done.resolve();
    await settled(inbox, ["slow"]);
    expect(await follower.poll()).toMatchObject({ changed: [{ id: "slow", status: "succeeded" }] });
  });

  test("does not read finished deliveries that are not among the newest", async () => {
    const { inbox } = openInbox();
    const { look, asked } = await follow(inbox);
    await inbox.accept(received("done"));
    work(inbox, () => succeeded);
    await settled(inbox, ["done"]);
    await look();
    await accept(inbox, 1, 120, "notify");
    await look();
    asked.length = 0;
    await look();
    // The first 20 queued deliveries of the other endpoint are no longer in the list of the newest.
    expect(asked).toHaveLength(20);
    expect(asked).not.toContain("done");
  });

  test("reads a deleted delivery only once", async () => {
    const { inbox } = openInbox();
    await accept(inbox, 1, 1);
    const { look, asked, deleted } = await follow(inbox);
    await accept(inbox, 2, 110);
    await look();
    await look();
    expect(asked).toEqual(expect.arrayContaining(["1"]));
    deleted.add("1");
    asked.length = 0;
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
    expect(asked.filter((id) => id === "1")).toHaveLength(1);
  });

  // 2,400 deliveries run.
  test("remembers an unfinished delivery longer than finished ones", { tags: "slow" }, async () => {
    const { inbox } = openInbox();
    const attempt = Promise.withResolvers<void>();
    await accept(inbox, 1, 1);
    const { look, asked } = await follow(inbox);
    await inbox.accept(received("slow", { endpoint: "notify" }));
    const slow = work(inbox, () => attempt.promise.then(() => succeeded), { endpoint: "notify" });
    await expect.poll(() => slow.length, slowPoll).toBe(1);
    work(inbox, () => succeeded, { concurrency: 100 });
    for (const from of [2, 802, 1_602]) {
      await accept(inbox, from, from + 799);
      await expect.poll(async () => (await inbox.counts()).retrain?.succeeded, slowPoll).toBe(from + 799);
      await look();
    }
    asked.length = 0;
    expect(await look()).toEqual([]);
    expect(asked).toEqual(["slow"]);
    attempt.resolve();
  });

  test("reports missed deliveries, and continues with the next ones", async () => {
    const { inbox } = openInbox();
    const follower = new DeliveryFollower({ inbox: new ServerInbox(async () => inbox), endpoint: undefined });
    await follower.start({ last: 10, status: undefined });
    await accept(inbox, 1, 1_050);
    const { changed, hasMissed } = await follower.poll();
    expect({ first: changed[0]?.id, count: changed.length, hasMissed }).toEqual({
      first: "51",
      count: 1_000,
      hasMissed: true,
    });
    await accept(inbox, 1_051, 1_051);
    expect(await follower.poll()).toMatchObject({ changed: [{ id: "1051" }], hasMissed: false });
  });

  test("limits its memory without returning a change twice", { tags: "slow" }, async () => {
    const { inbox } = openInbox();
    const { look, asked } = await follow(inbox);
    for (const [from, to] of [
      [1, 900],
      [901, 1_800],
      [1_801, 2_700],
    ] as const) {
      await accept(inbox, from, to);
      expect(await look()).toHaveLength(900);
    }
    asked.length = 0;
    expect(await look()).toEqual([]);
    // Of 2,000 followed deliveries, the newest 100 are in the list.
    expect(asked).toHaveLength(1_900);
  });
});
