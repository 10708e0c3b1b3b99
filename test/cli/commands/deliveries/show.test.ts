import { describe, expect, test } from "vitest";
import { openInbox, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { runCommand } from "../../run-command.ts";
import { filledInbox, hour, received, settled, stillInbox } from "./filled-inbox.ts";

/** Replaces the durations of attempts with 0, because they vary. */
function withoutDurations(text: string): string {
  return text.replace(/Z\s+\d+\s+failed/g, "Z 0 failed");
}

describe("hub-webhooks deliveries show", () => {
  test("shows a delivery with its attempts and its body on a terminal", async () => {
    const { env } = await filledInbox();
    const { exitCode, stdout } = await runCommand(["deliveries", "show", "bad"], { env, isTerminal: true });
    expect(exitCode).toBe(0);
    const [delivery = "", attempts = "", body] = stdout.split("\n\n");
    expect(delivery.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "bad"],
      ["Endpoint", "retrain"],
      ["Status", "dead"],
      ["Received", hour],
      ["Next attempt", "-"],
      ["Finished", hour],
      ["Attempts", "2"],
    ]);
    expect(
      withoutDurations(attempts)
        .split("\n")
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ["ATTEMPT", "STARTED", "DURATION (MS)", "OUTCOME", "CODE", "ERROR OR REASON"],
      ["1", `${hour.slice(0, -1)}Z 0 failed`, "HANDLER_FAILED", "The trainer is gone."],
      ["2", `${hour.slice(0, -1)}Z 0 failed`, "HANDLER_FAILED", "The trainer is gone."],
    ]);
    expect(body).toBe('{\n  "id": "bad"\n}\n');
  });

  test("prints tab-separated values when its output is piped", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "show", "bad"], { env });
    const [delivery, attempts = "", body] = stdout.split("\n\n");
    expect(delivery).toBe(
      `id\tendpoint\tstatus\treceivedAt\tdueAt\tfinishedAt\tattempts\nbad\tretrain\tdead\t${hour}\t\t${hour}\t2`,
    );
    expect(attempts.split("\n")[0]).toBe("attempt\tstartedAt\tdurationMs\toutcome\tcode\terror");
    expect(attempts.split("\n")[2]).toMatch(/^2\t\S+\t\d+\tfailed\tHANDLER_FAILED\tThe trainer is gone\.$/);
    expect(body).toBe('{\n  "id": "bad"\n}\n');
  });

  test("shows when the next attempt is due", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "show", "new"], { env, isTerminal: true });
    expect(stdout).toMatch(new RegExp(`^Next attempt {2}${hour}$`, "m"));
    expect(stdout).toMatch(/^Attempts {6}0\n\n\{/m);
  });

  test("prints JSON with the exact body as received", async () => {
    const { env, inbox } = stillInbox();
    const body = '{ "big":12345678901234567890,  "a":1,"a":2, "text":"\\u001b[2J\u009b é" }';
    await inbox.accept(received("exact", { body }));
    const { stdout } = await runCommand(["deliveries", "show", "exact", "--format", "json"], { env });
    expect(JSON.parse(stdout)).toEqual({
      id: "exact",
      endpoint: "retrain",
      status: "queued",
      receivedAt: hour,
      dueAt: hour,
      body,
      attempts: [],
    });
    expect(stdout).not.toContain("\u009b");
  });

  test("prints only the id with --format quiet", async () => {
    const { env } = await filledInbox();
    expect(await runCommand(["deliveries", "show", "bad", "--format", "quiet"], { env })).toMatchObject({
      stdout: "bad\n",
    });
  });

  test.each([
    ["JSON", '{"name":"\u009b2J\u202e\\u001b[31m\u007f"}', '{\n  "name": "\\u009b2J\\u202e\\u001b[31m\\u007f"\n}\n'],
    ["not JSON", "one\u001b[2J\r\ntwo\u0007\u202e", "one\ntwo\n"],
  ])("shows a body that is %s without control characters", async (_name, body, shown) => {
    const { env, inbox } = stillInbox();
    await inbox.accept(received("evil", { body }));
    const { stdout } = await runCommand(["deliveries", "show", "evil"], { env, isTerminal: true });
    expect(stdout.slice(stdout.indexOf("\n\n") + 2)).toBe(shown);
  });

  test("shows a body of 2 MB", async () => {
    const { env, inbox } = stillInbox();
    const body = JSON.stringify({ texts: Array.from({ length: 2_000 }, () => "x".repeat(1_000)) });
    await inbox.accept(received("large", { body }));
    const { stdout } = await runCommand(["deliveries", "show", "large"], { env });
    expect(JSON.parse(stdout.slice(stdout.indexOf("{\n")))).toEqual(JSON.parse(body));
  });

  test("reports that the body was removed", async () => {
    const clock = { now: Date.parse(hour) };
    const { inbox, file } = openInbox({ now: () => clock.now });
    await inbox.accept(received("old"));
    work(inbox, () => succeeded, { retentionMs: 1_000 });
    await settled(inbox, ["old"]);
    clock.now += 60_000;
    await inbox.prune();
    const env = { INBOX_URL: `sqlite:${file}` };
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "show", "old"], { env });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: "The body was removed because its retention period has ended.\n",
    });
    expect(stdout).toContain("old\tretrain\tsucceeded");
  });

  test("shows the delivery of the given endpoint if two have the same id", async () => {
    const { env, inbox } = stillInbox();
    for (const endpoint of ["first", "second"])
      await inbox.accept(received("same", { endpoint, body: `"${endpoint}"` }));
    for (const endpoint of ["first", "second"]) {
      const { stdout } = await runCommand(["deliveries", "show", "same", "--endpoint", endpoint], { env });
      expect(stdout).toContain(`same\t${endpoint}\t`);
      expect(stdout).toContain(`\n"${endpoint}"\n`);
    }
  });

  test.each([
    [
      ["gone"],
      'error: The inbox contains no delivery "gone". To list deliveries, run: npx hub-webhooks deliveries list\n',
    ],
    [["bad", "--endpoint", "notify"], 'error: The inbox contains no delivery "bad" of endpoint "notify". To list'],
  ])("fails for %j, which does not exist", async (argv, expected) => {
    const { env } = await filledInbox();
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "show", ...argv], { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(expected);
  });
});
