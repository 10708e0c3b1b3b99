import { DatabaseSync } from "node:sqlite";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { run } from "../../../../src/cli/main.ts";
import { countAllSql } from "../../../../src/inbox/sqlite/database.ts";
import { failed, incoming, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { startCommand } from "../../command-process.ts";
import { type RunOptions, runCommand } from "../../run-command.ts";
import { filledInbox, hour, livelyInbox, settled, slowPoll } from "./filled-inbox.ts";

/** Runs `tail` in this process until it is stopped. `says` waits for output. */
function tail(argv: readonly string[], options: RunOptions) {
  const stop = Promise.withResolvers<void>();
  let output = "";
  const ended = runCommand(["deliveries", "tail", "--interval", "5ms", ...argv], {
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
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "tail", "--format", "quiet"], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toBe("3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
  });

  test.each([
    [["--last", "1"], "new\n"],
    [["--last", "0"], ""],
    [["--endpoint", "retrain"], "good\nbad\n"],
    [["--status", "dead"], "bad\n"],
  ])("starts with the deliveries that %j selects", async (options, stdout) => {
    const { env } = await filledInbox();
    const argv = ["deliveries", "tail", "--format", "quiet", ...options];
    expect(await runCommand(argv, { env })).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("prints a line when a delivery arrives, and one for each status", async () => {
    const { inbox, env } = livelyInbox();
    const command = tail([], { env });
    await inbox.accept(incoming("one"));
    await command.says(/^one\tretrain\tqueued\t\t\t\S+\t\t0\tdue \S+$/m);
    const running = Promise.withResolvers<void>();
    work(inbox, async () => {
      await running.promise;
      return failed({ retryable: false });
    });
    await command.says(/^one\tretrain\trunning\t\t\t\S+\t\t0\t$/m);
    running.resolve();
    await command.says(/^one\tretrain\tdead\t\t\t\S+\t\d+ ms\t1\tIt failed\.$/m);
    const { exitCode, stdout, stderr } = await command.stop();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(4);
    expect(stdout).toMatch(/^id\tendpoint\tstatus\tevent\trepo\treceivedAt\tduration\tattempts\tnote\n/);
  });

  test("prints only deliveries with the given status", async () => {
    const { inbox, env } = livelyInbox();
    const command = tail(["--status", "succeeded", "--format", "quiet"], { env });
    await inbox.accept(incoming("waits", { endpoint: "notify" }));
    await inbox.accept(incoming("done"));
    work(inbox, () => succeeded);
    await command.says("done\n");
    expect(await command.stop()).toMatchObject({ stdout: "done\n" });
  });

  test("warns that it missed deliveries if more arrive than one poll reads", async () => {
    const { inbox, env, file } = livelyInbox();
    await inbox.accept(incoming("first"));
    const command = tail(["--format", "quiet"], { env });
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

  test("prints one JSON object per line, without the body", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "tail", "--format", "json"], { env });
    const objects = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(objects).toMatchObject([{ id: "good" }, { id: "bad", status: "dead", attempts: [{}, {}] }, { id: "new" }]);
    expect(objects[2]).toEqual({
      id: "new",
      endpoint: "notify",
      status: "queued",
      receivedAt: hour,
      dueAt: hour,
      attempts: [],
    });
  });

  test("writes columns on a terminal", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "tail"], { env, isTerminal: true });
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      [
        ...["ID", "ENDPOINT", "STATUS", "EVENT", "REPOSITORY"],
        ...["RECEIVED", "DURATION", "ATTEMPTS", "LAST ERROR, REASON, OR NEXT ATTEMPT"],
      ],
      ["good", "retrain", "succeeded", "-", "-", hour, expect.stringMatching(/^\d+ ms$/), "1", "-"],
      ["bad", "retrain", "dead", "-", "-", hour, expect.stringMatching(/^\d+ ms$/), "2", "The trainer is gone."],
      ["new", "notify", "queued", "-", "-", hour, "-", "0", `due ${hour}`],
      [""],
    ]);
  });

  test.each(["table", "json", "quiet"])("escapes control characters in a delivery: %s", async (format) => {
    const { env, inbox } = await filledInbox({ reason: "\u001b[2Jred\u009b\nline" });
    await inbox.accept(incoming("\u001b]0;owned\u0007id\u202e", { endpoint: "notify" }));
    const { stdout } = await runCommand(["deliveries", "tail", "--format", format], { env, isTerminal: true });
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).not.toContain("\nline");
  });
});

describe("The process of hub-webhooks deliveries tail", () => {
  test("exits with 0 at SIGINT", async () => {
    const { env } = await filledInbox();
    const command = startCommand(["deliveries", "tail", "--interval", "1h", "--format", "quiet"], env);
    await command.says("new\n");
    command.signal("SIGINT");
    expect(await command.ended).toEqual({ exitCode: 0, signal: null, stdout: "good\nbad\nnew\n", stderr: "" });
  });

  test("exits without an error at the next line when its output is closed", async () => {
    const { inbox, env } = livelyInbox();
    await inbox.accept(incoming("first"));
    const command = startCommand(["deliveries", "tail", "--interval", "5ms", "--format", "quiet"], env);
    await command.says("first\n");
    command.closeStdout();
    await inbox.accept(incoming("second"));
    expect(await command.ended).toMatchObject({ exitCode: 0, signal: null, stderr: "" });
  });

  test("prints the changes of a running server, and exits with 0 at SIGTERM", async () => {
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
