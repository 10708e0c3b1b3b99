import { createRoute, z } from "@hono/zod-openapi";
import { watchedTypes, webhookDomains } from "../../payload/watch.ts";
import { webhookJob, webhookJobRequest } from "./jobs.ts";
import { jsonAnswer, jsonBody } from "./json.ts";
import { openEnum, requestEnum } from "./open.ts";
import { bearer, objectId, refusals, timestamp } from "./values.ts";

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
  .openapi({ format: "uri" });

/** Printable ASCII and the one character after it, as the Hub has it; HTTP cannot carry all of them. */
const secret = z.string().regex(/^[\x20-\x7F]*$/, "expected printable ASCII characters");

/** A webhook as the Hub answers with it. */
export const webhook = z
  .strictObject({
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
  })
  .openapi("Webhook");

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
  .openapi("WebhookRequest", { oneOf: targets.map((target) => ({ required: [target] })) });

/** What update accepts: the whole webhook, but for the target, which stays as it is where it is left out. */
export const webhookUpdate = z
  .object(requestFields)
  .refine((body) => targetsIn(body) <= 1, {
    path: ["url"],
    error: 'give at most one of "url", "job" and "jobSourceId"',
  })
  .openapi("WebhookUpdate", {
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
/** One thing that a webhook watches. */
export type Watched = WebhookRequest["watched"][number];
/** What update accepts: the whole webhook; without a target, the one that it has stays. */
export type WebhookUpdate = z.input<typeof webhookUpdate>;
export type { WatchedType, WebhookDomain } from "../../payload/watch.ts";

const tags = ["webhooks"];
const webhookId = z.object({ webhookId: z.string() });
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
    request: { body: jsonBody(webhookRequest) },
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
    summary: "Update a webhook",
    tags,
    security: bearer,
    request: { params: webhookId, body: jsonBody(webhookUpdate) },
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
    summary: "Delete a webhook",
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
    summary: "Replay a delivery",
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
