import { type Backoff, WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A training on one commit of a dataset. */
export interface Training {
  dataset: string;
  revision: string;
}

/** The calls to the Hub: `start.ts` implements them, tests and the dry run replace them. */
export interface HubActions {
  /** Starts a training job and returns its id, without waiting until it finishes. */
  startJob(training: Training, signal: AbortSignal): Promise<string>;
}

/** Options of the server, with the calls that it makes. */
export interface RetrainOptions extends WebhooksServerOptions {
  hub: HubActions;
  /** The wait before the first retry of a job that could not be started. Default `{ first: "10s" }`. */
  backoff?: Backoff;
}

const main = "refs/heads/main";

/** Creates a server that starts one training job for each new state of a dataset's main branch. */
export function createServer({ hub, backoff = { first: "10s" }, ...options }: RetrainOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  // The inbox drops repeated deliveries. A second webhook for the same push has another delivery id.
  const latest = new Map<string, string>();

  server.webhook(
    "auto_retrain",
    {
      scope: "repo.content",
      repo: "dataset:**",
      ref: main,
      background: true,
      // One job at a time.
      concurrency: 1,
      backoff,
    },
    async ({ repo, updatedRefs }, { log, signal }) => {
      const dataset = repo.name;
      const revision = updatedRefs.find(({ ref }) => ref === main)?.newSha;
      if (!revision) return log.info({ dataset }, "The main branch was deleted: no training.");
      if (latest.get(dataset) === revision)
        return log.info({ dataset, revision }, "A job was already started for this commit.");
      const job = await hub.startJob({ dataset, revision }, signal);
      latest.set(dataset, revision);
      log.info({ dataset, revision, job }, "A training job was started.");
    },
  );
  return server;
}

/** For `hub-webhooks dev`: a dry run that prints the calls. */
export default createServer({
  hub: {
    async startJob({ dataset, revision }) {
      console.log(`Dry run: a training on ${dataset} at ${revision} would start now.`);
      return "dry-run";
    },
  },
});
