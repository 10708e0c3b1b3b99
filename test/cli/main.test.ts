import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { runCommand } from "./run-command.ts";
import { startStandInHub } from "./stand-in-hub.ts";

const commandNames =
  "init list info create update enable disable delete replay sync deliveries hub dev trigger job".split(" ");
const deliveryCommands = ["list", "show", "replay", "counts", "tail", "repair", "compact"];

describe("The help", () => {
  test("is printed to standard output with --help", async () => {
    const { exitCode, stdout, stderr } = await runCommand(["--help"]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    expect(stdout).toMatch(/Examples:\n {2}\$ npx hub-webhooks /);
  });

  test("is printed to standard error without a command, which is a usage error", async () => {
    const { exitCode, stdout, stderr } = await runCommand([]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: hub-webhooks");
  });

  // The page of the command line contains the whole texts.
  test.each([...commandNames, ...deliveryCommands.map((name) => `deliveries ${name}`)])(
    "of %s lists the shared options and ends with examples",
    async (name) => {
      const { exitCode, stdout, stderr } = await runCommand([...name.split(" "), "--help"]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toMatch(/^ {2}--format <format> /m);
      if (name.startsWith("deliveries ")) expect(stdout).toMatch(/^ {2}--inbox <url> /m);
      const [, examples = ""] = stdout.split(/\nExamples?:\n/);
      expect(examples).toMatch(new RegExp(`^( {2}\\$ npx hub-webhooks ${name}.*\n)+$`));
    },
  );
});

describe("The version", () => {
  test.each(["--version", "-V", "list --version"])("is the package's version, for %s", async (words) => {
    expect(await runCommand(words.split(" "))).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });
});

describe("A usage error", () => {
  test("never contains a possible part of a secret", async () => {
    const results = await Promise.all([
      runCommand(["create", "--secret", "correct", "horse", "battery"]),
      runCommand(["create", "--secrt=horse battery"]),
      runCommand(["create", "--watch", "org:a", "https://a.example/?secret=horse"]),
      runCommand(["update", "a", "--job", "-"], { input: '{"secrets": {"KEY": "horse battery"' }),
      runCommand(["update", "a", "--job", "-"], { input: '{"flavor": "x", "secrets": {"KEY": ["horse"]}}' }),
    ]);
    for (const { exitCode, stderr } of results) {
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^error: /);
      expect(stderr).not.toMatch(/horse|battery/);
    }
  });
});

describe("A failure", () => {
  test("of the Hub is one line without the token, with exit code 1", async () => {
    const hub = await startStandInHub();
    const { exitCode, stdout, stderr } = await runCommand(["info", "gone"], { hub });
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).not.toContain("hf_local");
  });
});

describe("The global options", () => {
  test.each([
    ["before the command", (globals: string[]) => [...globals, "list"]],
    ["after the command", (globals: string[]) => ["list", ...globals]],
  ])("are accepted %s", async (_name, place) => {
    const hub = await startStandInHub();
    const argv = place(["--token", "hf_other", "--hub-url", `${hub.url}/`, "--format", "json"]);
    expect(await runCommand(argv)).toMatchObject({ exitCode: 0, stdout: "[]\n" });
    expect(hub.requests).toMatchObject([{ path: "/api/settings/webhooks", authorization: "Bearer hf_other" }]);
  });

  test("are accepted between and after the options of a command", async () => {
    const hub = await startStandInHub();
    const { exitCode } = await runCommand([
      "create",
      "--watch",
      "org:a",
      "user:b",
      "--token",
      "hf_other",
      "--url",
      "https://a.example",
      "--hub-url",
      hub.url,
    ]);
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ authorization: "Bearer hf_other" }]);
  });
});
