// @module-tag slow

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { processShell, type Shell } from "../../src/cli/invocation.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { binPath, CommandProcess, startCommand } from "./command-process.ts";
import { filledInbox } from "./commands/deliveries/filled-inbox.ts";
import { startStandInHub, wireWebhook } from "./stand-in-hub.ts";

/** Finds an installed Node that is older than the minimum version. `version` has the form of `node --version`. */
function findOldNode(): { path: string; version: string } | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/usr/local/bin"];
  for (const folder of folders.filter((path) => !path.includes(`${sep}node_modules${sep}`))) {
    const path = join(folder, "node");
    try {
      const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
      const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
      if (major < 22 || (major === 22 && minor < 18)) return { path, version };
    } catch {
      // This folder has no Node.
    }
  }
  return undefined;
}

const oldNode = findOldNode();
if (!oldNode) console.log("Skipped: this machine has no Node older than 22.18 to refuse.");

describe("The script hub-webhooks", () => {
  test.each([
    [0, ["list"]],
    [2, ["lst"]],
  ])("exits with %i for %j", async (exitCode, argv) => {
    const hub = await startStandInHub([wireWebhook()]);
    const result = await startCommand(argv, { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" }).ended;
    expect(result).toMatchObject({ exitCode, signal: null });
    expect(exitCode === 0 ? result.stderr : result.stdout).toBe("");
    expect(exitCode === 0 ? result.stdout : result.stderr).not.toBe("");
  });

  test("reports a missing token, and exits with 1", async () => {
    const hub = await startStandInHub();
    const { exitCode, stdout, stderr } = await startCommand(["list"], { HF_ENDPOINT: hub.url }).ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: No access token for the Hub.*HF_TOKEN.*\n$/);
  });

  test("reads a piped secret, and does not wait for more input", async () => {
    const hub = await startStandInHub();
    const argv = ["create", "--url", "https://example.com/hook", "--watch", "model:me/m", "--secret-stdin"];
    const command = startCommand(argv, { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });
    // The pipe stays open, as in `(echo secret; sleep 1000) | hub-webhooks create …`.
    command.stdin.write("correct horse\n");
    expect(await command.ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(hub.requests).toMatchObject([{ body: { secret: "correct horse" } }]);
  });

  test("exits although the server file has left a timer, after a slow reader has read the output", async () => {
    const file = join(createFolder(), "server.mjs");
    const output = "x".repeat(5_000_000);
    await writeFile(
      file,
      'setInterval(() => {}, 1_000);\nprocess.stdout.write("x".repeat(5_000_000));\nexport default 1;\n',
    );
    const command = startCommand(["catch-up", file]);
    command.pauseStdout();
    await command.says("error: ");
    await delay(1_000);
    command.resumeStdout();
    expect(await command.ended).toMatchObject({ exitCode: 1, signal: null, stdout: output });
  });

  test("exits without an error when its output is closed", async () => {
    const hub = await startStandInHub(
      Array.from({ length: 5_000 }, () => wireWebhook({ url: `https://example.com/${"x".repeat(500)}` })),
    );
    const command = startCommand(["list"], { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });
    await command.says("lastTrigger");
    command.closeStdout();
    expect(await command.ended).toMatchObject({ exitCode: 0, signal: null, stderr: "" });
  });

  test.runIf(existsSync("/dev/full")).each(["list", "hub --port 0"])(
    "stops and fails without a stack if the disk is full: %s",
    async (words) => {
      const hub = await startStandInHub([wireWebhook()]);
      const argv = ["-c", 'exec "$0" "$@" > /dev/full', process.execPath, binPath, ...words.split(" ")];
      const env = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" };
      const { exitCode, stderr } = await new CommandProcess("sh", argv, env, { cwd: createFolder() }).ended;
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(/^error: .*ENOSPC.*\n/) });
      expect(stderr).not.toContain("    at ");
    },
  );

  test("requires the same Node version as package.json", async () => {
    const source = await readFile(binPath, "utf8");
    const [, major, minor] = /major < (\d+) \|\| \(major === \1 && minor < (\d+)\)/.exec(source) ?? [];
    expect(`>=${major}.${minor}`).toBe(manifest.engines.node);
    expect(source).toContain(`requires Node ${major}.${minor} or newer`);
  });

  test.runIf(oldNode)("prints the required version in one line on an old Node", async () => {
    const { path, version } = oldNode ?? { path: "", version: "" };
    const folder = createFolder();
    const { code } = await transform(await readFile(binPath, "utf8"), { loader: "ts", target: "es2024" });
    const script = join(folder, "bin.mjs");
    await writeFile(script, code);
    expect(await new CommandProcess(path, [script, "list"]).ended).toEqual({
      exitCode: 1,
      signal: null,
      stdout: "",
      stderr: `error: hub-webhooks requires Node 22.18 or newer, but this is Node ${version.slice(1)}. Update Node.\n`,
    });
  });

  test.runIf(oldNode)("and every entry point of the package names the required version on an old Node", async () => {
    const entryPoints = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [] : entry.default,
    );
    expect(entryPoints.length).toBeGreaterThan(5);
    for (const entryPoint of entryPoints) {
      const file = JSON.stringify(new URL(`../../${entryPoint}`, import.meta.url).href);
      const script = `await import(${file}).catch(({ code, message }) => console.log(code, message))`;
      const process = new CommandProcess(oldNode?.path ?? "", ["--input-type=module", "--eval", script]);
      expect(await process.ended, entryPoint).toMatchObject({
        stdout: `NODE_REQUIRED hub-webhooks requires Node 22.18 or newer, but this is Node ${oldNode?.version.slice(1)}. Update Node.\n`,
        stderr: "",
      });
    }
  });

  test("imports no module before it has checked the version of Node", async () => {
    expect(await readFile(binPath, "utf8")).not.toMatch(/^\s*(import|export)\s*[^(\s]/m);
  });
});

