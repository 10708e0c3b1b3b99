import { isScope, WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

// POST /webhooks/on_change: a named function is an endpoint of that name, and takes every delivery.
server.webhook(function on_change({ event, repo }) {
  return { repo: repo.name, action: event.action };
});

// Options choose the deliveries and narrow the payload: what changes a dataset's content always has `updatedRefs`.
server.webhook(
  "retrain",
  { scope: "repo.content", repo: "dataset:acme/*", ref: "refs/heads/main" },
  ({ repo, updatedRefs }) => ({ trainOn: repo.name, refs: updatedRefs.map(({ ref }) => ref) }),
);

server.webhook("visibility", { scope: "repo.config" }, ({ repo, updatedConfig }) => {
  if (updatedConfig.private === undefined) return { repo: repo.name, visibility: "as before" };
  return { repo: repo.name, visibility: updatedConfig.private ? "private" : "public" };
});

// The scope "discussion" covers "discussion.comment" too; isScope tells them apart, for TypeScript as well.
server.webhook("community", { scope: "discussion" }, (payload) => {
  if (isScope(payload, "discussion.comment")) return { replyTo: payload.comment.id };
  return { opened: payload.discussion.title };
});

// A bucket has files where a git repository has refs.
server.webhook("new_files", { scope: "repo.content", repo: "bucket:acme/*" }, ({ updatedFiles }) => ({
  files: updatedFiles.map(({ path }) => path),
}));

export default server;
