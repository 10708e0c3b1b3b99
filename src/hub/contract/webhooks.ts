import { createRoute, z } from "@hono/zod-openapi";
import { watchedTypes, webhookDomains } from "../../payload/watch.ts";
import { webhookJob, webhookJobRequest } from "./jobs.ts";
import { jsonAnswer, jsonBody } from "./json.ts";
import { bearer, objectId, refusals, timestamp } from "./values.ts";

/** What a webhook becomes after failing for too long; it delivers again once it is enabled. */
export const suspendedAfterFailure = "suspended-after-failure";

const watchedType = z.enum(watchedTypes);
const domains = z.array(z.enum(webhookDomains)).min(1);

/** The characters of a URI: a space or a letter that is not ASCII is to be percent-encoded. */
const httpUri = /^[hH][tT][tT][pP][sS]?:\/\/(?![/?#])(?:[a-zA-Z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-fA-F]{2})+$/;
const expectedUrl = "expected an http or https URL, percent-encoded where it needs to be";

/** A URL that deliveries can be posted to. It is kept as it was given: `z.url` would trim it. */
const targetUrl = z
  .string()
  .regex(httpUri, { error: expectedUrl, abort: true })
  .refine((url) => URL.canParse(url), expectedUrl)
  .openapi({ format: "uri" });

/** Printable ASCII and the one character after it, as the Hub has it; HTTP cannot carry all of them. */
const secret = z.string().regex(/^[\x20-\x7f]*$/, "expected printable ASCII characters");

/** A webhook as the Hub answers with it. */
export const webhook = z
  .strictObject({
    id: objectId,
    url: z.url().optional(),
    job: webhookJob.optional(),
    jobSourceId: z.string().optional(),
    disabled: z.union([z.boolean(), z.literal(suspendedAfterFailure)]),
    watched: z.array(z.strictObject({ name: z.string(), type: watchedType, avatarUrl: z.string().optional() })),
    secret: z.string().optional(),
    domains: z.array(z.enum(webhookDomains)),
    lastTriggerAt: timestamp.optional(),
  })
  .openapi("Webhook");

const targets = ["url", "job", "jobSourceId"] as const;

/** What create and update take: the whole webhook, each time. */
export const webhookRequest = z
  .strictObject({
    watched: z.array(z.strictObject({ type: watchedType, name: z.string().min(1) })).min(1),
    domains,
    url: targetUrl.optional(),
    job: webhookJobRequest.optional(),
    jobSourceId: z.string().min(1).optional(),
    secret: secret.optional(),
  })
  .refine((body) => targets.filter((target) => body[target] !== undefined).length === 1, {
    path: ["url"],
    error: 'give exactly one of "url", "job" and "jobSourceId"',
  })
  .openapi("WebhookRequest", { oneOf: targets.map((target) => ({ required: [target] })) });

/** A webhook as the Hub answers with it. */
export type Webhook = z.output<typeof webhook>;
/** What create and update take: the whole webhook, with exactly one of `url`, `job` and `jobSourceId`. */
export type WebhookRequest = z.input<typeof webhookRequest>;
/** One thing that a webhook watches. */
export type Watched = WebhookRequest["watched"][number];
export type { WatchedType, WebhookDomain } from "../../payload/watch.ts";

const tags = ["webhooks"];
const webhookId = z.object({ webhookId: z.string() });
const requestBody = jsonBody(webhookRequest);
const oneWebhook = jsonAnswer("The webhook.", z.strictObject({ webhook }));

/** The operations on webhooks (hub-api.md, Webhooks). */
export const webhookRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/settings/webhooks",
    operationId: "listWebhooks",
    summary: "List your webhooks",
    tags,
    security: bearer,
    responses: {
      200: jsonAnswer("Your webhooks.", z.array(webhook)),
      ...refusals.unauthorized,
    },
  }),
  create: createRoute({
    method: "post",
    path: "/api/settings/webhooks",
    operationId: "createWebhook",
    summary: "Create a webhook",
    tags,
    security: bearer,
    request: { body: requestBody },
    responses: {
      200: oneWebhook,
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.body,
    },
  }),
  get: createRoute({
    method: "get",
    path: "/api/settings/webhooks/{webhookId}",
    operationId: "getWebhook",
    summary: "Read a webhook",
    tags,
    security: bearer,
    request: { params: webhookId },
    responses: { 200: oneWebhook, ...refusals.unauthorized, ...refusals.notFound },
  }),
  update: createRoute({
    method: "post",
    path: "/api/settings/webhooks/{webhookId}",
    operationId: "updateWebhook",
    summary: "Replace a webhook",
    tags,
    security: bearer,
    request: { params: webhookId, body: requestBody },
    responses: {
      200: oneWebhook,
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
      ...refusals.body,
    },
  }),
  delete: createRoute({
    method: "delete",
    path: "/api/settings/webhooks/{webhookId}",
    operationId: "deleteWebhook",
    summary: "Delete a webhook for good",
    tags,
    security: bearer,
    request: { params: webhookId },
    responses: {
      200: jsonAnswer("It is gone.", z.strictObject({})),
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
  setState: createRoute({
    method: "post",
    path: "/api/settings/webhooks/{webhookId}/{action}",
    operationId: "setWebhookState",
    summary: "Enable or disable a webhook",
    tags,
    security: bearer,
    request: { params: webhookId.extend({ action: z.enum(["enable", "disable"]) }) },
    responses: {
      200: oneWebhook,
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
  replay: createRoute({
    method: "post",
    path: "/api/settings/webhooks/{webhookId}/replay/{logId}",
    operationId: "replayWebhookDelivery",
    summary: "Send a delivery again",
    tags,
    security: bearer,
    request: { params: webhookId.extend({ logId: z.string() }) },
    responses: {
      200: jsonAnswer("The HTTP status of the replayed delivery.", z.strictObject({ status: z.number() })),
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
} as const;
