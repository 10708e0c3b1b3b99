// @module-tag slow

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/hub/client.ts";
import { LocalHub } from "../../../src/local-hub/local-hub.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { freePort } from "../../support/free-port.ts";
import { listen } from "../../support/listen.ts";
import { isRunning } from "../../support/program.ts";
import { makeProject, type Project } from "../../support/project-folder.ts";
import { binPath, CommandProcess, canMakeTerminal, startOnTerminal } from "../command-process.ts";
import { runCommand, runWithPrompts } from "../run-command.ts";

const server = `
  import { WebhooksServer } from "hub-webhooks";
  const server = new WebhooksServer();
  server.webhook("retrain", { watch: "dataset:me/data", scope: "repo.content" }, ({ repo }) => {
    console.log("training on " + repo.name);
    return { trained: repo.name };
  });
  export default server;
  await server.launch();
`;

/** A server that can poll the Hub. */
const polled = server.replace('scope: "repo.content"', 'scope: "repo.content", background: true');

const never = new Promise<void>(() => {});

async function makeServerProject(files: Record<string, string> = { "server.ts": server }): Promise<Project> {
  const project = await makeProject(files);
  onTestFinished(() => project[Symbol.asyncDispose]());
  return project;
}

/** Starts `hub-webhooks dev` for a project in a separate process on free ports. */
function startDevCommand(project: Project, words: readonly string[], env: Record<string, string> = {}): CommandProcess {
  const argv = [binPath, "dev", "--port", "0", ...words];
  return new CommandProcess(process.execPath, argv, env, { cwd: project.path });
}

