import { type Logger, WebhooksServer } from "hub-webhooks";

/** Starts a training on a dataset as it is at `revision`. */
export type StartTraining = (training: { dataset: string; revision: string }, log: Logger) => unknown;

/** Creates a server that starts a training whenever the main branch of a dataset has changed. */
export function createTrainingServer(startTraining: StartTraining): WebhooksServer {
  const server = new WebhooksServer();
  server.webhook(
    "trigger_training",
    { scope: "repo.content", action: "update", repo: "dataset:**", ref: "refs/heads/main" },
    async ({ repo, updatedRefs }, { log }) => {
      const revision = updatedRefs.find(({ ref }) => ref === "refs/heads/main")?.newSha;
      if (!revision) return { started: false, reason: "the main branch was deleted" };
      await startTraining({ dataset: repo.name, revision }, log);
      return { started: true, dataset: repo.name, revision };
    },
  );
  return server;
}

/** Used by `hub-webhooks dev`: prints what it would do. */
export default createTrainingServer(({ dataset, revision }) => {
  console.log(`Dry run: a training on ${dataset} at ${revision} would start now.`);
});
