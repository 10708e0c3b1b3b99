import { WebhooksServer, type WebhooksServerOptions } from "hub-webhooks";

/** A repository. */
export interface Repo {
  type: string;
  name: string;
}

/** Opens a discussion on a repository. */
export type OpenDiscussion = (
  repo: Repo,
  discussion: { title: string; text: string },
  signal: AbortSignal,
) => Promise<void>;

function checklistFor({ type }: Repo): string {
  const items = [
    "The card describes the content, its author and its license.",
    "No file and no earlier commit contains a token, a password or an internal address.",
    type === "dataset" ? "The data contains no personal data." : "The licenses of the sources allow publication.",
    "Earlier discussions and pull requests may be public.",
  ];
  return ["This repository was private until now. Please check:", "", ...items.map((item) => `- [ ] ${item}`)].join(
    "\n",
  );
}

/** Creates a server that opens a discussion with a checklist when a private repository becomes public. */
export function createServer(openDiscussion: OpenDiscussion, options?: WebhooksServerOptions): WebhooksServer {
  const server = new WebhooksServer(options);
  server.webhook(
    "private_to_public",
    { scope: "repo.config", repo: ["model:**", "dataset:**", "space:**"], background: true },
    async ({ repo: { type, name }, updatedConfig }, { log, signal }) => {
      // The Hub omits `private` for other settings, so compare with false.
      if (updatedConfig.private !== false) return log.info({ type, name }, "Skipped: not made public.");
      const discussion = { title: "This repository is public now", text: checklistFor({ type, name }) };
      await openDiscussion({ type, name }, discussion, signal);
      log.info({ type, name }, "Checklist posted.");
    },
  );
  return server;
}

/** `hub-webhooks dev` runs this server, which prints what it would do. */
export default createServer(async ({ type, name }, { title, text }) => {
  console.log(`Dry run: would open "${title}" on ${type} ${name}:\n${text}`);
});
