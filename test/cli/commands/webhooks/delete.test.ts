import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { canMakeTerminal, startOnTerminal } from "../../command-process.ts";
import { keys, runCommand, runWithPrompts } from "../../run-command.ts";
import { idOf, startStandInHub, wireWebhook } from "../../stand-in-hub.ts";

describe("hub-webhooks delete", () => {
  test.each(["--yes", "-y"])("deletes without a prompt with %s", async (yes) => {
    const hub = await startStandInHub([wireWebhook()]);
    const { exitCode, stdout, stderr } = await runCommand(["delete", idOf(1), yes], { hub });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `id\tstate\n${idOf(1)}\tdeleted\n`,
      stderr: "",
    });
    expect(hub.requests).toMatchObject([{ method: "DELETE", path: `/api/settings/webhooks/${idOf(1)}` }]);
  });

  test("requires --yes without a terminal, and sends no request", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const { exitCode, stdout, stderr } = await runCommand(["delete", idOf(1)], { hub, isTerminal: true, input: "y\n" });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .*--yes to confirm\.\n$/);
    expect(hub.requests).toEqual([]);
  });

  test("does not ask if standard error is not a terminal", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const input = Object.assign(new PassThrough(), { isTTY: true });
    expect(await runCommand(["delete", idOf(1)], { hub, input })).toMatchObject({ exitCode: 2 });
  });

  test.each([
    ["json", `${JSON.stringify({ id: idOf(1), deleted: true }, null, 2)}\n`],
    ["quiet", `${idOf(1)}\n`],
  ])("says what it deleted: %s", async (format, stdout) => {
    const hub = await startStandInHub([wireWebhook()]);
    expect(await runCommand(["delete", idOf(1), "-y", "--format", format], { hub })).toMatchObject({ stdout });
  });

  test("fails for an unknown webhook", async () => {
    const hub = await startStandInHub();
    expect(await runCommand(["delete", idOf(1), "-y"], { hub })).toMatchObject({ exitCode: 1, stdout: "" });
  });
});

describe("hub-webhooks delete on a terminal", () => {
  test.runIf(canMakeTerminal)("asks with the webhook's name on standard error, and deletes it after yes", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const command = startOnTerminal(`delete ${idOf(1)} | sed 's/^/piped: /'`, hub);
    await command.says(/Permanently delete webhook .*dataset:me\/data to https:\/\/example\.com\/hook/s);
    expect(command.stdout).not.toContain("piped: ");
    expect(hub.webhooks).toHaveLength(1);
    command.stdin.write("y");
    await command.says(/piped: .*deleted/);
    expect(await command.ended).toMatchObject({ exitCode: 0 });
    expect(hub.webhooks).toEqual([]);
  });

  test.each([
    ["no", "n"],
    ["the default answer", keys.enter],
    ["Ctrl+C", keys.interrupt],
    ["Escape", keys.escape],
  ])("does not delete after %s", async (_name, key) => {
    const hub = await startStandInHub([wireWebhook()]);
    const result = await runWithPrompts(["delete", idOf(1)], [["Permanently delete webhook", key]], { hub });
    expect(result).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Nothing was changed.") });
    expect(hub.webhooks).toHaveLength(1);
  });

  test("does not ask about an unknown webhook", async () => {
    const hub = await startStandInHub();
    const result = await runWithPrompts(["delete", idOf(1)], [], { hub });
    expect(result).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringMatching(/^error: .*\n$/) });
  });
});
