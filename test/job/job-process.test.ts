import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { CommandProcess } from "../cli/command-process.ts";

const script = fileURLToPath(new URL("./job-script.ts", import.meta.url));

/** Starts a file whose last line is `await runJob(server)`. */
function startJob(behaviour: "succeeds" | "fails" | "listens" | "goes on"): CommandProcess {
  const WEBHOOK_PAYLOAD = JSON.stringify(webhookPayload("repo.content"));
  return new CommandProcess(process.execPath, [script, behaviour], { WEBHOOK_PAYLOAD });
}

describe("A file that ends with `await runJob(server)`", () => {
  test("ends its process with 0 when the job is done, and with 1 when it has failed", async () => {
    const [done, failed] = await Promise.all([startJob("succeeds").ended, startJob("fails").ended]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no GPU is free") });
  });

  test("is asked to end by SIGTERM: the handler's signal is aborted, and what it throws is a failure", async () => {
    const job = startJob("listens");
    await job.says("waiting");
    job.signal("SIGTERM");
    expect(await job.ended).toMatchObject({ exitCode: 1, signal: null, stdout: expect.stringContaining("CLOSING") });
  });

  test("ends at once when it is asked twice, though the handler does not listen", async () => {
    const job = startJob("goes on");
    await job.says("waiting");
    job.signal("SIGINT");
    await job.says("CLOSING");
    job.signal("SIGINT");
    expect(await job.ended).toMatchObject({ exitCode: 1, signal: null });
  });
});
