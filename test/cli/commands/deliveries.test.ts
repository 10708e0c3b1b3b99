import { describe, expect, test } from "vitest";
import { prettyJson } from "../../../src/cli/commands/deliveries.ts";
import { webhookPayload } from "../../../src/testing.ts";
import { openInbox, succeeded, work } from "../../inbox/sqlite/open-inbox.ts";
import { type RunOptions, runCommand } from "../run-command.ts";
import { filledInbox, hour, type NamedInbox, received, settled, stillInbox } from "./deliveries/filled-inbox.ts";

/** Runs a command of `deliveries` with an inbox, by default a filled one. */
async function runOn(words: string, options: RunOptions & { inbox?: Pick<NamedInbox, "env"> } = {}) {
  const { inbox = await filledInbox(), ...others } = options;
  return runCommand(`deliveries ${words}`, { env: inbox.env, ...others });
}

/** Splits a table into its cells, and replaces the durations, which vary. */
function cellsOf(table: string): string[][] {
  return table.split("\n").map((line) => line.split(/ {2,}/).map((cell) => cell.replace(/^\d+ ms$/, "N ms")));
}

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

/** Matches control characters that a terminal would interpret. */
const deceptive = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

describe("hub-webhooks deliveries list", () => {
  test("shows a table on a terminal, newest first, with the last error or the next attempt", async () => {
    const { exitCode, stdout, stderr } = await runOn("list", { isTerminal: true });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(cellsOf(stdout)).toEqual([
      [
        ...["ID", "ENDPOINT", "STATUS", "EVENT", "REPOSITORY", "SUBJECT"],
        ...["RECEIVED", "DURATION", "ATTEMPTS", "LAST ERROR, REASON, OR NEXT ATTEMPT"],
      ],
      ["new", "notify", "queued", "-", "-", "-", hour, "-", "0", `due ${hour}`],
      ["bad", "retrain", "dead", "-", "-", "-", hour, "N ms", "2", "The trainer is gone."],
      ["good", "retrain", "succeeded", "-", "-", "-", hour, "N ms", "1", "-"],
      [""],
    ]);
  });

  test("shows the event, the repository, the subject, and the duration of the last attempt", async () => {
    const inbox = await filledInbox();
    const body = JSON.stringify(webhookPayload("repo.content", { repo: { type: "dataset", name: "me/data" } }));
    await inbox.inbox.accept(received("real", { body }));
    const { stdout } = await runOn("list --limit 1", { inbox });
    const [heading, row] = stdout.split("\n").map((line) => line.split("\t").slice(3, 6));
    expect({ heading, row }).toEqual({
      heading: ["event", "repo", "subject"],
      row: ["repo.content update", "dataset:me/data", "main"],
    });
    const json = await runOn("list --limit 1 --format json", { inbox });
    expect(JSON.parse(json.stdout)).toMatchObject([
      { event: "repo.content update", repo: "dataset:me/data", subject: "main" },
    ]);
  });

  test("colors the status on a terminal", async () => {
    const { url } = await filledInbox();
    const { stdout } = await runCommand("deliveries list", { env: { INBOX_URL: url }, isTerminal: true });
    expect(stdout).toContain("\u001b[31mdead");
    expect(stdout).toContain("\u001b[32msucceeded");
  });

  test("prints all fields except the bodies as JSON", async () => {
    const error = { code: "HANDLER_FAILED", message: "The trainer is gone." };
    const attempt = { startedAt: hour, durationMs: expect.any(Number) };
    const finished = { endpoint: "retrain", receivedAt: hour, finishedAt: hour };
    expect(JSON.parse((await runOn("list --format json")).stdout)).toEqual([
      { id: "new", endpoint: "notify", status: "queued", receivedAt: hour, dueAt: hour, attempts: [] },
      {
        ...{ id: "bad", status: "dead", ...finished },
        attempts: [1, 2].map((number) => ({ ...attempt, number, outcome: "failed", error })),
      },
      { id: "good", status: "succeeded", ...finished, attempts: [{ ...attempt, number: 1, outcome: "succeeded" }] },
    ]);
  });

  test.each([
    ["--endpoint retrain", ["bad", "good"]],
    ["--status dead", ["bad"]],
    ["--status cancelled", []],
    ["--status ignored", []],
    ["--status queued --endpoint notify", ["new"]],
    ["--status queued --endpoint retrain", []],
  ])("filters by %s", async (filter, ids) => {
    expect(idsOf(await runOn(`list --format quiet ${filter}`))).toEqual(ids);
  });

  test("explains how to get the next page, except on the last page", async () => {
    const inbox = await inboxOf(4);
    const words = "list --format quiet --limit 2";
    const first = await runOn(words, { inbox });
    expect(idsOf(first)).toEqual(["4", "3"]);
    const [, cursor = ""] =
      /^There are more deliveries\. Add --cursor (\S+) to list the next page, or --all to list all deliveries\.\n$/.exec(
        first.stderr,
      ) ?? [];
    const last = await runOn(`${words} --cursor ${cursor}`, { inbox });
    expect(last).toEqual({ exitCode: 0, stdout: "2\n1\n", stderr: "" });
  });

  test.each([
    [" --limit 45", 45],
    [" --all", 60],
    ["", 50],
  ])("with%s lists the newest %i of 60", async (options, count) => {
    const ids = idsOf(await runOn(`list --format quiet${options}`, { inbox: await inboxOf(60) }));
    expect(ids).toEqual(Array.from({ length: count }, (_, index) => String(60 - index)));
  });

  test("reports an empty inbox on standard error", async () => {
    const stderr = "The inbox contains no deliveries yet.\n";
    expect(await runOn("list", { inbox: stillInbox() })).toEqual({ exitCode: 0, stdout: "", stderr });
    expect(await runOn("list --format json", { inbox: stillInbox() })).toMatchObject({ stdout: "[]\n" });
  });

  test("lists the known endpoints for an unknown one", async () => {
    expect(await runOn("list --endpoint retrian")).toMatchObject({
      exitCode: 0,
      stderr: 'The inbox contains no deliveries for endpoint "retrian". Endpoints with deliveries: notify, retrain.\n',
    });
  });

  test("escapes control characters in deliveries", async () => {
    const inbox = await filledInbox({ reason: "\u001b[2Jred\u009b31m\nline\u202e" });
    await inbox.inbox.accept(received("\u001b]0;owned\u0007id\t", { endpoint: "a\u001b[31mb" }));
    for (const format of ["table", "json", "quiet"]) {
      const { stdout } = await runOn(`list --format ${format}`, { inbox, isTerminal: true });
      expect(stdout).not.toMatch(deceptive);
      expect(stdout).not.toContain("\nline");
    }
  });
});

