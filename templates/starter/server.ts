import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

// POST /webhooks/on_change. To choose what it watches: server.webhook("on_change", { watch: "dataset:you/data" }, …)
server.webhook("on_change", ({ event, repo }, { log }) => {
  log.info(`${event.scope} ${event.action} of ${repo.type} ${repo.name}: start your work here.`);
  return { seen: repo.name };
});

export default server;
await server.launch();
