import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join, sep } from "node:path";
import { transform } from "esbuild";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { createFolder } from "../support/temporary-folder.ts";
import { binPath, CommandProcess, startCommand } from "./command-process.ts";
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

  test("exits without an error when its output is closed", async () => {
    const hub = await startStandInHub(
      Array.from({ length: 5_000 }, () => wireWebhook({ url: `https://example.com/${"x".repeat(500)}` })),
    );
    const command = startCommand(["list"], { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local" });
    await command.says("lastTrigger");
    command.closeStdout();
    expect(await command.ended).toMatchObject({ exitCode: 0, signal: null, stderr: "" });
  });

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