describe("hub-webhooks deliveries show", () => {
  test("shows a delivery with its attempts and its body on a terminal", async () => {
    const { exitCode, stdout } = await runOn("show bad", { isTerminal: true });
    expect(exitCode).toBe(0);
    const [delivery = "", attempts = "", body] = stdout.split("\n\n");
    expect(cellsOf(delivery)).toEqual([
      ["ID", "bad"],
      ["Endpoint", "retrain"],
      ["Status", "dead"],
      ["Received", hour],
      ["Next attempt", "-"],
      ["Finished", hour],
      ["Attempts", "2"],
      ["Origin", "webhook"],
    ]);
    expect(cellsOf(attempts.replace(/Z\s+\d+\s+failed/g, "Z 0 failed"))).toEqual([
      ["ATTEMPT", "STARTED", "DURATION (MS)", "OUTCOME", "CODE", "ERROR OR REASON"],
      ["1", `${hour} 0 failed`, "HANDLER_FAILED", "The trainer is gone."],
      ["2", `${hour} 0 failed`, "HANDLER_FAILED", "The trainer is gone."],
    ]);
    expect(body).toBe('{\n  "id": "bad"\n}\n');
  });

  test("prints tab-separated values when its output is piped", async () => {
    const [delivery, attempts = "", body] = (await runOn("show bad")).stdout.split("\n\n");
    expect(delivery).toBe(
      `id\tendpoint\tstatus\treceivedAt\tdueAt\tfinishedAt\tattempts\torigin\nbad\tretrain\tdead\t${hour}\t\t${hour}\t2\twebhook`,
    );
    const [heading, , second] = attempts.split("\n");
    expect(heading).toBe("attempt\tstartedAt\tdurationMs\toutcome\tcode\terror");
    expect(second).toMatch(/^2\t\S+\t\d+\tfailed\tHANDLER_FAILED\tThe trainer is gone\.$/);
    expect(body).toBe('{\n  "id": "bad"\n}\n');
  });

  test("shows when the next attempt is due", async () => {
    const { stdout } = await runOn("show new", { isTerminal: true });
    expect(stdout).toMatch(new RegExp(`^Next attempt {2}${hour}$`, "m"));
    expect(stdout).toMatch(/^Attempts {6}0\nOrigin {8}webhook\n\n\{/m);
  });

  test("prints JSON with the exact body as received", async () => {
    const inbox = stillInbox();
    const body = '{ "big":12345678901234567890,  "a":1,"a":2, "text":"\\u001b[2J\u009b é" }';
    await inbox.inbox.accept(received("exact", { body }));
    const { stdout } = await runOn("show exact --format json", { inbox });
    const dates = { receivedAt: hour, dueAt: hour };
    expect(JSON.parse(stdout)).toEqual({
      ...{ id: "exact", endpoint: "retrain", status: "queued", ...dates, body, attempts: [] },
      origin: "webhook",
    });
    expect(stdout).not.toContain("\u009b");
  });

  test("shows that catch-up has derived a delivery", async () => {
    const inbox = stillInbox();
    await inbox.inbox.accept(received("catch-up-1-0123"));
    expect((await runOn("show catch-up-1-0123", { inbox, isTerminal: true })).stdout).toMatch(/^Origin +catch-up$/m);
  });

  test("prints only the id with --format quiet", async () => {
    expect(await runOn("show bad --format quiet")).toMatchObject({ stdout: "bad\n" });
  });

  const large = JSON.stringify({ texts: Array.from({ length: 2_000 }, () => "x".repeat(1_000)) });
  test.each([
    ["JSON", '{"name":"\u009b2J\u202e\\u001b[31m\u007f"}', '{\n  "name": "\\u009b2J\\u202e\\u001b[31m\\u007f"\n}\n'],
    ["not JSON", "one\u001b[2J\r\ntwo\u0007\u202e", "one\ntwo\n"],
    ["large", large, `${JSON.stringify(JSON.parse(large), null, 2)}\n`],
  ])("shows a body that is %s without control characters", async (_name, body, shown) => {
    const inbox = stillInbox();
    await inbox.inbox.accept(received("evil", { body }));
    const { stdout } = await runOn("show evil", { inbox, isTerminal: true });
    expect(stdout.slice(stdout.indexOf("\n\n") + 2)).toBe(shown);
  });

  test("reports that the body was removed", async () => {
    const clock = { now: Date.parse(hour) };
    const { inbox, file } = openInbox({ now: () => clock.now });
    await inbox.accept(received("old"));
    work(inbox, () => succeeded, { retentionMs: 1_000 });
    await settled(inbox, ["old"]);
    clock.now += 60_000;
    await inbox.prune();
    expect(await runOn("show old", { inbox: { env: { INBOX_URL: `sqlite:${file}` } } })).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("old\tretrain\tsucceeded"),
      stderr: "The body was removed because its retention period has ended.\n",
    });
  });

  test("shows the delivery of the given endpoint if two have the same id", async () => {
    const inbox = stillInbox();
    const endpoints = ["first", "second"];
    for (const endpoint of endpoints) await inbox.inbox.accept(received("same", { endpoint, body: `"${endpoint}"` }));
    for (const endpoint of endpoints) {
      const { stdout } = await runOn(`show same --endpoint ${endpoint}`, { inbox });
      expect(stdout).toContain(`same\t${endpoint}\t`);
      expect(stdout).toContain(`\n"${endpoint}"\n`);
    }
  });

  test.each([
    ["gone", 'contains no delivery "gone". To list deliveries, run: npx hub-webhooks deliveries list\n'],
    ["bad --endpoint notify", 'contains no delivery "bad" of endpoint "notify". To list'],
  ])("fails for %s, which does not exist", async (words, expected) => {
    const { exitCode, stdout, stderr } = await runOn(`show ${words}`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(`error: The inbox ${expected}`);
  });
});

