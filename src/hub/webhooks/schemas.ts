import * as z from "zod";
import { watchedTypes, webhookDomains } from "../../payload/watch.ts";
import { webhookJob, webhookJobRequest } from "../jobs.ts";
import type { Operations } from "../operation.ts";
import { jsonBody } from "../operation.ts";
import { objectId, openEnum, requestEnum, timestamp } from "../schemas.ts";

/** What a webhook becomes after failing for too long; it delivers again once it is enabled. */
export const suspendedAfterFailure = "suspended-after-failure";

const domains = z.array(requestEnum(webhookDomains)).min(1);

/** The characters of a URI: a space or a letter that is not ASCII is to be percent-encoded. */
const httpUri = /^[hH][tT][tT][pP][sS]?:\/\/(?![/?#])(?:[a-zA-Z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})+$/;
const expectedUrl = "expected an http or https URL, percent-encoded where it needs to be";

/** A URL that deliveries can be posted to. It is kept as it was given: `z.url` would trim it. */
const targetUrl = z
  .string()
  .regex(httpUri, { error: expectedUrl, abort: true })
  .refine((url) => URL.canParse(url), expectedUrl)
  .meta({ format: "uri" });

/** Printable ASCII and the one character after it, as the Hub has it; HTTP cannot carry all of them. */
const secret = z.string().regex(/^[\x20-\x7F]*$/, "expected printable ASCII characters");

/** A webhook as the Hub answers with it. */
export const webhook = z.strictObject({
  id: objectId,
  url: z.url().optional(),
  job: webhookJob.optional(),
  jobSourceId: z.string().optional(),
  disabled: z.union([z.boolean(), openEnum([suspendedAfterFailure])]),
  watched: z.array(
    z.strictObject({ name: z.string(), type: openEnum(watchedTypes), avatarUrl: z.string().optional() }),
  ),
  /** Whether it has a secret. A Hub from before 2026-08-17 may return the secret instead. */
  hasSecret: z.boolean().optional(),
  secret: z.string().optional(),
  domains: z.array(openEnum(webhookDomains)),
  lastTriggerAt: timestamp.optional(),
});

const targets = ["url", "job", "jobSourceId"] as const;

const requestFields = {
  watched: z.array(z.object({ type: requestEnum(watchedTypes), name: z.string().min(1) })).min(1),
  domains,
  url: targetUrl.optional(),
  job: webhookJobRequest.optional(),
  jobSourceId: z.string().min(1).optional(),
  secret: secret.optional(),
};

function targetsIn(body: Readonly<Record<string, unknown>>): number {
  return targets.filter((target) => body[target] !== undefined).length;
}

/** A field that this release does not list may be a target of a newer Hub. */
function hasOtherField(body: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(body).some((field) => !Object.hasOwn(requestFields, field));
}

/** What create accepts. */
export const webhookRequest = z
  .object(requestFields)
  .refine((body) => targetsIn(body) === 1 || (targetsIn(body) === 0 && hasOtherField(body)), {
    path: ["url"],
    error: 'give exactly one of "url", "job" and "jobSourceId"',
  })
  .meta({ oneOf: targets.map((target) => ({ required: [target] })) });

/** What update accepts: the whole webhook, but for the target, which stays as it is where it is left out. */
export const webhookUpdate = z
  .object(requestFields)
  .refine((body) => targetsIn(body) <= 1, {
    path: ["url"],
    error: 'give at most one of "url", "job" and "jobSourceId"',
  })
  .meta({
    not: {
      anyOf: [
        ["url", "job"],
        ["url", "jobSourceId"],
        ["job", "jobSourceId"],
      ].map((required) => ({ required })),
    },
  });

/** A webhook as the Hub answers with it. */
export type Webhook = z.output<typeof webhook>;
/** A webhook to create: with exactly one of `url`, `job` and `jobSourceId`. */
export type WebhookRequest = z.input<typeof webhookRequest>;
/** What update accepts: the whole webhook; without a target, the one that it has stays. */
export type WebhookUpdate = z.input<typeof webhookUpdate>;

const webhookId = z.object({ webhookId: z.string() });
const oneWebhook = z.strictObject({ webhook });

/** The operations on webhooks (hub-api.md, Webhooks). */
export const webhookOperations = {
  list: {
    method: "get",
    path: "/api/settings/webhooks",
    operationId: "listWebhooks",
    summary: "List your webhooks",
    response: z.array(webhook),
  },
  create: {
    method: "post",
    path: "/api/settings/webhooks",
    operationId: "createWebhook",
    summary: "Create a webhook",
    request: { body: jsonBody(webhookRequest) },
    response: oneWebhook,
  },
  get: {
    method: "get",
    path: "/api/settings/webhooks/{webhookId}",
    operationId: "getWebhook",
    summary: "Read a webhook",
    request: { params: webhookId },
    response: oneWebhook,
  },
  update: {
    method: "post",
    path: "/api/settings/webhooks/{webhookId}",
    operationId: "updateWebhook",
    summary: "Update a webhook",
    request: { params: webhookId, body: jsonBody(webhookUpdate) },
    response: oneWebhook,
  },
  delete: {
    method: "delete",
    path: "/api/settings/webhooks/{webhookId}",
    operationId: "deleteWebhook",
    summary: "Delete a webhook",
    request: { params: webhookId },
    response: z.strictObject({}),
  },
  setState: {
    method: "post",
    path: "/api/settings/webhooks/{webhookId}/{action}",
    operationId: "setWebhookState",
    summary: "Enable or disable a webhook",
    request: { params: webhookId.extend({ action: z.enum(["enable", "disable"]) }) },
    response: oneWebhook,
  },
  replay: {
    method: "post",
    path: "/api/settings/webhooks/{webhookId}/replay/{logId}",
    operationId: "replayWebhookDelivery",
    summary: "Replay a delivery",
    request: { params: webhookId.extend({ logId: z.string() }) },
    response: z.strictObject({ status: z.number() }),
  },
} as const satisfies Operations;
