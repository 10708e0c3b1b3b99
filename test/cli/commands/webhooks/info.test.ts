import { describe, expect, test } from "vitest";
import { runCommand } from "../../run-command.ts";
import { idOf, startStandInHub, wireWebhook } from "../../stand-in-hub.ts";

describe("hub-webhooks info", () => {
  test("shows one webhook as a block on a terminal", async () => {
    const hub = await startStandInHub([wireWebhook({ secret: "correct horse" })]);
    const { exitCode, stdout } = await runCommand(["info", idOf(1)], {
      hub,
      isTerminal: true,
      env: { NO_COLOR: "1" },
    });
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        `ID            ${idOf(1)}`,
        "State         enabled",
        "Target        https://example.com/hook",
        "Watched       dataset:me/data",
        "Domains       repo,discussion",
        "Secret        set",
        "Last trigger  never",
        "",
      ].join("\n"),
    );
  });

  test("prints one JSON object", async () => {
    const hub = await startStandInHub([wireWebhook({ secret: "correct horse" })]);
    const { stdout } = await runCommand(["info", idOf(1), "--format", "json"], { hub });
    expect(JSON.parse(stdout)).toMatchObject({ id: idOf(1), secretIsSet: true });
    expect(stdout).not.toContain("horse");
  });

  test("explains how to enable a suspended webhook", async () => {
    const hub = await startStandInHub([wireWebhook({ disabled: "suspended-after-failure" })]);
    const { exitCode, stdout, stderr } = await runCommand(["info", idOf(1)], { hub });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("suspended");
    expect(stderr).toContain(`hub-webhooks enable ${idOf(1)}`);
  });

  test("shows an unknown state unchanged", async () => {
    const hub = await startStandInHub([wireWebhook({ disabled: "archived" })]);
    const { stdout, stderr } = await runCommand(["info", idOf(1)], { hub });
    expect(stdout).toContain("\tarchived\t");
    expect(stderr).toBe("");
  });
});
