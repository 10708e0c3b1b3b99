import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

// POST /webhooks/on_new_data. The options choose the deliveries, and the type of the payload follows from them.
server.webhook(
  "on_new_data",
  { scope: "repo.content", repo: "dataset:**", ref: "refs/heads/main" },
  async ({ repo, updatedRefs }, { log }) => {
    const revision = updatedRefs.find(({ ref }) => ref === "refs/heads/main")?.newSha;
    log.info({ repo: repo.name, revision }, "Start your work here.");
    return { seen: repo.name, revision };
  },
);

export default server;
