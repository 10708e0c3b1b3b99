import { createHmac } from "node:crypto";

/** The secret of every subject. */
export const secret = "Qm7vT2xK9pLd4sWz8RbN3yHc6JfGa1Ue";

/** The payload of a commit to a dataset. */
const payload = {
  event: { action: "update", scope: "repo.content" },
  repo: {
    type: "dataset",
    name: "field-station/alpine-birdsong-2026",
    id: "68b1f0c27d3e9a5512c4f7ab",
    private: false,
    tags: ["task_categories:audio-classification", "language:de", "license:cc-by-4.0", "size_categories:10K<n<100K"],
    headSha: "9f2c41d7be03586a1e7d94c0fb62a8375d10ce94",
    url: {
      web: "https://huggingface.co/datasets/field-station/alpine-birdsong-2026",
      api: "https://huggingface.co/api/datasets/field-station/alpine-birdsong-2026",
    },
    owner: { id: "6741c0d9e8b2a4f3350917dc" },
  },
  updatedRefs: [
    {
      ref: "refs/heads/main",
      oldSha: "41be7d0a9c6358f2e1d4b7a0c93f56e82d17ca05",
      newSha: "9f2c41d7be03586a1e7d94c0fb62a8375d10ce94",
    },
    { ref: "refs/convert/parquet", oldSha: null, newSha: "c07a5e31f49d82b6037cd1ea85f2694b3e0d7f18" },
  ],
  webhook: { id: "68a2d4411f0c7be93562d80e", version: 3 },
};

export const body = JSON.stringify(payload);

/** The Hub's headers of a delivery. The load generator adds host, length, and a new ID for each request. */
export const hubHeaders = { "Content-Type": "application/json", "X-Webhook-Secret": secret };

/** The same delivery in GitHub's format. It is signed once, because signing is the sender's work. */
export const githubHeaders = {
  "Content-Type": "application/json",
  "X-GitHub-Event": "push",
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
};

/** The fields that the subjects read and log. */
export interface Payload {
  event: { scope: string; action: string };
  repo: { type: string; name: string };
}

/** Whether a payload with a GitHub type of a library is the payload of this benchmark. */
export function isPayload(value: object): value is Payload {
  return "event" in value && "repo" in value;
}

/** Returns a delivery of one of 20,000 repositories of 500 owners. */
export function variedDelivery(number: number): { id: string; body: string; name: string } {
  const name = `owner-${number % 500}/data-${number % 20_000}`;
  const repo = { ...payload.repo, name, url: { ...payload.repo.url, web: `https://huggingface.co/datasets/${name}` } };
  return { id: crypto.randomUUID(), body: JSON.stringify({ ...payload, repo }), name };
}
