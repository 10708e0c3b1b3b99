import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

server.webhook(
  "private_to_public",
  { scope: "repo.config", repo: ["model:**", "dataset:**", "space:**"], background: true },
  async ({ repo, updatedConfig }, { hub, log, signal }) => {
    // The Hub omits `private` for other settings, so compare with false.
    if (updatedConfig.private !== false) return log.info({ repo: repo.name }, "Skipped: not made public.");
    const { num } = await hub.repo(repo).openDiscussion({
      title: "This repository is public now",
      text: checklistFor(repo.type),
      marker: "made-public",
      signal,
    });
    log.info({ repo: repo.name, discussion: num }, "Checklist posted.");
  },
);

function checklistFor(type: string): string {
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

export default server;
