import { type Backoff, WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A repository. */
export interface Repo {
  type: string;
  name: string;
}

/** The calls to the Hub: `start.ts` implements them, tests and the dry run replace them. */
export interface HubActions {
  openDiscussion(repo: Repo, discussion: { title: string; text: string }, signal: AbortSignal): Promise<void>;
}

/** Options of the server, with the calls that it makes. */
export interface ChecklistOptions extends WebhooksServerOptions {
  hub: HubActions;
  /** The wait before the first retry of a discussion that could not be opened. Default `{ first: "10s" }`. */
  backoff?: Backoff;
}

const title = "This repository is now public";

function checklist({ type }: Repo): string {
  const items = [
    "The card describes the content, its authors and its `license`.",
    "No file contains a token, a password or an internal address. Check earlier commits too: the history is public.",
    type === "dataset" ? "It contains no personal data." : "The licenses of its sources permit publication.",
    "Existing discussions and pull requests can be read by everyone.",
  ];
  return [
    "It was private until now. Please go through this checklist:",
    "",
    ...items.map((item) => `- [ ] ${item}`),
  ].join("\n");
}

/** Creates a server that opens a discussion with a checklist when a private repository becomes public. */
export function createServer({ hub, backoff = { first: "10s" }, ...options }: ChecklistOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  server.webhook(
    "private_to_public",
    { scope: "repo.config", repo: ["model:**", "dataset:**", "space:**"], background: true, backoff },
    async ({ repo: { type, name }, updatedConfig }, { log, signal }) => {
      // It is absent if the Hub does not report the change, which is not the same as false.
      if (updatedConfig.private !== false) return log.info({ type, name }, "Nothing to do: it was not made public.");
      await hub.openDiscussion({ type, name }, { title, text: checklist({ type, name }) }, signal);
      log.info({ type, name }, "The checklist was posted.");
    },
  );
  return server;
}

/** For `hub-webhooks dev`: a dry run that prints the calls. */
export default createServer({
  hub: {
    async openDiscussion({ type, name }, discussion) {
      console.log(`Dry run: "${discussion.title}" would be opened on ${type} ${name}:\n${discussion.text}`);
    },
  },
});
