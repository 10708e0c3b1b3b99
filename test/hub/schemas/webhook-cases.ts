import { casesOf } from "./bounds.ts";
import {
  jobRequestBounds,
  jobSourceRequestBounds,
  jobWebhookBounds,
  urlRequestBounds,
  webhookBounds,
} from "./webhook-bounds.ts";

const watches = { watched: [{ type: "dataset", name: "acme/data" }], domains: ["repo"] };
const answers = { id: "0123456789abcdef01234567", disabled: false, ...watches };

const requestTables = [
  casesOf({ bounds: urlRequestBounds, body: { ...watches, url: "https://example.com/hook" } }),
  casesOf({ bounds: jobSourceRequestBounds, body: { ...watches, jobSourceId: "job-1" } }),
  casesOf({ bounds: jobRequestBounds, body: { ...watches, job: { flavor: "cpu-basic" } } }),
];
const webhookTables = [
  casesOf({ bounds: webhookBounds, body: { ...answers, url: "https://example.com/hook" } }),
  casesOf({
    bounds: jobWebhookBounds,
    body: { ...answers, job: { flavor: "cpu-basic", environment: {}, timeoutSeconds: null } },
  }),
];

/** Bodies of create and update, at the limits of the specification and beyond. */
export const requestCases = {
  accepted: requestTables.flatMap(({ accepted }) => accepted),
  refused: requestTables.flatMap(({ refused }) => refused),
  ignored: requestTables.flatMap(({ ignored }) => ignored),
};

/** Webhooks in responses, at the limits of the specification and beyond. */
export const webhookCases = {
  accepted: webhookTables.flatMap(({ accepted }) => accepted),
  refused: webhookTables.flatMap(({ refused }) => refused),
};
