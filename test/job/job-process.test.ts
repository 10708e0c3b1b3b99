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
  test("exits with 0 when the job is done, and with 1 when it has failed", async () => {
    const [done, failed] = await Promise.all([startJob("succeeds").ended, startJob("fails").ended]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no GPU is free") });
  });

  test("aborts the handler's signal on SIGTERM, and fails with what the handler throws", async () => {
    const job = startJob("listens");
    await job.says("waiting");
    job.signal("SIGTERM");
    expect(await job.ended).toMatchObject({ exitCode: 1, signal: null, stdout: expect.stringContaining("CLOSING") });
  });

  test("exits on the second signal, even when the handler ignores the first", async () => {
    const job = startJob("goes on");
    await job.says("waiting");
    job.signal("SIGINT");
    await job.says("CLOSING");
    job.signal("SIGINT");
    expect(await job.ended).toMatchObject({ exitCode: 1, signal: null });
  });
});
