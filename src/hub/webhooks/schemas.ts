import * as z from "zod/mini";
import { watchedTypes, webhookDomains } from "../../payload/watch.ts";
import { webhookJob, webhookJobRequest } from "../jobs/definition.ts";
import { jsonBody, type Operations } from "../operation.ts";
import { objectId, requestEnum, responseEnum, timestamp, uri, withJsonRule } from "../schemas.ts";

/** The value of `disabled` after too many failures. Enable the webhook to resume deliveries. */
export const suspendedAfterFailure = "suspended-after-failure";

const domains = z.array(requestEnum(webhookDomains)).check(z.minLength(1));

/** Allows only characters that are valid in a URI. Spaces and non-ASCII letters must be percent-encoded. */
const httpUri = /^[hH][tT][tT][pP][sS]?:\/\/(?![/?#])(?:[a-zA-Z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})+$/;
const expectedUrl = "expected a percent-encoded http or https URL";

/** The URL that receives the deliveries. `z.url` is not used, because it trims the input. */
const targetUrl = withJsonRule(
  z.string().check(
    z.regex(httpUri, { error: expectedUrl, abort: true }),
    z.refine((url) => URL.canParse(url), expectedUrl),
  ),
  { format: "uri" },
);

/** Allows printable ASCII characters and DEL, like the Hub, although DEL is not valid in an HTTP header. */
const secret = z.string().check(z.regex(/^[\x20-\x7F]*$/, "expected printable ASCII characters"));

/** A webhook as the Hub returns it. */
export const webhook = z.strictObject({
  id: objectId,
  url: z.optional(uri),
  job: z.optional(webhookJob),
  jobSourceId: z.optional(z.string()),
  disabled: z.union([z.boolean(), responseEnum([suspendedAfterFailure])]),
  watched: z.array(
    z.strictObject({ name: z.string(), type: responseEnum(watchedTypes), avatarUrl: z.optional(z.string()) }),
  ),
  /**
   * Since 2026-08-17, the Hub has returned `hasSecret`. Before, the Hub returned `secret`, which can be masked. The local Hub
   * returns `secret`, as in the specification. `hasHiddenSecret` in `webhooks.ts` handles all of these forms.
   */
  hasSecret: z.optional(z.boolean()),
  secret: z.optional(z.string()),
  domains: z.array(responseEnum(webhookDomains)),
  lastTriggerAt: z.optional(timestamp),
});

/** The fields for a webhook's target. A webhook has exactly one of these fields. */
const targets = ["url", "job", "jobSourceId"] as const;

const requestFields = {
  watched: z
    .array(z.object({ type: requestEnum(watchedTypes), name: z.string().check(z.minLength(1)) }))
    .check(z.minLength(1)),
  domains,
  url: z.optional(targetUrl),
  job: z.optional(webhookJobRequest),
  jobSourceId: z.optional(z.string().check(z.minLength(1))),
  secret: z.optional(secret),
};

function targetsIn(body: Readonly<Record<string, unknown>>): number {
  return targets.filter((target) => body[target] !== undefined).length;
}

/** Whether a request has an unknown field. The field can be a kind of target that the Hub added. */
function hasOtherField(body: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(body).some((field) => !Object.hasOwn(requestFields, field));
}

/** The body of a request to create a webhook. */
export const webhookRequest = withJsonRule(
  z.object(requestFields).check(
    z.refine((body) => targetsIn(body) === 1 || (targetsIn(body) === 0 && hasOtherField(body)), {
      path: ["url"],
      error: 'expected exactly one of "url", "job", and "jobSourceId"',
    }),
  ),
  { oneOf: targets.map((target) => ({ required: [target] })) },
);

/** Checks a body that can omit the target. */
export function atMostOneTarget() {
  return z.refine<Readonly<Record<string, unknown>>>((body) => targetsIn(body) <= 1, {
    path: ["url"],
    error: 'expected at most one of "url", "job", and "jobSourceId"',
  });
}

/**
 * The body of a request to update a webhook, which contains the complete webhook. Without a target, the webhook keeps its current
 * target.
 */
export const webhookUpdate = withJsonRule(z.object(requestFields).check(atMostOneTarget()), {
  not: {
    anyOf: [{ required: ["url", "job"] }, { required: ["url", "jobSourceId"] }, { required: ["job", "jobSourceId"] }],
  },
});

/** A webhook as the Hub returns it. */
export type Webhook = z.output<typeof webhook>;
/** A webhook to create, with exactly one of `url`, `job`, and `jobSourceId`. */
export type WebhookRequest = z.input<typeof webhookRequest>;
/** A complete webhook that replaces an existing webhook. Without a target, the webhook keeps its current target. */
export type WebhookUpdate = z.input<typeof webhookUpdate>;

const webhookId = z.object({ webhookId: z.string() });
const oneWebhook = z.strictObject({ webhook });

/** The operations on webhooks (docs/reference/hub-api.md, Webhooks). */
export const webhookOperations = {
  list: {
    requestLine: "GET /api/settings/webhooks",
    operationId: "listWebhooks",
    summary: "List your webhooks",
    response: z.array(webhook),
  },
  create: {
    requestLine: "POST /api/settings/webhooks",
    operationId: "createWebhook",
    summary: "Create a webhook",
    request: { body: jsonBody(webhookRequest) },
    response: oneWebhook,
  },
  get: {
    requestLine: "GET /api/settings/webhooks/{webhookId}",
    operationId: "getWebhook",
    summary: "Read a webhook",
    request: { params: webhookId },
    response: oneWebhook,
  },
  update: {
    requestLine: "POST /api/settings/webhooks/{webhookId}",
    operationId: "updateWebhook",
    summary: "Update a webhook",
    request: { params: webhookId, body: jsonBody(webhookUpdate) },
    response: oneWebhook,
  },
  delete: {
    requestLine: "DELETE /api/settings/webhooks/{webhookId}",
    operationId: "deleteWebhook",
    summary: "Delete a webhook",
    request: { params: webhookId },
    response: z.strictObject({}),
  },
  setState: {
    requestLine: "POST /api/settings/webhooks/{webhookId}/{action}",
    operationId: "setWebhookState",
    summary: "Enable or disable a webhook",
    request: { params: z.object({ ...webhookId.shape, action: z.enum(["enable", "disable"]) }) },
    response: oneWebhook,
  },
  replay: {
    requestLine: "POST /api/settings/webhooks/{webhookId}/replay/{logId}",
    operationId: "replayWebhookDelivery",
    summary: "Replay a delivery",
    request: { params: z.object({ ...webhookId.shape, logId: z.string() }) },
    response: z.strictObject({ status: z.number() }),
  },
} as const satisfies Operations;
