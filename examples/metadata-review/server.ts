import { type Backoff, WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";
import { reviewCard } from "./card.ts";

/** A repository. */
export interface Repo {
  type: "model" | "dataset";
  name: string;
}

/** The calls to the Hub: `start.ts` implements them, tests and the dry run replace them. */
export interface HubActions {
  /** The README.md as it is on main now; empty where there is none. */
  readCard(repo: Repo, signal: AbortSignal): Promise<string>;
  /** What was posted last, if anything. */
  latestReport(repo: Repo, signal: AbortSignal): Promise<string | undefined>;
  postReport(repo: Repo, report: string, signal: AbortSignal): Promise<void>;
}

/** Options of the server, with the calls that it makes. */
export interface ReviewOptions extends WebhooksServerOptions {
  hub: HubActions;
  /** How long to wait before a review that failed is tried again. Default `{ first: "10s" }`. */
  backoff?: Backoff;
}

/** Creates a server that reviews the card on each push to main, and posts what it finds where that has changed. */
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
      // Not the card of the push: a delivery that comes late must not report on what is past.
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

/** Used by `hub-webhooks dev`: prints what it would do. */
export default createServer({
  hub: {
    readCard: async () => "---\nlicense: mit\n---\n# A card that says too little",
    latestReport: async () => undefined,
    postReport: async ({ name }, report) => console.log(`Dry run: this would be posted to ${name}:\n${report}`),
  },
});
