import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createCommand, enableCommand, eventCommand } from "../../../src/local-hub/page/commands.ts";
import { runCommand } from "../../cli/run-command.ts";
import { openLocalHub } from "../support/hub.ts";
import { hostileTexts, sampleWebhook } from "./sample-info.ts";

const hubUrl = "http://127.0.0.1:5050";

describe("The command that creates a first webhook", () => {
  test("contains the address of the local Hub and one of its tokens", () => {
    expect(runInShell(createCommand({ hubUrl }))).toEqual([
      hubUrl,
      "hf_local",
      "hub-webhooks",
      "create",
      "--url",
      "http://localhost:7860/webhooks/NAME",
      "--watch",
      "dataset:me/data",
    ]);
  });
});

describe("The command that enables a webhook", () => {
  test.each([
    { owner: "local-user", token: "hf_local" },
    { owner: "other-user", token: "hf_other" },
    { owner: "constructor", token: "hf_local" },
  ])("of $owner contains the token $token", ({ owner, token }) => {
    expect(runInShell(enableCommand({ hubUrl, id: "66d4", owner }))).toEqual([
      hubUrl,
      token,
      "hub-webhooks",
      "enable",
      "66d4",
    ]);
  });

  test.each(hostileTexts.filter((text) => !text.includes("\u0000")))("quotes “%s” as one word of the shell", (text) => {
    const words = runInShell(enableCommand({ hubUrl: text, id: text, owner: text }));
    expect(words).toEqual([text, "hf_local", "hub-webhooks", "enable", text]);
  });
});

describe("The command that triggers an event", () => {
  test.each([
    {
      watched: { type: "model", name: "me/net" },
      domains: ["repo"],
      words: ["model:me/net"],
    },
    {
      watched: { type: "org", name: "acme" },
      domains: ["repo", "discussion"],
      words: ["dataset:acme/data"],
    },
    {
      watched: { type: "user", name: "me" },
      domains: ["discussion"],
      words: ["dataset:me/data", "--scope", "discussion"],
    },
  ])("triggers an event that fires a webhook on $watched in $domains", async ({ watched, domains, words }) => {
    const webhook = sampleWebhook({ watched: [watched], domains });
    const [endpoint, , ...command] = runInShell(eventCommand({ hubUrl, webhook }));
    expect([endpoint, command]).toEqual([hubUrl, ["hub-webhooks", "trigger", ...words]]);
    const hub = await openLocalHub();
    await hub.create({ url: "http://127.0.0.1:1/", watched: [watched], domains });
    const preview = await runCommand(["trigger", ...words, "--dry-run", "--hub-url", hub.url]);
    expect(preview).toMatchObject({ exitCode: 0 });
  });

  test.each(hostileTexts.filter((text) => !text.includes("\u0000")))("quotes “%s” as one word of the shell", (name) => {
    const webhook = sampleWebhook({ watched: [{ type: "model", name }] });
    expect(runInShell(eventCommand({ hubUrl: name, webhook }))).toEqual([
      name,
      "",
      "hub-webhooks",
      "trigger",
      `model:${name}`,
    ]);
  });
});

/** Returns the URL, the token, the program, and its arguments as a real shell passes them. */
function runInShell(command: string): string[] {
  const tell = (program: string) => `${program}() { printf '%s\\0' "$HF_ENDPOINT" "$HF_TOKEN" ${program} "$@"; }\n`;
  // Some shells do not allow a hyphen in the name of a function.
  const script = tell("hub_webhooks") + command.replace("hub-webhooks", "hub_webhooks");
  const output = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8" });
  return output
    .split("\0")
    .slice(0, -1)
    .map((word) => (word === "hub_webhooks" ? "hub-webhooks" : word));
}
