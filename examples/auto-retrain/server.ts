import { WebhooksServer } from "hub-webhooks";

const main = "refs/heads/main";
const server = new WebhooksServer();

server.webhook(
  "auto_retrain",
  { scope: "repo.content", repo: "dataset:**", ref: main, paths: "data/**", background: true, concurrency: 1 },
  async ({ repo: { name }, updatedRefs }, { hub, log, signal }) => {
    const revision = updatedRefs.find(({ ref }) => ref === main)?.newSha;
    if (!revision) return log.info({ dataset: name }, "Skipped: the main branch was deleted.");
    const namespace = process.env.JOB_NAMESPACE;
    // The label finds the job of this commit, so a retry or a second webhook does not start another job.
    const labels = { revision };
    for await (const { id } of hub.jobs.list({ labels }, { namespace, signal })) {
      return log.info({ dataset: name, revision, job: id }, "Skipped: already started.");
    }
    const { id } = await hub.jobs.run(
      {
        image: "python:3.13",
        command: ["python3", "-c", "import os; print('training on', os.environ['DATASET'], os.environ['REVISION'])"],
        environment: { DATASET: name, REVISION: revision },
        labels,
        timeout: "1h",
        namespace,
      },
      { signal },
    );
    log.info({ dataset: name, revision, job: id }, "Training job started.");
  },
);

export default server;
