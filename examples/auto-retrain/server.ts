import { WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A dataset at a commit. */
export interface Training {
  dataset: string;
  revision: string;
}

/** Starts a training job and returns its id, without waiting until the job finishes. */
export type StartJob = (training: Training, signal: AbortSignal) => Promise<string>;

const main = "refs/heads/main";

/** Creates a server that starts a training job for each new commit on the main branch of a dataset. */
export function createServer(startJob: StartJob, options?: WebhooksServerOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  // The inbox drops repeated deliveries. This drops a commit that a second webhook delivers as well.
  const latest = new Map<string, string>();

  server.webhook(
    "auto_retrain",
    { scope: "repo.content", repo: "dataset:**", ref: main, background: true, concurrency: 1 },
    async ({ repo, updatedRefs }, { log, signal }) => {
      const dataset = repo.name;
      const revision = updatedRefs.find(({ ref }) => ref === main)?.newSha;
      if (!revision) return log.info({ dataset }, "Skipped: the main branch was deleted.");
      if (latest.get(dataset) === revision) return log.info({ dataset, revision }, "Skipped: already started.");
      const job = await startJob({ dataset, revision }, signal);
      latest.set(dataset, revision);
      log.info({ dataset, revision, job }, "Training job started.");
    },
  );
  return server;
}

/** `hub-webhooks dev` runs this server, which prints what it would do. */
export default createServer(async ({ dataset, revision }) => {
  console.log(`Dry run: would train on ${dataset} at ${revision}.`);
  return "dry-run";
});
