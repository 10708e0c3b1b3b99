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
  /** How long to wait before a discussion that could not be opened is tried again. Default `{ first: "10s" }`. */
  backoff?: Backoff;
}

const title = "This repository is public now";

function checklist({ type }: Repo): string {
  const items = [
    "The card says what this is, who made it and how it may be used (`license`).",
    "No token, password or internal address is in a file, nor in an earlier commit: the history is public as well.",
    type === "dataset" ? "Nobody's personal data is in it." : "What it was made from may be passed on.",
    "Discussions and pull requests of before may be read by everybody.",
  ];
  return ["It was private until now. Please look through this list:", "", ...items.map((item) => `- [ ] ${item}`)].join(
    "\n",
  );
}

/** Creates a server that opens a discussion with a checklist wherever something private was made public. */
export function createServer({ hub, backoff = { first: "10s" }, ...options }: ChecklistOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  server.webhook(
    "private_to_public",
    { scope: "repo.config", repo: ["model:**", "dataset:**", "space:**"], background: true, backoff },
    async ({ repo: { type, name }, updatedConfig }, { log, signal }) => {
      // Absent where the Hub does not report what changed: not the same as false.
      if (updatedConfig.private !== false) return log.info({ type, name }, "Nothing to do: it was not made public.");
      await hub.openDiscussion({ type, name }, { title, text: checklist({ type, name }) }, signal);
      log.info({ type, name }, "The checklist was posted.");
    },
  );
  return server;
}

/** Used by `hub-webhooks dev`: prints what it would do. */
export default createServer({
  hub: {
    async openDiscussion({ type, name }, discussion) {
      console.log(`Dry run: "${discussion.title}" would be opened on ${type} ${name}:\n${discussion.text}`);
    },
  },
});
