import { describe, expect, test } from "vitest";
import { runCommand } from "../../run-command.ts";
import { idOf, startStandInHub, wireWebhook } from "../../stand-in-hub.ts";

describe("hub-webhooks enable and disable", () => {
  test.each([
    ["enable", "suspended-after-failure", "enabled"],
    ["disable", false, "disabled"],
  ])("%s updates the Hub and prints the new state", async (action, disabled, state) => {
    const hub = await startStandInHub([wireWebhook({ disabled })]);
    const { exitCode, stdout, stderr } = await runCommand([action, idOf(1)], { hub });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(hub.requests).toMatchObject([{ method: "POST", path: `/api/settings/webhooks/${idOf(1)}/${action}` }]);
    expect(stdout).toContain(`\t${state}\t`);
  });
});
