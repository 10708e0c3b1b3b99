// @module-tag slow

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { webhookPayload } from "../../src/testing.ts";
import { CommandProcess } from "../cli/command-process.ts";
import { openLocalHub, secret, waitForJobs } from "../local-hub/support/hub.ts";
import { makeProject } from "../support/project-folder.ts";

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

const source = `
import { writeFile } from "node:fs/promises";
import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();
server.webhook("retrain", { scope: "repo.content", repo: "dataset:me/*", background: true }, async (payload, { delivery }) => {
  await writeFile(new URL("./seen.json", import.meta.url), JSON.stringify({ repo: payload.repo.name, id: delivery.id }));
});
export default server;
await server.launch();
`;

test("A local Hub runs the handler on a push if the job of a webhook is `hub-webhooks job server.ts`", async () => {
  await using project = await makeProject({ "server.ts": source });
  const hub = await openLocalHub({ runJobs: true });
  const bin = join(project.path, "node_modules/hub-webhooks/dist/cli/bin.js");
  const { NODE_COMPILE_CACHE = "" } = process.env;
  await hub.create({
    secret,
    job: {
      flavor: "cpu-basic",
      command: [process.execPath, bin, "job", join(project.path, "server.ts"), "--endpoint", "retrain"],
      environment: { NODE_COMPILE_CACHE },
    },
  });
  const [delivery] = await hub.trigger();
  const [job] = await waitForJobs(hub);
  expect(job?.status, hub.log.text()).toEqual({ stage: "COMPLETED", message: null, failureCount: 0 });
  const seen: unknown = JSON.parse(await readFile(join(project.path, "seen.json"), "utf8"));
  expect(seen).toEqual({ repo: "me/data", id: delivery?.deliveryId });
});