describe("Pretty JSON", () => {
  test.each([
    ["nested values", { a: [1, { b: null }], c: { d: [[], {}, [[]]] }, e: "{[,:]}", f: 'a"b\\', g: -1.5e-7 }],
    ["an empty object", {}],
    ["an empty array", []],
    ["a text", "a: b, c"],
    ["a number", 42],
    ["nothing", null],
    ["a text that ends with a backslash", ["\\", "\\\\", '\\"']],
  ])("lays %s out as JSON.stringify does", (_name, value) => {
    const expected = JSON.stringify(value, null, 2);
    expect(prettyJson(JSON.stringify(value))).toBe(expected);
    expect(prettyJson(`\r\n ${JSON.stringify(value, null, "\t")} \n`)).toBe(expected);
    expect(prettyJson(expected)).toBe(expected);
  });

  test("keeps the digits of numbers, and every key, and escapes control characters", () => {
    expect(prettyJson('{"n":12345678901234567890,"n":1.0}')).toBe('{\n  "n": 12345678901234567890,\n  "n": 1.0\n}');
    expect(prettyJson('"\u009b\u202e\\u001b\u007fé"')).toBe('"\\u009b\\u202e\\u001b\\u007fé"');
  });

  test.each(["", "{", "{'a':1}", "[1,]", "text", '"open'])("is undefined for %j, which is not JSON", (text) => {
    expect(prettyJson(text)).toBeUndefined();
  });

  test("of a deep text is not much longer than the text", () => {
    const depth = 20_000;
    const text = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(prettyJson(text)?.length).toBeLessThan(text.length * 80);
  });
});

