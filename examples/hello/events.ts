import type { WebhookRequest } from "hub-webhooks/client";
import type { HubEvent } from "hub-webhooks/local-hub";

/** The repositories and events that the webhook of each endpoint subscribes to. */
export const registrations: Readonly<Record<string, Pick<WebhookRequest, "watched" | "domains">>> = {
  on_change: { watched: [{ type: "org", name: "acme" }], domains: ["repo", "discussion"] },
  retrain: { watched: [{ type: "dataset", name: "acme/data" }], domains: ["repo"] },
  visibility: { watched: [{ type: "dataset", name: "acme/data" }], domains: ["repo"] },
  community: { watched: [{ type: "dataset", name: "acme/data" }], domains: ["discussion"] },
  new_files: { watched: [{ type: "bucket", name: "acme/files" }], domains: ["repo"] },
  review: { watched: [{ type: "dataset", name: "local-user/data" }], domains: ["repo", "discussion"] },
};

const data = { type: "dataset", name: "acme/data" } as const;
const files = { type: "bucket", name: "acme/files" } as const;

/** One event of every scope that the Hub documents, with the expected answers of the endpoints that receive it. */
export const events: readonly { event: HubEvent; answers: Readonly<Record<string, unknown>> }[] = [
  {
    event: { repo: data, event: { scope: "repo", action: "create" } },
    answers: {
      on_change: { repo: "acme/data", action: "create" },
      retrain: { ignored: "scope repo is not repo.content" },
      visibility: { ignored: "scope repo is not repo.config" },
    },
  },
  {
    event: { repo: data, event: { scope: "repo.content", action: "update" } },
    answers: {
      on_change: { repo: "acme/data", action: "update" },
      retrain: { trainOn: "acme/data", refs: ["refs/heads/main"] },
      visibility: { ignored: "scope repo.content is not repo.config" },
    },
  },
  {
    event: { repo: data, event: { scope: "repo.config", action: "update" }, updatedConfig: { private: true } },
    answers: {
      on_change: { repo: "acme/data", action: "update" },
      retrain: { ignored: "scope repo.config is not repo.content" },
      visibility: { repo: "acme/data", visibility: "private" },
    },
  },
  {
    event: { repo: data, event: { scope: "discussion", action: "create" }, discussion: { title: "Add a data card" } },
    answers: {
      on_change: { repo: "acme/data", action: "create" },
      community: { opened: "Add a data card" },
    },
  },
  {
    event: {
      repo: data,
      event: { scope: "discussion.comment", action: "create" },
      comment: { id: "6398872887bfcfb93a306f18" },
    },
    answers: {
      on_change: { repo: "acme/data", action: "create" },
      community: { replyTo: "6398872887bfcfb93a306f18" },
    },
  },
  {
    event: {
      repo: files,
      event: { scope: "repo.content", action: "update" },
      updatedFiles: [{ path: "train.parquet", action: "add" }],
    },
    answers: {
      on_change: { repo: "acme/files", action: "update" },
      new_files: { files: ["train.parquet"] },
    },
  },
];
