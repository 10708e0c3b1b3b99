import { describe, expect, test } from "vitest";
import { webhookPayload } from "../../../../src/testing.ts";
import { runCommand } from "../../run-command.ts";
import { filledInbox, hour, received, stillInbox } from "./filled-inbox.ts";

/** Returns the IDs that a run has listed. */
function idsOf({ stdout }: { stdout: string }): string[] {
  return stdout.split("\n").filter((line) => line !== "");
}

/** Creates a still inbox with this many deliveries. The oldest has the ID `1`. */
async function inboxOf(count: number) {
  const named = stillInbox();
  for (let number = 1; number <= count; number += 1) await named.inbox.accept(received(String(number)));
  return named;
}

describe("hub-webhooks deliveries list", () => {
  test("shows a table on a terminal, newest first, with the last error or the next attempt", async () => {
    const { env } = await filledInbox();
    const { exitCode, stdout, stderr } = await runCommand(["deliveries", "list"], { env, isTerminal: true });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      [
        ...["ID", "ENDPOINT", "STATUS", "EVENT", "REPOSITORY"],
        ...["RECEIVED", "DURATION", "ATTEMPTS", "LAST ERROR, REASON, OR NEXT ATTEMPT"],
      ],
      ["new", "notify", "queued", "-", "-", hour, "-", "0", `due ${hour}`],
      ["bad", "retrain", "dead", "-", "-", hour, expect.stringMatching(/^\d+ ms$/), "2", "The trainer is gone."],
      ["good", "retrain", "succeeded", "-", "-", hour, expect.stringMatching(/^\d+ ms$/), "1", "-"],
      [""],
    ]);
  });

  test("shows the event, the repository and the duration of the last attempt", async () => {
    const { env, inbox } = await filledInbox();
    const body = JSON.stringify(webhookPayload("repo.content", { repo: { type: "dataset", name: "me/data" } }));
    await inbox.accept(received("real", { body }));
    const { stdout } = await runCommand(["deliveries", "list", "--limit", "1"], { env });
    const [heading, row] = stdout.split("\n").map((line) => line.split("\t"));
    expect(heading?.slice(3, 5)).toEqual(["event", "repo"]);
    expect(row?.slice(3, 5)).toEqual(["repo.content update", "dataset:me/data"]);
    const json = await runCommand(["deliveries", "list", "--limit", "1", "--format", "json"], { env });
    expect(JSON.parse(json.stdout)).toMatchObject([{ event: "repo.content update", repo: "dataset:me/data" }]);
  });

  test("colors the status on a terminal", async () => {
    const { url } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "list"], { env: { INBOX_URL: url }, isTerminal: true });
    expect(stdout).toContain("\u001b[31mdead");
    expect(stdout).toContain("\u001b[32msucceeded");
  });

  test("writes tab-separated values when it is piped", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "ls"], { env });
    expect(stdout.replace(/\b\d+ ms/g, "N ms")).toBe(
      [
        "id\tendpoint\tstatus\tevent\trepo\treceivedAt\tduration\tattempts\tnote",
        `new\tnotify\tqueued\t\t\t${hour}\t\t0\tdue ${hour}`,
        `bad\tretrain\tdead\t\t\t${hour}\tN ms\t2\tThe trainer is gone.`,
        `good\tretrain\tsucceeded\t\t\t${hour}\tN ms\t1\t`,
        "",
      ].join("\n"),
    );
  });

  test("prints all fields except the bodies as JSON", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "list", "--format", "json"], { env });
    const error = { code: "HANDLER_FAILED", message: "The trainer is gone." };
    const attempt = { startedAt: hour, durationMs: expect.any(Number) };
    expect(JSON.parse(stdout)).toEqual([
      { id: "new", endpoint: "notify", status: "queued", receivedAt: hour, dueAt: hour, attempts: [] },
      {
        id: "bad",
        endpoint: "retrain",
        status: "dead",
        receivedAt: hour,
        finishedAt: hour,
        attempts: [
          { ...attempt, number: 1, outcome: "failed", error },
          { ...attempt, number: 2, outcome: "failed", error },
        ],
      },
      {
        id: "good",
        endpoint: "retrain",
        status: "succeeded",
        receivedAt: hour,
        finishedAt: hour,
        attempts: [{ ...attempt, number: 1, outcome: "succeeded" }],
      },
    ]);
  });

  test.each([
    [
      ["--endpoint", "retrain"],
      ["bad", "good"],
    ],
    [["--status", "dead"], ["bad"]],
    [["--status", "cancelled"], []],
    [["--status", "ignored"], []],
    [["--status", "queued", "--endpoint", "notify"], ["new"]],
    [["--status", "queued", "--endpoint", "retrain"], []],
  ])("filters by %j", async (filter, ids) => {
    const { env } = await filledInbox();
    const argv = ["deliveries", "list", "--format", "quiet", ...filter];
    expect(idsOf(await runCommand(argv, { env }))).toEqual(ids);
  });

  test("explains how to get the next page, except on the last page", async () => {
    const { env } = await inboxOf(4);
    const argv = ["deliveries", "list", "--format", "quiet", "--limit", "2"];
    const first = await runCommand(argv, { env });
    expect(idsOf(first)).toEqual(["4", "3"]);
    const [, cursor = ""] =
      /^There are more deliveries\. Add --cursor (\S+) to list the next page, or --all to list all deliveries\.\n$/.exec(
        first.stderr,
      ) ?? [];
    expect(await runCommand([...argv, "--cursor", cursor], { env })).toEqual({
      exitCode: 0,
      stdout: "2\n1\n",
      stderr: "",
    });
  });

  test.each([
    [["--limit", "45"], 45],
    [["--all"], 60],
    [[], 50],
  ])("with %j lists the newest %i of 60", async (options, count) => {
    const { env } = await inboxOf(60);
    const ids = idsOf(await runCommand(["deliveries", "list", "--format", "quiet", ...options], { env }));
    expect(ids).toEqual(Array.from({ length: count }, (_, index) => String(60 - index)));
  });

  test("reports an empty inbox on standard error", async () => {
    const { env } = stillInbox();
    expect(await runCommand(["deliveries", "list"], { env })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "The inbox contains no deliveries yet.\n",
    });
    expect(await runCommand(["deliveries", "list", "--format", "json"], { env })).toMatchObject({ stdout: "[]\n" });
  });

  test("lists the known endpoints for an unknown one", async () => {
    const { env } = await filledInbox();
    const { exitCode, stderr } = await runCommand(["deliveries", "list", "--endpoint", "retrian"], { env });
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'The inbox contains no deliveries for endpoint "retrian". Endpoints with deliveries: notify, retrain.\n',
    );
  });

  test("escapes control characters in deliveries", async () => {
    const { env, inbox } = await filledInbox({ reason: "\u001b[2Jred\u009b31m\nline\u202e" });
    await inbox.accept(received("\u001b]0;owned\u0007id\t", { endpoint: "a\u001b[31mb" }));
    for (const format of ["table", "json", "quiet"]) {
      const { stdout } = await runCommand(["deliveries", "list", "--format", format], { env, isTerminal: true });
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(stdout).not.toContain("\nline");
    }
  });
});
