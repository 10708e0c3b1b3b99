// @module-tag slow

import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { webhookPayload } from "../../../src/testing.ts";
import { makeProject } from "../../support/project-folder.ts";
import { binPath, CommandProcess } from "../command-process.ts";
import { runCommand } from "../run-command.ts";

const head = 'import { WebhooksServer } from "hub-webhooks";\nconst server = new WebhooksServer();\n';
const foot = "export default server;\nawait server.launch();\n";

const environment = { WEBHOOK_PAYLOAD: JSON.stringify(webhookPayload("repo.content")), WEBHOOK_ID: "6a1b" };

/** Starts `hub-webhooks job server.ts` for this file, with the payload of a push to `acme/data`. */
async function startJob(body: string, argv: readonly string[] = []): Promise<CommandProcess> {
  const project = await makeProject({ "server.ts": `${head}${body}\n${foot}` });
  onTestFinished(() => project.remove(""));
  return new CommandProcess(process.execPath, [binPath, "job", "server.ts", ...argv], environment, {
    cwd: project.path,
  });
}

const two = `
server.webhook("review", { scope: "discussion" }, () => {});
server.webhook("retrain", () => { throw new Error("no GPU is free"); });`;

describe("hub-webhooks job", () => {
  test("runs the endpoint of a file, and exits with 0 even if a timer is left", async () => {
    const body = `
setInterval(() => {}, 1000);
enum Lowered { yes }
server.webhook("retrain", (payload, { delivery }) => console.log(Lowered.yes, payload.repo.name, delivery.id));`;
    const { exitCode, stdout, stderr } = await (await startJob(body)).ended;
    expect(stdout).toContain("0 acme/data 6a1b\n");
    expect(stdout).toContain('"msg":"delivery succeeded"');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "The job is done.\n" });
  });

  test.each([
    [
      "0, and a note, if the filter ignores the delivery",
      ["--endpoint", "review"],
      0,
      /^The handler did not run: .*\n$/,
    ],
    ["1 if the handler fails", ["--endpoint", "retrain"], 1, /^error: The handler of endpoint "retrain" failed\.\n$/],
    ["2 if the endpoint is missing", [], 2, /^error: The server has several endpoints: review, retrain\. .*\n$/],
  ])("exits with %s", async (_what, argv, exitCode, message) => {
    const project = await makeProject({ "server.ts": `${head}${two}\n${foot}` });
    onTestFinished(() => project.remove(""));
    vi.stubEnv("LOG_LEVEL", "silent");
    // The timer that exits the process never ends.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const words = ["job", join(project.path, "server.ts"), ...argv];
    const result = await runCommand(words, { env: environment, stopped: new Promise(() => {}) });
    expect(result).toEqual({ exitCode, stdout: "", stderr: expect.stringMatching(message) });
  });

  test("exits with 1 if the file does not load, and shows the position", async () => {
    const { exitCode, stderr } = await (await startJob('throw new Error("no luck");')).ended;
    expect(stderr).toContain("error: server.ts failed to load. Error: no luck (server.ts:3:7)\n");
    expect(exitCode).toBe(1);
  });

  test.each([
    ["ends itself", 'server.webhook("retrain", () => process.exit(0));'],
    ["waits for what never comes", "await new Promise(() => {});"],
  ])("ends with 1 when the process %s before the job is done", async (_what, body) => {
    const { exitCode, stderr } = await (await startJob(body)).ended;
    expect(stderr).toMatch(/^error: The process exited before the job was done\. .*\n$/);
    expect(exitCode).toBe(1);
  });

  test("aborts the signal of the handler when it is stopped, and exits with 1", async () => {
    const job = await startJob(`
server.webhook("retrain", (_payload, { signal }) => new Promise((_resolve, reject) => {
  signal.addEventListener("abort", () => reject(signal.reason));
  console.log("waiting");
}));`);
    await job.says("waiting");
    job.signal("SIGTERM");
    const { exitCode, signal, stdout } = await job.ended;
    expect({ exitCode, signal }).toEqual({ exitCode: 1, signal: null });
    expect(stdout).toContain("The job was stopped");
  });

  test("exits with 1 if it is stopped while the file loads", async () => {
    const job = await startJob('console.log("loading");\nawait new Promise((resolve) => setTimeout(resolve, 60_000));');
    await job.says("loading");
    job.signal("SIGTERM");
    const { exitCode, signal, stderr } = await job.ended;
    expect(stderr).toMatch(/^error: The job was stopped\. .*\n$/);
    expect({ exitCode, signal }).toEqual({ exitCode: 1, signal: null });
  });

  test("refuses options for the Hub, which the server would not use", async () => {
    const { exitCode, stderr } = await runCommand("job server.ts --token hf_other");
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("Set HF_TOKEN") });
  });

  test("requires a file", async () => {
    expect(await runCommand("job")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("'file'") });
  });
});
