import { WebhooksServer } from "hub-webhooks";

/** The metadata that a card must have, with a description of each key. */
const required = {
  model: { license: "how the model may be used", tags: "search terms", pipeline_tag: "the task of the model" },
  dataset: { license: "how the data may be used", tags: "search terms", task_categories: "the tasks it is for" },
};

const review = { title: "Metadata review", marker: "metadata-review" };

const server = new WebhooksServer();

server.webhook(
  "metadata_review",
  {
    scope: "repo.content",
    repo: ["model:**", "dataset:**"],
    ref: "refs/heads/main",
    paths: "README.md",
    background: true,
  },
  async ({ repo: { type, name } }, { hub, log, signal }) => {
    const repo = hub.repo({ type, name });
    // The current metadata, not the metadata of the push: a late delivery must not report an old state.
    const { cardData } = await repo.info({ signal });
    const report = reviewMetadata(type === "model" ? "model" : "dataset", cardData);
    if (report === undefined) {
      const author = (await hub.whoami({ signal })).name;
      for await (const { num, title } of repo.discussions({ author, status: "open", signal })) {
        if (title !== review.title) continue;
        await repo.setStatus(num, "closed", { comment: "The metadata is complete. Thank you!", signal });
      }
      return log.info({ repo: name }, "The metadata is complete.");
    }
    // The markers find the discussion and the comment again, so the bot never writes a second one.
    const { num, status } = await repo.openDiscussion({ ...review, signal });
    await repo.upsertComment(num, { marker: review.marker, text: report, signal });
    if (status === "closed") await repo.setStatus(num, "open", { signal });
    log.info({ repo: name, discussion: num }, "Report posted.");
  },
);

/** Lists the keys without a value in the metadata of a card. Returns `undefined` if the metadata is complete. */
export function reviewMetadata(
  type: keyof typeof required,
  metadata: Record<string, unknown> = {},
): string | undefined {
  const missing = Object.entries(required[type]).filter(([key]) => String(metadata[key] ?? "") === "");
  if (missing.length === 0) return undefined;
  return ["Missing metadata in the card:", "", ...missing.map(([key, about]) => `- \`${key}\`: ${about}`)].join("\n");
}

export default server;
