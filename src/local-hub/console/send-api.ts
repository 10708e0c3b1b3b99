import {
  type SendOptions,
  type SendPreview,
  type SendRecipient,
  type SendResult,
  sendDraft,
  sendRequest,
} from "../../console/protocol/send.ts";
import type { ConsoleResource } from "../../console/server/console.ts";
import { FieldError } from "../../console/server/field-error.ts";
import { readBody, readQuery } from "../../console/server/requests.ts";
import { WebhookError } from "../../core/errors.ts";
import { actionsByScope } from "../../payload/known-actions.ts";
import { scopes, type WebhookPayload } from "../../payload/schema.ts";
import { deliverPayload, eventOfPayload } from "../events/deliver-payload.ts";
import { parseEvent } from "../events/event-request.ts";
import { previewEvent, selectionOf, triggerEvent } from "../events/trigger.ts";
import { findUnfiredReason } from "../events/webhook-selection.ts";
import type { HubContext } from "../hub-context.ts";
import { maskedTargetUrl } from "../resources/webhooks.ts";
import { nameOfWebhook } from "./describe-webhook.ts";
import { planSending, type SendPlan } from "./plan-sending.ts";
import { skipReasonText } from "./skip-reason.ts";

/** The parts that a dev session adds to the page that sends events. */
export interface SendSource {
  /** Repositories to list besides those of the local Hub, as `type:name`, such as those that endpoints watch. */
  repositories?: () => readonly string[];
  /** Returns why the filter of an endpoint ignores a payload, or `undefined` if it does not. */
  ignoredBy?: (endpoint: string, payload: WebhookPayload) => string | undefined;
  /** Returns the endpoint that a webhook with this URL delivers to. */
  endpointOf?: (webhookUrl: string) => string | undefined;
}

/** The repository types of samples. Each scope has a sample with a dataset, and pushes differ for buckets. */
const sampleTypes = { "repo.content": ["dataset", "bucket"] } as const satisfies Record<string, readonly string[]>;

/** The maximum number of repositories in the options. */
const maxRepositories = 1_000;

/** The routes that send events to the webhooks of the local Hub. */
export function sendApi(hub: HubContext, source: SendSource = {}): ConsoleResource {
  return (app) => {
    app.get("/send/options", (context) => context.json(readOptions(hub, source)));

    app.get("/send/payload", (context) => {
      const { scope, action, repository } = readQuery(context, sendDraft);
      return context.json({ body: draftPayload(hub, { scope, action, repository }) });
    });

    app.post("/send/preview", async (context) => {
      const plan = planSending(await readBody(context, sendRequest));
      return context.json(preview(hub, { plan, source }));
    });

    app.post("/send", async (context) => {
      const plan = planSending(await readBody(context, sendRequest));
      return context.json(send(hub, { plan, source }));
    });
  };
}

function readOptions({ store }: HubContext, { repositories }: SendSource): SendOptions {
  const stored = store.repositories.all();
  const watchedItems = store.webhooks.all().flatMap(({ definition }) => definition.watched);
  const owners = new Set(watchedItems.filter(isOwner).map(({ name }) => name));
  const watched = [
    ...watchedItems.filter((item) => !isOwner(item) && item.name.includes("/")).map(nameRepository),
    ...(repositories?.() ?? []),
    ...stored.filter(({ name }) => owners.has(name.split("/")[0] ?? "")).map(nameRepository),
  ];
  const all = [...new Set([...watched, ...stored.map(nameRepository)])];
  const defaultRepository = watched.find(isDataset) ?? watched[0] ?? all.find(isDataset) ?? all[0];
  return {
    scopes: scopes.map((scope) => ({ scope, actions: actionsByScope[scope] })),
    repositories: all.slice(0, maxRepositories),
    ...(defaultRepository !== undefined && { defaultRepository }),
    samples: scopes.flatMap((scope) =>
      actionsByScope[scope].flatMap((action) =>
        (scope === "repo.content" ? sampleTypes[scope] : ["dataset"]).map((repoType) => ({
          ...{ name: `${scope} ${action}${repoType === "dataset" ? "" : ` (${repoType})`}`, scope, action, repoType },
        })),
      ),
    ),
  };
}

