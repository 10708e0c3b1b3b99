// @module-tag slow

import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../../src/client.ts";
import { LocalHub } from "../../../src/local-hub.ts";
import { listen } from "../../support/listen.ts";
import { root } from "../../support/project-folder.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { runCommand } from "../run-command.ts";

let hub: LocalHub;
const neverStopped = new Promise<void>(() => {});

beforeAll(async () => {
  hub = await LocalHub.launch({ runSpaces: true });
  return () => hub.close();
});

async function createProject(): Promise<string> {
  const folder = createFolder();
  const files = {
    Dockerfile: 'FROM node:24-slim\nCMD ["node", "start.ts"]\n',
    "README.md": "---\nsdk: docker\n---\n",
    "server.ts": `import { WebhooksServer } from ${JSON.stringify(join(root, "dist/index.js"))};
const server = new WebhooksServer();
server.webhook("retrain", { watch: "dataset:me/data" }, () => "done");
export default server;
`,
    "start.ts": 'import server from "./server.ts";\nawait server.launch();\n',
  };
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content);
  return folder;
}

const deploy = (...words: readonly string[]) => runCommand(["deploy", ...words], { hub, stopped: neverStopped });

describe("hub-webhooks deploy", () => {
  test("goes from a folder to a proven Space, and shows its status and its logs", async () => {
    const folder = await createProject();
    await writeFile(join(folder, "model.bin"), new Uint8Array(2e6));
    const first = await deploy("me/bot", "--folder", folder, "--yes", "--save-env");
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining("uploaded"), stderr: "" });
    const secrets = (await readFile(join(folder, ".env"), "utf8")).match(/(?<==).+/gm) ?? [];
    expect(secrets).toHaveLength(2);

    const { url } = await hub.space("me/bot");
    const again = await deploy("--folder", folder, "--yes", "--format", "json");
    const events = again.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events).toContainEqual(expect.objectContaining({ step: "files", status: "unchanged", message: "5 files" }));
    expect(events.slice(-3)).toMatchObject([
      { step: "delivery", status: "done" },
      { step: "doctor", status: "done", message: expect.stringContaining("0 problems") },
      { step: "end", status: "done", url, consoleUrl: `${url}/_console/` },
    ]);
    const status = await deploy("status", "--folder", folder, "--format", "json");
    expect(JSON.parse(status.stdout)).toMatchObject({ space: "me/bot", url, stage: "RUNNING" });
    const logs = await deploy("logs", "--folder", folder);
    expect(logs.stdout).toContain("Application Startup");
    const build = await deploy("logs", "me/bot", "--build");
    expect(build.stdout).toContain("Starts: node start.ts");
    const everything = [first, again, status, logs, build].map(({ stdout, stderr }) => stdout + stderr).join("");
    for (const secret of secrets) expect(everything).not.toContain(secret);
  });

  test("ends a log to which the Space keeps adding lines", async () => {
    const busy = createServer((request, response) => {
      if (!request.url?.endsWith("/logs/run")) return response.end('{"private":false,"stage":"RUNNING"}');
      const lines = setInterval(() => response.write('data: {"data":"tick"}\n'), 5);
      return response.on("close", () => clearInterval(lines));
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { url } = await listen(busy);
    const { exitCode, stdout, stderr } = await runCommand(["deploy", "logs", "me/bot"], {
      ...{ hub: { url }, stopped: neverStopped },
      // A third of the time that counts as quiet.
      onOutput: () => void vi.advanceTimersByTime(300),
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining("--follow") });
    expect(stdout.match(/^tick$/gm)?.length).toBeGreaterThan(30);
  });

  test("shows the progress of an upload in one line of a terminal", async () => {
    const folder = await createProject();
    await writeFile(join(folder, "model.bin"), new Uint8Array(2e6));
    const words = ["deploy", "me/large", "--folder", folder, "--yes", "--no-save-env"];
    const { stdout, stderr } = await runCommand(words, { hub, stopped: neverStopped, hasPrompts: true });
    expect(stderr).toContain("\ruploaded 2.0 of 2.0 MB of large files\u001b[K\r\u001b[K");
    expect(stdout).not.toContain("uploaded");
  });

  test("shows a plan, and asks nothing for it", async () => {
    const folder = await createProject();
    const { exitCode, stdout } = await deploy("me/planned", "--folder", folder, "--dry-run");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("+ space     create the public Docker Space me/planned");
    expect(stdout).toContain("Nothing was changed.");
  });

  test.each([
    ["without the name of a Space", [], 1],
    ["without --yes and without a terminal", ["me/unasked"], 2],
    ["with an unknown place for the inbox", ["me/unasked", "--inbox", "cloud"], 2],
    ["with a misspelled command", ["statsu"], 2],
  ])("%s ends with a message and changes nothing", async (_what, words, exitCode) => {
    const folder = await createProject();
    const result = await deploy(...words, "--folder", folder);
    expect(result).toMatchObject({ exitCode, stdout: "", stderr: expect.stringMatching(/^error: .+\n/) });
    await expect(hub.space("me/unasked")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("says which Space does not exist, and why one does not run", async () => {
    expect(await deploy("status", "me/missing")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("me/missing"),
    });
    expect(await deploy("logs", "me/missing")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("me/missing"),
    });
    // The client does not wait between its attempts.
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    onTestFinished(() => random.mockRestore());
    const unreachable = { hub: { url: "http://127.0.0.1:1" }, stopped: neverStopped };
    expect(await runCommand(["deploy", "logs", "me/bot"], unreachable)).toMatchObject({ exitCode: 1, stdout: "" });
    const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
    const body = JSON.stringify({ name: "broken", organization: "me", type: "space", sdk: "docker" });
    await client.fetch("/api/repos/create", { method: "POST", body });
    const files = { Dockerfile: "FROM node" };
    await client.repo({ type: "space", name: "me/broken" }).commit({ message: "Break it", files });
    await hub.space("me/broken");
    expect(await deploy("logs", "me/broken")).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("--build"),
    });
    const status = await deploy("status", "me/broken", "--format", "quiet");
    expect(status).toMatchObject({ exitCode: 1, stdout: "BUILD_ERROR\n" });
  });
});
