import { describe, expect, test } from "vitest";
import { runCommand } from "../../run-command.ts";
import { idOf, startStandInHub, wireWebhook } from "../../stand-in-hub.ts";

const secret = "correct horse";

/** A webhook of each kind. */
const webhooks = [
  wireWebhook({ id: idOf(1), secret, lastTriggerAt: "2026-09-01T10:00:00Z" }),
  wireWebhook({
    id: idOf(2),
    url: undefined,
    disabled: true,
    job: { spaceId: "me/space", environment: {}, flavor: "cpu-basic", timeoutSeconds: null, secrets: ["API_KEY"] },
    watched: [
      { type: "org", name: "acme" },
      { type: "user", name: "me" },
    ],
    domains: ["repo"],
  }),
  wireWebhook({ id: idOf(3), url: undefined, jobSourceId: "job-1", disabled: "suspended-after-failure" }),
  wireWebhook({ id: idOf(4), url: `https://example.com/hook?secret=${encodeURIComponent(secret)}`, hasSecret: true }),
];

describe("hub-webhooks list", () => {
  test("describes a job without an image by its hardware", async () => {
    const job = { environment: {}, command: ["npx"], flavor: "cpu-basic", timeoutSeconds: null, secrets: [] };
    const hub = await startStandInHub([wireWebhook({ id: idOf(1), url: undefined, job })]);
    const { stdout } = await runCommand(["list"], { hub });
    expect(stdout).toContain("\tjob on cpu-basic\t");
  });

  test("shows a table on a terminal", async () => {
    const hub = await startStandInHub(webhooks);
    const { exitCode, stdout } = await runCommand(["list"], { hub, isTerminal: true, env: { NO_COLOR: "1" } });
    expect(exitCode).toBe(0);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ID", "STATE", "TARGET", "WATCHED", "DOMAINS", "SECRET", "LAST TRIGGER"],
      [
        idOf(1),
        "enabled",
        "https://example.com/hook",
        "dataset:me/data",
        "repo,discussion",
        "set",
        "2026-09-01T10:00:00Z",
      ],
      [idOf(2), "disabled", "job in me/space on cpu-basic", "org:acme,user:me", "repo", "not set", "never"],
      [idOf(3), "suspended", "copy of job job-1", "dataset:me/data", "repo,discussion", "not set", "never"],
      [idOf(4), "enabled", "https://example.com/hook?secret=***", "dataset:me/data", "repo,discussion", "set", "never"],
      [""],
    ]);
  });

  test("colors the states on a terminal", async () => {
    const hub = await startStandInHub(webhooks);
    const { stdout } = await runCommand(["list"], { hub, isTerminal: true });
    for (const state of ["\u001b[32menabled", "\u001b[33mdisabled", "\u001b[31msuspended"]) {
      expect(stdout).toContain(state);
    }
  });

  test("writes tab-separated values when it is piped", async () => {
    const hub = await startStandInHub(webhooks);
    const { stdout } = await runCommand(["ls"], { hub });
    const [header, first, ...others] = stdout.trimEnd().split("\n");
    expect(header).toBe("id\tstate\ttarget\twatched\tdomains\tsecret\tlastTrigger");
    expect(first?.split("\t")).toHaveLength(7);
    expect(others).toHaveLength(3);
  });

  test("prints the Hub's objects as JSON, with secretIsSet instead of the secret", async () => {
    const hub = await startStandInHub(webhooks);
    const { stdout } = await runCommand(["list", "--format", "json"], { hub });
    const [first, second, third, fourth] = JSON.parse(stdout);
    expect(first).toEqual({
      id: idOf(1),
      url: "https://example.com/hook",
      disabled: false,
      watched: [{ type: "dataset", name: "me/data" }],
      domains: ["repo", "discussion"],
      lastTriggerAt: "2026-09-01T10:00:00Z",
      secretIsSet: true,
    });
    expect(second).toMatchObject({ disabled: true, job: { secrets: ["API_KEY"] }, secretIsSet: false });
    expect(third).toMatchObject({ disabled: "suspended-after-failure", jobSourceId: "job-1" });
    expect(fourth).toMatchObject({ url: "https://example.com/hook?secret=***", secretIsSet: true });
  });

  test("prints only ids with --format quiet", async () => {
    const hub = await startStandInHub(webhooks);
    const { stdout } = await runCommand(["list", "--format", "quiet"], { hub });
    expect(stdout).toBe(`${[1, 2, 3, 4].map(idOf).join("\n")}\n`);
  });

  test.each([["table"], ["json"], ["quiet"]])("shows no secret: %s", async (format) => {
    const hub = await startStandInHub(webhooks);
    const { stdout, stderr } = await runCommand(["list", "--format", format], { hub });
    expect(decodeURIComponent(stdout + stderr)).not.toContain(secret);
  });

  test.each([["table"], ["json"], ["quiet"]])("explains how to enable a suspended webhook: %s", async (format) => {
    const hub = await startStandInHub(webhooks);
    const { stdout, stderr } = await runCommand(["list", "--format", format], { hub });
    expect(stderr).toMatch(new RegExp(`^Webhook ${idOf(3)} is suspended.*hub-webhooks enable ${idOf(3)}\n$`));
    expect(stdout).not.toContain("hub-webhooks enable");
  });

  test("escapes control characters in text from the Hub", async () => {
    const hub = await startStandInHub([
      wireWebhook({
        url: "https://example.com/\u001b[2J",
        watched: [{ type: "dataset", name: "me/\u009b31m\u001b]0;x\u0007data\u202e\n" }],
      }),
    ]);
    for (const argv of [["list"], ["list", "--format", "json"], ["info", idOf(1)], ["delete", "-y", idOf(1)]]) {
      const { stdout, stderr } = await runCommand(argv, { hub, isTerminal: true, env: { NO_COLOR: "1" } });
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  test("explains how to create the first webhook, only on standard error", async () => {
    const hub = await startStandInHub();
    const { exitCode, stdout, stderr } = await runCommand(["list"], { hub });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toMatch(/^No webhooks yet\. .*npx hub-webhooks create.*\n$/);
  });

  test("prints an empty JSON list without webhooks", async () => {
    const hub = await startStandInHub();
    expect(await runCommand(["list", "--format", "json"], { hub })).toMatchObject({ exitCode: 0, stdout: "[]\n" });
  });
});