function nameRepository({ type, name }: { type: string; name: string }): string {
  return `${type}:${name}`;
}

function isOwner({ type }: { type: string }): boolean {
  return type === "user" || type === "org";
}

function isDataset(repository: string): boolean {
  return repository.startsWith("dataset:");
}

/** Returns the payload that the local Hub would send, without making the change. @throws `ARGUMENT_INVALID` (400). */
function draftPayload(
  hub: HubContext,
  { scope, action, repository }: { scope: string; action: string; repository: string },
): string {
  const colon = repository.indexOf(":");
  const [type, name] = [repository.slice(0, colon), repository.slice(colon + 1)];
  const isMove = scope === "repo" && action === "move";
  try {
    const event = parseEvent({
      repo: { type, name },
      event: { scope, action },
      ...(isMove && { movedTo: { name: `${name}-moved` } }),
    });
    return JSON.stringify(previewEvent(hub, event).payload, null, 2);
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "ARGUMENT_INVALID") throw error;
    throw new WebhookError(error.message, { code: "ARGUMENT_INVALID", status: 400 });
  }
}

function preview(hub: HubContext, { plan, source }: { plan: SendPlan; source: SendSource }): SendPreview {
  if (!("payload" in plan)) return { problems: plan.problems, recipients: [] };
  const { payload, event: change } = plan;
  const event = change ? selectionOf(hub, change) : eventOfPayload(payload);
  const webhooks = hub.store.webhooks.all().map((webhook): SendRecipient => {
    const reason = findUnfiredReason(hub, { webhook, event });
    return {
      ...{ kind: "webhook", name: nameOfWebhook(webhook), webhookId: webhook.id },
      ...(webhook.definition.url !== undefined && { url: maskedTargetUrl(webhook, hub) }),
      ...describeEndpoint(source, { url: webhook.definition.url, payload }),
      ...(reason !== undefined && { skipped: skipReasonText(reason) }),
    };
  });
  // Those that receive the event come first.
  const recipients = webhooks.sort((one, other) => rank(one) - rank(other));
  return { problems: [], recipients, effect: change ? "change" : "payload" };
}

function describeEndpoint(
  { endpointOf, ignoredBy }: SendSource,
  { url, payload }: { url: string | undefined; payload: WebhookPayload },
): Pick<SendRecipient, "endpoint" | "ignored"> {
  const endpoint = url === undefined ? undefined : endpointOf?.(url);
  if (endpoint === undefined) return {};
  const ignored = ignoredBy?.(endpoint, payload);
  return { endpoint, ...(ignored !== undefined && { ignored }) };
}

function rank({ skipped }: SendRecipient): number {
  return skipped === undefined ? 0 : 1;
}

/** @throws FieldError (422) if the payload is invalid. */
function send(hub: HubContext, { plan, source }: { plan: SendPlan; source: SendSource }): SendResult {
  if (!("payload" in plan)) throw invalidPayload(plan.problems);
  const { events } = hub.store;
  const [latest] = events.list({ limit: 1 });
  const { deliveries } = plan.event ? triggerEvent(hub, plan.event) : deliverPayload(hub, plan.payload);
  // A new pull request is followed by the event of its ref.
  const sent = events.list({ limit: 5 }).findLast(({ sequence }) => sequence > (latest?.sequence ?? 0));
  return {
    ...(sent && { eventId: sent.id }),
    deliveries: deliveries.map(({ deliveryId, webhookId, url }) => {
      const webhook = hub.store.webhooks.get(webhookId);
      const target = webhook?.definition.url;
      const endpoint = target === undefined ? undefined : source.endpointOf?.(target);
      const recipient = webhook ? nameOfWebhook(webhook) : url;
      return { id: deliveryId, recipient, webhookId, ...(endpoint !== undefined && { endpoint }) };
    }),
  };
}

function invalidPayload(problems: SendPreview["problems"]): FieldError {
  const message = "The payload is invalid. Fix the fields, and send it again.";
  return new FieldError(new WebhookError(message, { code: "PAYLOAD_INVALID" }), problems);
}