/** Creates the shell of this process. Its listeners are removed after the test. */
function openShell({ isTTY = false } = {}): Shell {
  const watched = [
    ...(["SIGINT", "SIGTERM", "SIGHUP"] as const).map((event) => ({ emitter: process, event })),
    ...[process.stdout, process.stderr].map((emitter) => ({ emitter, event: "error" })),
  ].map(({ emitter, event }) => ({ emitter, event, before: emitter.rawListeners(event) }));
  const wasTTY = process.stdin.isTTY;
  process.stdin.isTTY = isTTY;
  onTestFinished(() => {
    process.stdin.isTTY = wasTTY;
    for (const { emitter, event, before } of watched) {
      emitter.removeAllListeners(event);
      for (const listener of before) emitter.on(event, (...values) => Reflect.apply(listener, emitter, values));
    }
  });
  return processShell();
}

describe("The shell of a process", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("stops at %s, and exits with 1 at the next signal", async (signal) => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    const stopped = openShell().untilStopped();
    process.emit(signal);
    await stopped;
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGINT");
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
  });

  test("stops on a terminal at SIGHUP, and ignores the next one", async () => {
    const before = process.listenerCount("SIGHUP");
    const stopped = openShell({ isTTY: true }).untilStopped();
    process.emit("SIGHUP");
    await stopped;
    // Without a listener, the signal would end the process.
    expect(process.listenerCount("SIGHUP")).toBe(before + 1);
    const listeners = process.listenerCount("SIGINT");
    process.emit("SIGHUP");
    expect(process.listenerCount("SIGINT")).toBe(listeners);
  });

  test("does not handle SIGHUP without a terminal, so that the signal ends the process", () => {
    const before = process.listenerCount("SIGHUP");
    void openShell().untilStopped();
    expect(process.listenerCount("SIGHUP")).toBe(before);
  });

  test.each([
    ["stdout", "pipe", "EPIPE"],
    ["stderr", "pipe", "EPIPE"],
    ["stderr", "terminal", "EIO"],
  ] as const)("stops when the reader of its %s closes the %s", async (stream, _reader, code) => {
    const { exitCode } = process;
    onTestFinished(() => {
      process.exitCode = exitCode;
    });
    const stopped = openShell().untilStopped();
    process[stream].emit("error", Object.assign(new Error(`write ${code}`), { code }));
    await stopped;
    expect(process.exitCode).toBe(exitCode);
  });

  test.each(["stdout", "stderr"] as const)(
    "stops and fails at any other error of its %s, and reports it once",
    async (stream) => {
      const { exitCode } = process;
      const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
      onTestFinished(() => {
        process.exitCode = exitCode;
        write.mockRestore();
      });
      const stopped = openShell().untilStopped();
      const before = process.listenerCount("SIGINT");
      const error = Object.assign(new Error("no space left"), { code: "ENOSPC" });
      for (let writes = 0; writes < 3; writes += 1) process[stream].emit("error", error);
      await stopped;
      expect(process.exitCode).toBe(1);
      expect(write).toHaveBeenCalledOnce();
      expect(process.listenerCount("SIGINT")).toBe(before);
    },
  );
});

