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

// A bot: it acts on the Hub in the background, after the response. `paths` selects the pushes that change the card, and `ignoreSelf`
// ignores the events that the bot causes itself. The marker finds the discussion and the comment of an earlier run.
server.webhook(
  "review",
  { scope: "repo.content", ref: "refs/heads/main", paths: "README.md", ignoreSelf: true, background: true },
  async (payload, { hub, signal }) => {
    const repo = hub.repo(payload.repo);
    const card = await repo.readText("README.md", { revision: payload.repo.headSha, signal });
    const hasLicense = /^license:/m.test(card);
    const text = hasLicense ? "The card has a license. Thank you!" : "Please add a license to the card.";
    const { num } = await repo.openDiscussion({ title: "Card review", marker: "card-review", signal });
    await repo.upsertComment(num, { marker: "card-review", text, signal });
    if (hasLicense) await repo.setStatus(num, "closed", { signal });
  },
);

export default server;
