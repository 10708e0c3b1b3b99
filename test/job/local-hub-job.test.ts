import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLocalHub, secret, waitForJobs } from "../local-hub/support/hub.ts";
import { makeProject } from "../support/project-folder.ts";

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
