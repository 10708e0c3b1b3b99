import { type Logger, WebhooksServer } from "hub-webhooks";

/** Starts a training on one revision of a dataset. */
export type StartTraining = (training: { dataset: string; revision: string }, log: Logger) => unknown;

/** Creates a server that starts a training when the main branch of a dataset changes. */
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

/** For `hub-webhooks dev`: a dry run that prints the calls. */
export default createTrainingServer(({ dataset, revision }) => {
  console.log(`Dry run: a training on ${dataset} at ${revision} would start now.`);
});
