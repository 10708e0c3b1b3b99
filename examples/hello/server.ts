import { isScope, WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

// POST /webhooks/on_change: the name of the function is the name of the endpoint. Without options, it receives every delivery.
server.webhook(function on_change({ event, repo }) {
  return { repo: repo.name, action: event.action };
});

// Options filter the deliveries and narrow the type of the payload: content updates of a dataset have `updatedRefs`.
server.webhook(
  "retrain",
  { scope: "repo.content", repo: "dataset:acme/*", ref: "refs/heads/main" },
  ({ repo, updatedRefs }) => ({ trainOn: repo.name, refs: updatedRefs.map(({ ref }) => ref) }),
);

server.webhook("visibility", { scope: "repo.config" }, ({ repo, updatedConfig }) => {
  if (updatedConfig.private === undefined) return { repo: repo.name, visibility: "as before" };
  return { repo: repo.name, visibility: updatedConfig.private ? "private" : "public" };
});

// The scope "discussion" includes "discussion.comment". isScope distinguishes them and narrows the type.
server.webhook("community", { scope: "discussion" }, (payload) => {
  if (isScope(payload, "discussion.comment")) return { replyTo: payload.comment.id };
  return { opened: payload.discussion.title };
});

// Content updates of a bucket have `updatedFiles` instead of `updatedRefs`.
server.webhook("new_files", { scope: "repo.content", repo: "bucket:acme/*" }, ({ updatedFiles }) => ({
  files: updatedFiles.map(({ path }) => path),
}));

export default server;