/** Returns the events of a session so far. */
function eventsOf({ stdout }: CommandProcess): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe("hub-webhooks dev", () => {
  test("prints events as JSON, and deletes its webhooks when it stops", async () => {
    await using hub = await LocalHub.launch();
    const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const project = await makeServerProject();
    // The public URL contains the port, so the port must be known in advance.
    const port = await freePort();
    const words = ["--hub", "real", "--public-url", `http://127.0.0.1:${port}`, "--port", String(port)];
    const command = startDevCommand(project, [...words, "--format", "json"], {
      HF_ENDPOINT: hub.url,
      HF_TOKEN: "hf_local",
    });
    await command.says('"event":"ready"');
    expect(eventsOf(command)).toEqual([
      {
        event: "ready",
        url: `http://127.0.0.1:${port}`,
        publicUrl: `http://127.0.0.1:${port}`,
        hub: { kind: "real", url: hub.url },
        consoleUrl: `http://127.0.0.1:${port}/_console/`,
        endpoints: [{ name: "retrain", url: `http://127.0.0.1:${port}/webhooks/retrain`, watch: ["dataset:me/data"] }],
      },
    ]);
    const [delivered] = await hub.push({ type: "dataset", name: "me/data" });
    expect(delivered).toMatchObject({ status: 200 });
    await command.says('"event":"delivery"');
    expect(eventsOf(command).at(-1)).toMatchObject({
      event: "delivery",
      endpoint: "retrain",
      status: 200,
      deliveryId: delivered?.deliveryId,
    });
    expect(await client.webhooks.list()).toHaveLength(1);
    command.signal("SIGTERM");
    const { exitCode, stderr } = await command.ended;
    expect({ exitCode, stderr: stderr.split("\n")[0] }).toEqual({ exitCode: 0, stderr: "training on me/data" });
    expect(await client.webhooks.list()).toEqual([]);
  });

  test("needs no account: its local Hub delivers to the file, and trigger finds the Hub", async () => {
    const project = await makeServerProject();
    const command = startDevCommand(project, ["--hub-port", "0"]);
    await command.says("Press Ctrl+C to stop.");
    expect(command.stdout).toMatch(/^Ready in \d+\.\d s: .*server\.ts$/m);
    const [, words = ""] = /npx hub-webhooks (trigger .*)$/m.exec(command.stdout) ?? [];
    const { exitCode, stdout } = await runCommand(words.split(" "), { stopped: never });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('{"trained":"me/data"}') });
    await command.says(/^\d\d:\d\d:\d\d ✓ 200 {2}retrain {2}dataset:me\/data {2}repo\.content update {2}[\d.]+ ms$/m);
    expect(command.stdout).toContain("training on me/data\n");
    command.signal("SIGINT");
    expect(await command.ended).toMatchObject({
      exitCode: 0,
      stderr: "Stopping: deleting the webhooks of this session. Press Ctrl+C again to exit immediately.\n",
    });
  });

  test.each([0, 250, 500])("exits at a SIGTERM %d ms after it was started", async (ms) => {
    const project = await makeServerProject();
    const command = startDevCommand(project, ["--hub-port", "0"]);
    // The delay is arbitrary: the signal may arrive at any point of the startup.
    await new Promise((resolve) => setTimeout(resolve, ms));
    command.signal("SIGTERM");
    const { exitCode, signal } = await command.ended;
    // Until the signal handler is installed, the signal ends the process.
    expect(signal ?? exitCode).toBeOneOf([0, "SIGTERM"]);
  });

  describe("on a terminal", () => {
    function openTerminal() {
      const modes: boolean[] = [];
      const input = Object.assign(new PassThrough(), {
        isTTY: true,
        setRawMode: (isRaw: boolean) => modes.push(isRaw),
      });
      return { input, modes };
    }

    const wordsIn = (project: Project, port: number) => [
      ...["dev", join(project.path, "server.ts"), "--port", String(port), "--hub-port", "0"],
      ...["--state", join(project.path, "state", "dev.json")],
    ];

    test("restores the terminal's mode before it exits, so that Ctrl+C sends a signal again", async () => {
      const project = await makeServerProject();
      const { input, modes } = openTerminal();
      const modesAtEnd: boolean[][] = [];
      // Stop the session while it starts.
      const { exitCode } = await runCommand(wordsIn(project, 0), {
        ...{ input, isTerminal: true },
        onNotice: (text) => void (text.startsWith("Stopping") && modesAtEnd.push([...modes])),
      });
      expect({ exitCode, modesAtEnd }).toEqual({ exitCode: 0, modesAtEnd: [[true, false]] });
    });

    test("closes its session before it exits after the key q", async () => {
      const project = await makeServerProject();
      const { input } = openTerminal();
      const stop = Promise.withResolvers<void>();
      const port = await freePort();
      const { exitCode } = await runCommand(wordsIn(project, port), {
        ...{ input, isTerminal: true, stopped: stop.promise, onStop: stop.resolve },
        onOutput: (text) => void (text.includes("Ready") && input.write("q")),
      });
      expect(exitCode).toBe(0);
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    });

    test("polls if the tunnel cannot be opened and the user agrees", async () => {
      await using hub = await LocalHub.launch();
      const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
      const body = JSON.stringify({ name: "data", type: "dataset" });
      await fetch(`${hub.url}/api/repos/create`, { method: "POST", headers, body });
      const project = await makeServerProject({ "server.ts": polled.replace("me/data", "local-user/data") });
      const words = ["dev", join(project.path, "server.ts"), "--port", "0", "--inbox", "sqlite::memory:"];
      const stop = Promise.withResolvers<void>();
      const result = await runWithPrompts(
        [...words, "--hub", "real", "--tunnel-host", "http://127.0.0.1:1"],
        [["(--poll 1m)?", "y"]],
        { hub, stopped: stop.promise, onOutput: (text) => void (text.includes("Ready") && stop.resolve()) },
      );
      expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Ready") });
    });

    test("restores the terminal's mode after a failed start", async () => {
      const project = await makeServerProject();
      const { input, modes } = openTerminal();
      const { port } = await listen(createServer());
      const { exitCode } = await runCommand(wordsIn(project, port), { input, isTerminal: true, stopped: never });
      expect([exitCode, modes]).toEqual([1, [true, false]]);
    });
  });

  test.each<[string, string, readonly string[], Record<string, string>, RegExp]>([
    [
      "the tunnel cannot be opened",
      server,
      ["--hub", "real", "--tunnel-host", "http://127.0.0.1:1"],
      { HF_TOKEN: "hf_local" },
      /^error: http:\/\/127\.0\.0\.1:1 is not reachable(?!.*--poll)/,
    ],
    [
      "the tunnel cannot be opened, with --poll if the server can poll",
      polled,
      ["--hub", "real", "--tunnel-host", "http://127.0.0.1:1", "--inbox", "sqlite::memory:"],
      { HF_TOKEN: "hf_local" },
      /^error: http:\/\/127\.0\.0\.1:1 is not reachable.* add --poll 1m\.\n$/,
    ],
    // Neither a tunnel nor a server is opened.
    ["the token is missing", server, ["--hub", "real"], {}, /^error: No access token/],
    [
      "the file does not load and there is no terminal",
      "export const x = 1;",
      ["--hub-port", "0"],
      {},
      /^error: .*server\.ts failed to load\. The file exports no server\. Add "export default server;"\.\n$/,
    ],
    ["the file does not load and exists", "throw new Error('mine');", ["--create", "--hub-port", "0"], {}, /mine/],
  ])("exits with the reason if %s, and changes nothing", async (_what, source, words, env, stderr) => {
    await using hub = await LocalHub.launch();
    const project = await makeServerProject({ "server.ts": source });
    const file = join(project.path, "server.ts");
    const argv = ["dev", file, "--port", "0", "--state", join(project.path, "dev.json"), ...words];
    // With this home folder, the session finds no token file of the developer.
    const variables = { HOME: "/dev/null", HF_ENDPOINT: hub.url, ...env };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const result = await runCommand(argv, { stopped: never });
    // A server that can poll logs its inbox.
    const stdout = source === polled ? expect.not.stringContaining("Ready") : "";
    expect(result).toEqual({ exitCode: 1, stdout, stderr: expect.stringMatching(stderr) });
    expect(await new HubClient({ hubUrl: hub.url, token: "hf_local" }).webhooks.list()).toEqual([]);
    expect(await readFile(file, "utf8")).toBe(source);
  });

  test("exits at the second signal, also if the server is blocked", async () => {
    const busy = `
      import { WebhooksServer } from "hub-webhooks";
      const server = new WebhooksServer({ secret: false });
      server.webhook("busy", () => {
        process._rawDebug("busy in " + process.pid);
        for (;;);
      });
      export default server;`;
    const project = await makeServerProject({ "server.ts": busy });
    const command = startDevCommand(project, ["--hub-port", "0", "--format", "json"]);
    await command.says('"event":"ready"');
    const payload = webhookPayload("repo");
    void fetch(deliveryRequest({ endpoint: "busy", payload, baseUrl: String(eventsOf(command)[0]?.url) })).catch(
      () => {},
    );
    await command.says(/busy in \d+/);
    const pid = Number(/busy in (\d+)/.exec(command.stderr)?.[1]);
    expect(isRunning(pid)).toBe(true);
    // Two identical signals in quick succession can arrive as one, so send different ones.
    command.signal("SIGINT");
    command.signal("SIGTERM");
    expect(await command.ended).toMatchObject({ exitCode: 1 });
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test("exits when its output is closed", async () => {
    const project = await makeServerProject();
    const command = startDevCommand(project, ["--hub-port", "0", "--format", "json"]);
    await command.says('"event":"ready"');
    const ready = eventsOf(command)[0];
    command.closeStdout();
    await fetch(`${String(ready?.url)}/webhooks/retrain`, { method: "POST", body: "{}" });
    expect(await command.ended).toMatchObject({ exitCode: 0 });
  });

  test("creates a starter server that handles a test event", async () => {
    const project = await makeServerProject({});
    const file = join(project.path, "server.ts");
    const argv = ["dev", file, "--port", "0", "--state", join(project.path, "dev.json"), "--create", "--hub-port", "0"];
    const stop = Promise.withResolvers<void>();
    let output = "";
    const ended = runCommand(argv, { stopped: stop.promise, onOutput: (text) => (output = text) });
    await expect.poll(() => output).toContain("Press Ctrl+C to stop.");
    expect(await readFile(file, "utf8")).toContain("new WebhooksServer()");
    const [, words = ""] = /npx hub-webhooks (trigger .*)$/m.exec(output) ?? [];
    expect(await runCommand(words.split(" "), { stopped: never })).toMatchObject({ exitCode: 0 });
    await expect.poll(() => output).toContain("✓ 200  on_change");
    stop.resolve();
    expect((await ended).exitCode).toBe(0);
  });

  test("prints only the public URL with --format quiet", async () => {
    const project = await makeServerProject();
    const words = `dev ${join(project.path, "server.ts")} --port 0 --hub-port 0 --format quiet`;
    const stop = Promise.withResolvers<void>();
    const result = await runCommand(words, { stopped: stop.promise, onOutput: () => stop.resolve() });
    const stdout = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(result).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("treats an invalid PORT as wrong usage", async () => {
    const { exitCode, stderr } = await runCommand(["dev"], { env: { PORT: "http" } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('Invalid PORT "http"') });
  });

  test("explains what to do if there is no server file", async () => {
    const { exitCode, stderr } = await runCommand(["dev", "nowhere/bot.ts"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('File "nowhere/bot.ts" does not exist'),
    });
  });

  test.runIf(canMakeTerminal)("does not offer to create a file in place of a folder", async () => {
    const project = await makeServerProject();
    const command = startOnTerminal(`dev ${project.path}`, { url: "http://127.0.0.1:1" });
    const { exitCode, stdout } = await command.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringMatching(/^error: .* is not a file/) });
  });

  test("creates nothing on a runtime that cannot load the file", async () => {
    const { versions } = process;
    onTestFinished(() => void Object.defineProperty(process, "versions", { value: versions }));
    Object.defineProperty(process, "versions", { value: { ...versions, bun: "1.3.0" } });
    const project = await makeServerProject({});
    const path = join(project.path, "server.ts");
    const { exitCode, stderr } = await runCommand(["dev", path, "--create"], { stopped: never });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("Bun 1.3.0") });
    expect(existsSync(path)).toBe(false);
  });
});
