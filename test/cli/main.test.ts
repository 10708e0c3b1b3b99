import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { runCommand } from "./run-command.ts";
import { startStandInHub } from "./stand-in-hub.ts";

const commandNames = [
  "init",
  "list",
  "info",
  "create",
  "update",
  "enable",
  "disable",
  "delete",
  "replay",
  "sync",
  "deliveries",
  "hub",
  "dev",
  "trigger",
  "job",
];

describe("The help", () => {
  test("is shown on standard output when it is asked for", async () => {
    const { exitCode, stdout, stderr } = await runCommand(["--help"]);
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    expect(stdout).toMatch(/Examples:\n {2}\$ hub-webhooks /);
  });

  test("is shown on standard error when no command is given, and that is wrong usage", async () => {
    const { exitCode, stdout, stderr } = await runCommand([]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: hub-webhooks");
  });

  test.each(commandNames)("of %s tells the global options and ends with examples", async (name) => {
    const { exitCode, stdout } = await runCommand([name, "--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/--endpoint <(url|name)>/);
    const [, examples = ""] = stdout.split(/\nExamples?:\n/);
    expect(examples).toMatch(new RegExp(`^( {2}\\$ .*hub-webhooks ${name}.*\n)+$`));
  });

  test("names all seven types and both domains", async () => {
    const { stdout } = await runCommand(["create", "--help"]);
    const text = stdout.replace(/\s+/g, " ");
    expect(text).toContain("model, dataset, space, bucket, kernel, user, org");
    expect(text).toContain("repo, discussion (default: both)");
  });

  test("warns that --secret can be seen by others", async () => {
    const { stdout } = await runCommand(["create", "--help"]);
    expect(stdout.replace(/\s+/g, " ")).toContain("shows in the shell's history and the process list");
  });
});

describe("The version", () => {
  test.each(["--version", "-V", "list --version"])("is that of the package, for %s", async (words) => {
    expect(await runCommand(words.split(" "))).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });
});

describe("Wrong usage", () => {
  test.each([
    ["an unknown command", ["creat"], "(Did you mean create?)"],
    ["an unknown option", ["create", "--wach", "org:a"], "(Did you mean --watch?)"],
    ["an unknown global option", ["list", "--tokn", "x"], "(Did you mean --token?)"],
    ["an unknown format", ["list", "--format", "yaml"], "Allowed choices are table, json, quiet."],
    ["a format that is not given", ["list", "--format"], "argument missing"],
    ["a missing argument", ["info"], "missing required argument 'id'"],
    ["one argument too many", ["info", "a", "b"], "Expected 1 argument but got 2."],
    ["a port that is no number", ["hub", "--port", "http"], "Give a number from 0 to 65535."],
    ["a port beyond the last", ["hub", "--port", "65536"], "Give a number from 0 to 65535."],
    ["nowhere to deliver", ["create", "--watch", "org:a"], "give one of --url, --job-source-id and --job"],
    ["nothing to watch", ["create", "--url", "https://a.example"], "give --watch type:name at least once"],
    ["a mistyped type", ["create", "--watch", "orgs:a"], 'Did you mean "org"?'],
    ["a mistyped domain", ["create", "--domain", "discusion"], 'Did you mean "discussion"?'],
    [
      "two places to deliver to",
      ["create", "--watch", "org:a", "--url", "https://a.example", "--job-source-id", "b"],
      "--url and --job-source-id exclude each other",
    ],
    ["two secrets", ["update", "a", "--secret", "b", "--secret-stdin"], "--secret and --secret-stdin exclude"],
    ["an empty secret", ["update", "a", "--secret", ""], "The secret is empty"],
    ["a secret set and removed", ["update", "a", "--secret", "b", "--no-secret"], "--no-secret removes the secret"],
    ["a secret removed and set", ["update", "a", "--no-secret", "--secret", "b"], "--no-secret removes the secret"],
    ["two readers of one input", ["update", "a", "--job", "-", "--secret-stdin"], "both read standard input"],
    ["nothing to change", ["update", "a"], "Nothing is to be changed"],
    ["a file that is not there", ["update", "a", "--job", "/nonexistent.json"], "cannot be read (ENOENT)"],
    ["an endpoint that is no address", ["list", "--endpoint", "nowhere"], "The address of the Hub"],
  ])("is %s: exit code 2, told in a line or two, before anything is sent", async (_name, argv, told) => {
    const hub = await startStandInHub();
    const endpoint = argv.includes("--endpoint") ? [] : ["--endpoint", hub.url];
    const { exitCode, stdout, stderr } = await runCommand(["--token", "hf_local", ...endpoint, ...argv]);
    expect(stderr).toContain(told);
    expect(stderr).toMatch(/^error: .*\n(See: hub-webhooks.* --help\n)?$/);
    expect(stdout).toBe("");
    expect(exitCode).toBe(2);
    expect(hub.requests).toEqual([]);
  });

  test("never quotes what may be part of a secret", async () => {
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
  test("of the Hub is told in one line, with the next step and without the token: exit code 1", async () => {
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
    ["behind the command", (globals: string[]) => ["list", ...globals]],
  ])("are taken %s", async (_name, place) => {
    const hub = await startStandInHub();
    const argv = place(["--token", "hf_other", "--endpoint", `${hub.url}/`, "--format", "json"]);
    expect(await runCommand(argv)).toMatchObject({ exitCode: 0, stdout: "[]\n" });
    expect(hub.requests).toMatchObject([{ path: "/api/settings/webhooks", authorization: "Bearer hf_other" }]);
  });

  test("may stand between and behind the options of a command", async () => {
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
      "--endpoint",
      hub.url,
    ]);
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ authorization: "Bearer hf_other" }]);
  });
});
