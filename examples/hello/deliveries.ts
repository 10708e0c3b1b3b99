import { webhookPayload } from "hub-webhooks/testing";

/** One delivery of every scope that the Hub documents, and what the handler makes of it. */
export const deliveries = [
  {
    title: "repo",
    endpoint: "on_change",
    payload: webhookPayload("repo", { event: { action: "create" } }),
    answer: { repo: "acme/data", action: "create" },
  },
  {
    title: "repo.content",
    endpoint: "retrain",
    payload: webhookPayload("repo.content"),
    answer: { trainOn: "acme/data", refs: ["refs/heads/main"] },
  },
  {
    title: "repo.config",
    endpoint: "visibility",
    payload: webhookPayload("repo.config"),
    answer: { repo: "acme/data", visibility: "public" },
  },
  {
    title: "discussion",
    endpoint: "community",
    payload: webhookPayload("discussion"),
    answer: { opened: "Add a data card" },
  },
  {
    title: "discussion.comment",
    endpoint: "community",
    payload: webhookPayload("discussion.comment"),
    answer: { replyTo: "6398872887bfcfb93a306f18" },
  },
  {
    title: "repo.content (bucket)",
    endpoint: "new_files",
    payload: webhookPayload("repo.content", { repo: { type: "bucket", name: "acme/files" } }),
    answer: { files: ["data/train.parquet"] },
  },
];