describe("hub-webhooks deliveries counts", () => {
  const none = { queued: 0, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0, total: 0 };
  const notify = { ...none, queued: 1, total: 1 };
  const retrain = { ...none, succeeded: 1, dead: 1, total: 2 };
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

  test("shows a table on a terminal, with a total", async () => {
    const { exitCode, stdout } = await runOn("counts", { isTerminal: true });
    expect(exitCode).toBe(0);
    expect(cellsOf(stdout)).toEqual([
      ["ENDPOINT", "QUEUED", "RUNNING", "SUCCEEDED", "IGNORED", "DEAD", "CANCELLED", "TOTAL"],
      ["notify", "1", "0", "0", "0", "0", "0", "1"],
      ["retrain", "0", "0", "1", "0", "1", "0", "2"],
      ["total", "1", "0", "1", "0", "1", "0", "3"],
      [""],
    ]);
  });

  test.each([
    [
      "--endpoint retrain",
      "endpoint\tqueued\trunning\tsucceeded\tignored\tdead\tcancelled\ttotal\nretrain\t0\t0\t1\t0\t1\t0\t2\ntotal\t0\t0\t1\t0\t1\t0\t2\n",
    ],
    ["--endpoint retrain --format json", json({ endpoints: { retrain }, total: retrain })],
    ["--endpoint retrain --format quiet", "2\n"],
    [
      "--format json",
      json({ endpoints: { notify, retrain }, total: { ...none, queued: 1, succeeded: 1, dead: 1, total: 3 } }),
    ],
  ])("counts the deliveries of the given endpoints: %s", async (options, stdout) => {
    expect(await runOn(`counts ${options}`)).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test.each([
    ["", ""],
    [" --format quiet", "0\n"],
    [" --format json", json({ endpoints: {}, total: none })],
  ])("prints no rows for an empty inbox:%s", async (options, stdout) => {
    const stderr = "The inbox contains no deliveries yet.\n";
    expect(await runOn(`counts${options}`, { inbox: stillInbox() })).toEqual({ exitCode: 0, stdout, stderr });
  });
});
