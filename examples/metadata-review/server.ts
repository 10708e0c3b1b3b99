import { type Backoff, WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";
import { reviewCard } from "./card.ts";

/** A repository. */
export interface Repo {
  type: "model" | "dataset";
  name: string;
}

/** The calls to the Hub: `start.ts` implements them, tests and the dry run replace them. */
export interface HubActions {
  /** Reads the current README.md of the main branch; empty if there is none. */
  readCard(repo: Repo, signal: AbortSignal): Promise<string>;
  /** Reads the report that was posted last; `undefined` if there is none. */
  latestReport(repo: Repo, signal: AbortSignal): Promise<string | undefined>;
  postReport(repo: Repo, report: string, signal: AbortSignal): Promise<void>;
}

/** Options of the server, with the calls that it makes. */
export interface ReviewOptions extends WebhooksServerOptions {
  hub: HubActions;
  /** The wait before the first retry of a failed review. Default `{ first: "10s" }`. */
  backoff?: Backoff;
}

/** Creates a server that reviews the card on each push to main, and posts the report if it has changed. */
export function createServer({ hub, backoff = { first: "10s" }, ...options }: ReviewOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  server.webhook(
    "metadata_review",
    {
      scope: "repo.content",
      repo: ["model:**", "dataset:**"],
      ref: "refs/heads/main",
      background: true,
      // One at a time: two reviews of one repository would both find that nothing was posted yet.
      concurrency: 1,
      backoff,
    },
    async ({ repo: { type, name } }, { log, signal }) => {
      const repo: Repo = { type: type === "model" ? "model" : "dataset", name };
      // The current card rather than that of the push: a late delivery must not report an outdated state.
      const { report, isComplete } = reviewCard(repo.type, await hub.readCard(repo, signal));
      const before = await hub.latestReport(repo, signal);
      if (report === before) return log.info({ repo: name }, "Nothing to post: the latest report says it already.");
      if (isComplete && before === undefined) return log.info({ repo: name }, "Nothing to post: the card is complete.");
      await hub.postReport(repo, report, signal);
      log.info({ repo: name, isComplete }, "A report was posted.");
    },
  );
  return server;
}

/** For `hub-webhooks dev`: a dry run that prints the calls. */
export default createServer({
  hub: {
    readCard: async () => "---\nlicense: mit\n---\n# A card with little metadata",
    latestReport: async () => undefined,
    postReport: async ({ name }, report) => console.log(`Dry run: would post to ${name}:\n${report}`),
  },
});
