import { describe, expect, test } from "vitest";
import { runCommand } from "../../run-command.ts";
import { idOf, startStandInHub, wireWebhook } from "../../stand-in-hub.ts";

describe("hub-webhooks replay", () => {
  test.each([
    [200, 0],
    [204, 0],
    [299, 0],
    [199, 1],
    [302, 1],
    [500, 1],
  ])("prints the status %i and exits with %i", async (status, exitCode) => {
    const hub = await startStandInHub([wireWebhook()]);
    hub.replayStatus = status;
    const result = await runCommand(["replay", idOf(1), "log-1", "--format", "quiet"], { hub });
    expect(result).toMatchObject({ exitCode, stdout: `${status}\n` });
    expect(hub.requests).toMatchObject([{ method: "POST", path: `/api/settings/webhooks/${idOf(1)}/replay/log-1` }]);
    expect(result.stderr).toBe(
      exitCode === 0
        ? ""
        : `The server answered ${status}. Fix the problem shown in the server's log, then replay the delivery again.\n`,
    );
  });

  test.each([
    [[], `id\tlogId\tstatus\n${idOf(1)}\tlog-1\t200\n`],
    [["--format", "table"], `Webhook   ${idOf(1)}\nDelivery  log-1\nStatus    200\n`],
    [["--format", "json"], `${JSON.stringify({ id: idOf(1), logId: "log-1", status: 200 }, null, 2)}\n`],
  ])("says which delivery of which webhook: %s", async (format, stdout) => {
    const hub = await startStandInHub([wireWebhook()]);
    expect(await runCommand(["replay", idOf(1), "log-1", ...format], { hub })).toMatchObject({ stdout });
  });
});