/** Records all loaded modules and prints them at exit. */
const recorder = `
  import { registerHooks } from "node:module";
  const urls = new Set();
  registerHooks({ load(url, context, next) { urls.add(url); return next(url, context); } });
  process.on("exit", () => console.error("loaded: " + [...urls].join(" ")));
`;

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the modules that the command line loads for these arguments: our files by path, packages by name. */
async function loadedBy(argv: readonly string[], env: Record<string, string> = {}): Promise<Set<string>> {
  const hook = `data:text/javascript,${encodeURIComponent(recorder)}`;
  const { stderr } = await new CommandProcess(process.execPath, ["--import", hook, binPath, ...argv], env).ended;
  const [, urls = ""] = /^loaded: (.*)$/m.exec(stderr) ?? [];
  const paths = urls.split(" ").filter((url) => url.startsWith("file:"));
  return new Set(
    paths.map((url) => {
      const path = fileURLToPath(url);
      return /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.slice(root.length);
    }),
  );
}

describe("A command loads only the modules that it uses", () => {
  test.each(["--help", "deliveries tail --help", "delete id"])(
    "for %j: not the contract, the client, an inbox, the local Hub, or the prompts",
    async (words) => {
      const loaded = [...(await loadedBy(words.split(" ")))].filter((name) => !/^src\/(cli|core)\//.test(name));
      expect(loaded.sort()).toEqual([
        "commander",
        "get-east-asian-width",
        "src/payload/names.ts",
        "src/payload/watch.ts",
        "src/tunnel/provider.ts",
        "string-width",
      ]);
    },
  );

  test("a list command loads the client, but not the local Hub, the server, pino, or the prompts", async () => {
    const hub = await startStandInHub([wireWebhook()]);
    const loaded = [...(await loadedBy(["list"], { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" }))];
    expect(loaded).toContain("src/hub/client.ts");
    expect(loaded.filter((name) => /^src\/(local-hub|receiver|tunnel)\/|^pino$|^@clack/.test(name))).toEqual([
      "src/tunnel/provider.ts",
    ]);
  });

  test("a list of deliveries loads the inbox, but not the client, the server, other inboxes, or the prompts", async () => {
    const { env } = await filledInbox();
    const loaded = [...(await loadedBy(["deliveries", "list"], env))];
    expect(loaded).toContain("src/inbox/sqlite/sqlite-inbox.ts");
    const unwanted =
      /^src\/(hub|local-hub)\/|^src\/receiver\/(?!inbox\.ts$)|^(aws4fetch|bullmq|ioredis|pg|pino|@clack.*)$/;
    expect(loaded.filter((name) => unwanted.test(name))).toEqual([]);
  });
});
