import { readdirSync, readFileSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { formats, Output, type Result } from "../../src/cli/invocation.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { readHelps, runCommand } from "./run-command.ts";
import { startStandInHub } from "./stand-in-hub.ts";

const helps = await readHelps();
const commandNames = [...helps.keys()].filter((name) => name !== "");

describe("The help", () => {
  test("is printed to standard output with --help", async () => {
    const { exitCode, stdout, stderr } = await runCommand("--help");
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    expect(commandNames).toEqual(expect.arrayContaining(["init", "catch-up", "deliveries repair", "scenario run"]));
    expect(stdout).toMatch(/Examples:\n {2}\$ npx hub-webhooks /);
  });

  test("is printed to standard error without a command, which is a usage error", async () => {
    const { exitCode, stdout, stderr } = await runCommand([]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain("Usage: hub-webhooks");
  });

  // The page of the command line contains the whole texts.
  test.each(commandNames)("of %s lists the shared options and ends with examples", (name) => {
    const help = helps.get(name) ?? "";
    expect(help).toMatch(/^ {2}--format <format> /m);
    if (name.startsWith("deliveries ")) expect(help).toMatch(/^ {2}--inbox <url> /m);
    const [, examples] = help.split(/\nExamples?:\n/);
    // A group has the examples in its commands, and `deploy` has those of its commands.
    if (/^(inbox|scenario|deploy .*)$/.test(name)) expect(examples).toBeUndefined();
    else expect(examples).toMatch(new RegExp(`^( {2}\\$ npx hub-webhooks ${name}.*\n)+$`));
  });
});

describe("The version", () => {
  test.each(["--version", "-V", "list --version"])("is the package's version, for %s", async (words) => {
    expect(await runCommand(words.split(" "))).toEqual({ exitCode: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });
});

describe("A usage error", () => {
  test("never contains a possible part of a secret", async () => {
    const results = await Promise.all([
      runCommand("create --secret correct horse battery"),
      runCommand(["create", "--secrt=horse battery"]),
      runCommand("create --watch org:a https://a.example/?secret=horse"),
      runCommand("update a --job -", { input: '{"secrets": {"KEY": "horse battery"' }),
      runCommand("update a --job -", { input: '{"flavor": "x", "secrets": {"KEY": ["horse"]}}' }),
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
    const { exitCode, stdout, stderr } = await runCommand("info gone", { hub });
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
    const { exitCode } = await runCommand(
      `create --watch org:a user:b --token hf_other --url https://a.example --hub-url ${hub.url}`,
    );
    expect(exitCode).toBe(0);
    expect(hub.requests).toMatchObject([{ authorization: "Bearer hf_other" }]);
  });
});

const result: Result = {
  json: [{ id: "a" }, { id: "bbbb" }],
  quiet: ["a", "bbbb"],
  columns: {
    id: "Id",
    state: { title: "State", color: (state) => (state === "on" ? "green" : undefined) },
    last: { title: "Last", empty: "never" },
  },
  rows: [
    ["a", "on", ""],
    ["bbbb", "off", "today"],
  ],
};

/** Returns the text that a command writes to standard output and standard error. */
function writtenBy(
  use: (output: Output) => void,
  {
    format,
    isTerminal = false,
    env = {},
  }: { format?: string; isTerminal?: boolean; env?: Record<string, string> } = {},
): { stdout: string; stderr: string } {
  const text = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof text) =>
    Object.assign(new PassThrough(), { isTTY: isTerminal }).on("data", (chunk) => {
      text[name] += chunk;
    });
  const stdin = Readable.from([]);
  const streams = { stdin, stdout: stream("stdout"), stderr: stream("stderr") };
  const shell = { ...streams, env, untilStopped: () => Promise.resolve(), stop() {} };
  use(new Output({ shell, format: formats.find((name) => name === format) }));
  return text;
}

describe("The output", () => {
  const [first = [], second = []] = result.rows;
  const onTerminal = { isTerminal: true, env: { NO_COLOR: "1" } };

  test.each<[string, Partial<Result>, Parameters<typeof writtenBy>[1], string]>([
    ["a table on a terminal", {}, onTerminal, "ID    STATE  LAST\na     on     never\nbbbb  off    today\n"],
    [
      "colored on a terminal, without shifted columns",
      {},
      { isTerminal: true },
      "ID    STATE  LAST\na     \u001b[32mon   \u001b[39m  never\nbbbb  off    today\n",
    ],
    [
      "aligned by display width: a CJK character has a width of two columns",
      { rows: [["データ", "on", ""], second] },
      onTerminal,
      "ID      STATE  LAST\nデータ  on     never\nbbbb    off    today\n",
    ],
    [
      "not colored without a terminal, even with --format table",
      {},
      { format: "table" },
      "ID    STATE  LAST\na     on     never\nbbbb  off    today\n",
    ],
    ["tab-separated when it is piped", {}, {}, "id\tstate\tlast\na\ton\t\nbbbb\toff\ttoday\n"],
    ["one line per row", { rows: [["a\tb\nc", "on", "\u001b[2J"]] }, {}, "id\tstate\tlast\na b c\ton\t\n"],
    ["JSON, also on a terminal", { json: ["a"] }, { format: "json", isTerminal: true }, '[\n  "a"\n]\n'],
    ["one id per line with --format quiet", {}, { format: "quiet" }, "a\nbbbb\n"],
    ["a block for one object", { rows: [first], asBlocks: true }, onTerminal, "Id     a\nState  on\nLast   never\n"],
    ...[...formats, undefined].map((format): [string, Partial<Result>, object, string] => [
      `without lines for an empty list: ${format}`,
      { json: [], quiet: [], rows: [] },
      { ...(format && { format }) },
      format === "json" ? "[]\n" : "",
    ]),
  ])("is %s", (_name, changes, wanted, stdout) => {
    const written = writtenBy((output) => output.printResult({ ...result, ...changes }), wanted);
    expect(written).toEqual({ stdout, stderr: "" });
  });

  test.each([true, false])(
    "has no escape codes and one line per message on standard error (terminal: %s)",
    (isTerminal) => {
      const hostile = "Webhook \u001b[2J\u001b]0;title\u0007\u009b31mred\r\nis gone";
      const written = writtenBy((output) => output.log(hostile), { isTerminal });
      expect(written).toEqual({ stdout: "", stderr: "Webhook red is gone\n" });
    },
  );
});

/**
 * Invalid command lines, each after `$`, and their messages. `""` is an empty word, and `_` is a space in a word. To add a command line or to
 * change a message, change this file or run vitest with `-u`, and review the diff.
 */
const usageErrors = fileURLToPath(new URL("./usage-errors.txt", import.meta.url));

describe("A usage error", () => {
  test("exits with 2 and a message of one or two lines, before any request to the Hub", { tags: "slow" }, async () => {
    const hub = await startStandInHub();
    const folder = createFolder();
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    onTestFinished(() => void vi.restoreAllMocks());
    const messages: string[] = [];
    for (const [, line = ""] of readFileSync(usageErrors, "utf8").matchAll(/^\$ (.*)$/gm)) {
      const argv = line.split(" ").map((word) => (word === '""' ? "" : word.replaceAll(/(?<!hf)_/g, " ")));
      const env = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" };
      const { exitCode, stdout, stderr } = await runCommand(argv, { env });
      expect({ line, exitCode, stdout }).toEqual({ line, exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^error: .*\n(For help, run: npx hub-webhooks.* --help\n)?$/);
      expect(stderr, "possible secrets").not.toMatch(/h[oö]rse/);
      messages.push(`$ ${line}\n${stderr}`);
    }
    expect(messages.length).toBeGreaterThan(100);
    // Neither requests nor files of a new project.
    expect({ requests: hub.requests, files: readdirSync(folder) }).toEqual({ requests: [], files: [] });
    await expect(messages.join("")).toMatchFileSnapshot(usageErrors);
  });
});
