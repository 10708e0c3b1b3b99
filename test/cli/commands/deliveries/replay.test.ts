import { DatabaseSync } from "node:sqlite";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { incoming, succeeded, work } from "../../../inbox/sqlite/open-inbox.ts";
import { startCommand } from "../../command-process.ts";
import { keys, runCommand, runWithPrompts } from "../../run-command.ts";
import { filledInbox, livelyInbox, received, settled, slowPoll } from "./filled-inbox.ts";

const soon = "by the running server, or at its next start";

describe("hub-webhooks deliveries replay", () => {
  test("queues deliveries of any status again, and lists them", async () => {
    const { env, inbox } = await filledInbox();
    expect(await runCommand(["deliveries", "replay", "good", "bad", "good"], { env })).toEqual({
      exitCode: 0,
      stdout: `id\tendpoint\twas\treplayed\ngood\tretrain\tsucceeded\t${soon}\nbad\tretrain\tdead\t${soon}\n`,
      stderr: "",
    });
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 2, succeeded: 0, dead: 0 } });
  });

  test.each([
    ["json", `${JSON.stringify([{ id: "bad", endpoint: "retrain", was: "dead" }], null, 2)}\n`],
    ["quiet", "bad\n"],
  ])("prints the replayed deliveries: %s", async (format, stdout) => {
    const { env } = await filledInbox();
    const argv = ["deliveries", "replay", "bad", "--format", format];
    expect(await runCommand(argv, { env })).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("replays the others if one is unknown, and exits with 1", async () => {
    const { env, inbox } = await filledInbox();
    const { exitCode, stdout, stderr } = await runCommand(
      ["deliveries", "replay", "gone", "bad", "lost", "--format", "quiet"],
      { env },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "bad\n" });
    expect(stderr).toMatch(/^error: .*"gone".*\nerror: .*"lost".*\n$/);
    expect(await inbox.get({ id: "bad", endpoint: "retrain" })).toMatchObject({ status: "queued" });
  });

  test("makes the server of the inbox run the delivery", async () => {
    const { inbox, env } = livelyInbox();
    await inbox.accept(incoming("again"));
    const runs = work(inbox, () => succeeded);
    await settled(inbox, ["again"]);
    const { exitCode } = await startCommand(["deliveries", "replay", "again"], env).ended;
    expect(exitCode).toBe(0);
    await expect.poll(() => runs.length, slowPoll).toBe(2);
  });

  test("runs a running delivery again after its attempt", async () => {
    const { inbox, env } = livelyInbox();
    const first = Promise.withResolvers<void>();
    await inbox.accept(incoming("slow"));
    const runs = work(inbox, async ({ attempt }) => {
      if (attempt === 1) await first.promise;
      return succeeded;
    });
    await expect.poll(() => runs.length, slowPoll).toBe(1);
    expect(await runCommand(["deliveries", "replay", "slow"], { env })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("slow\tretrain\trunning\tafter the running attempt\n"),
    });
    expect(runs).toHaveLength(1);
    first.resolve();
    await expect.poll(() => runs.length, slowPoll).toBe(2);
    await settled(inbox, ["slow"]);
    expect(runs).toHaveLength(2);
  });

  test("replays the delivery of the given endpoint if two have the same id", async () => {
    const { env, inbox } = await filledInbox();
    await inbox.accept(received("bad", { endpoint: "audit" }));
    const { stdout } = await runCommand(["deliveries", "replay", "bad", "--endpoint", "retrain"], { env });
    expect(stdout).toContain("bad\tretrain\tdead");
    expect(await inbox.get({ id: "bad", endpoint: "retrain" })).toMatchObject({ status: "queued" });
  });

  test("exits with the reason if the inbox cannot be written", async () => {
    const { env, file } = await filledInbox();
    const database = new DatabaseSync(file);
    database.exec("CREATE TRIGGER broken BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'broken'); END");
    database.close();
    const { exitCode, stdout, stderr } = await runCommand(
      ["deliveries", "replay", "bad", "--endpoint", "retrain", "--format", "quiet"],
      { env },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: The inbox could not be written \(broken\)\. Try again\.\n$/);
  });
});

describe("hub-webhooks deliveries replay --dead", () => {
  test.each([
    [undefined, "endpoint\treplayed\nretrain\t1\n"],
    ["json", `${JSON.stringify({ endpoint: "retrain", replayed: 1 }, null, 2)}\n`],
    ["quiet", "1\n"],
  ])("replays only the dead deliveries of the endpoint: %s", async (format, stdout) => {
    const { env, inbox } = await filledInbox();
    const words = "deliveries replay --dead --endpoint retrain -y".split(" ");
    const argv = [...words, ...(format ? ["--format", format] : [])];
    expect(await runCommand(argv, { env })).toEqual({ exitCode: 0, stdout, stderr: "" });
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 1, succeeded: 1, dead: 0 } });
  });

  test("of an unknown endpoint replays no deliveries, and lists the known endpoints", async () => {
    const { env } = await filledInbox();
    const argv = ["deliveries", "replay", "--dead", "--endpoint", "retrian", "-y", "--format", "quiet"];
    const { exitCode, stdout, stderr } = await runCommand(argv, { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "0\n" });
    expect(stderr).toContain("Endpoints with deliveries: notify, retrain.");
  });

  test.each([
    ["no terminal", { input: "y\n", isTerminal: true }],
    ["no terminal for the prompt", { input: Object.assign(new PassThrough(), { isTTY: true }) }],
  ])("asks for --yes where there is %s, and replays nothing", async (_name, shell) => {
    const { env, inbox } = await filledInbox();
    const argv = ["deliveries", "replay", "--dead", "--endpoint", "retrain"];
    const { exitCode, stdout, stderr } = await runCommand(argv, { env, ...shell });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .*--yes to confirm\.\n$/);
    expect(await inbox.counts()).toMatchObject({ retrain: { dead: 1 } });
  });
});

describe("hub-webhooks deliveries replay --dead on a terminal", () => {
  const argv = ["deliveries", "replay", "--dead", "--endpoint", "retrain"];
  const question = 'Replay the dead delivery of endpoint "retrain"?';

  test.each([
    ["replays after yes", "y", { exitCode: 0 }, { dead: 0, queued: 1 }],
    ["does not replay after no", "n", { exitCode: 1, stdout: "" }, { dead: 1 }],
    ["does not replay after the default answer", keys.enter, { exitCode: 1, stdout: "" }, { dead: 1 }],
    ["does not replay after Ctrl+C", keys.interrupt, { exitCode: 1, stdout: "" }, { dead: 1 }],
  ])("asks with the number of deliveries, and %s", async (_name, key, result, counts) => {
    const { env, inbox } = await filledInbox();
    expect(await runWithPrompts(argv, [[question, key]], { env })).toMatchObject(result);
    expect(await inbox.counts()).toMatchObject({ retrain: counts });
  });

  test("does not ask if no delivery is dead", async () => {
    const { env } = await filledInbox();
    const { exitCode, stderr } = await runWithPrompts([...argv.slice(0, -1), "notify"], [], { env });
    expect(exitCode).toBe(0);
    expect(stderr).not.toContain("Replay ");
  });
});
