import { describe, expect, test } from "vitest";
import { runCommand } from "../../run-command.ts";
import { filledInbox, stillInbox } from "./filled-inbox.ts";

const notify = { queued: 1, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0, total: 1 };
const retrain = { queued: 0, running: 0, succeeded: 1, ignored: 0, dead: 1, cancelled: 0, total: 2 };
const total = { queued: 1, running: 0, succeeded: 1, ignored: 0, dead: 1, cancelled: 0, total: 3 };

describe("hub-webhooks deliveries counts", () => {
  test("shows a table on a terminal, with a total", async () => {
    const { env } = await filledInbox();
    const { exitCode, stdout } = await runCommand(["deliveries", "counts"], { env, isTerminal: true });
    expect(exitCode).toBe(0);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ENDPOINT", "QUEUED", "RUNNING", "SUCCEEDED", "IGNORED", "DEAD", "CANCELLED", "TOTAL"],
      ["notify", "1", "0", "0", "0", "0", "0", "1"],
      ["retrain", "0", "0", "1", "0", "1", "0", "2"],
      ["total", "1", "0", "1", "0", "1", "0", "3"],
      [""],
    ]);
  });

  test.each([
    [
      undefined,
      "endpoint\tqueued\trunning\tsucceeded\tignored\tdead\tcancelled\ttotal\nretrain\t0\t0\t1\t0\t1\t0\t2\ntotal\t0\t0\t1\t0\t1\t0\t2\n",
    ],
    ["json", `${JSON.stringify({ endpoints: { retrain }, total: retrain }, null, 2)}\n`],
    ["quiet", "2\n"],
  ])("counts only the given endpoint: %s", async (format, stdout) => {
    const { env } = await filledInbox();
    const argv = ["deliveries", "counts", "--endpoint", "retrain", ...(format ? ["--format", format] : [])];
    expect(await runCommand(argv, { env })).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("prints all counts as JSON", async () => {
    const { env } = await filledInbox();
    const { stdout } = await runCommand(["deliveries", "counts", "--format", "json"], { env });
    expect(JSON.parse(stdout)).toEqual({ endpoints: { notify, retrain }, total });
  });

  test.each([
    [undefined, ""],
    ["quiet", "0\n"],
    [
      "json",
      `${JSON.stringify({ endpoints: {}, total: { queued: 0, running: 0, succeeded: 0, ignored: 0, dead: 0, cancelled: 0, total: 0 } }, null, 2)}\n`,
    ],
  ])("prints no rows for an empty inbox: %s", async (format, stdout) => {
    const { env } = stillInbox();
    const argv = ["deliveries", "counts", ...(format ? ["--format", format] : [])];
    const stderr = "The inbox contains no deliveries yet.\n";
    expect(await runCommand(argv, { env })).toEqual({ exitCode: 0, stdout, stderr });
  });
});
