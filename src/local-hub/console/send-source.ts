import type { SendDraft, SendPreview, SendRecipient, SendResult } from "../../console/protocol/send.ts";
import { badRequest, parseSentPayload, type SendSource, type SentEvent } from "../../console/server/api.ts";
import { isRecord } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import type { FilterPrediction } from "../../payload/filter.ts";
import { parsePayload } from "../../payload/parse.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import { localUser } from "../accounts.ts";
import { type ParsedEvent, parseEvent } from "../events/event-request.ts";
import { findUnfiredReason, fireEvent, type RepositoryEvent } from "../events/publish-change.ts";
import { payloadSerializer } from "../events/repository-change.ts";
import { previewEvent, previewEvents, triggerEvent } from "../events/trigger.ts";
import type { HubContext } from "../hub-context.ts";
import { maskedTargetUrl } from "../store/webhook-store.ts";
import { nameOfWebhook, skipReasonText } from "./webhooks-api.ts";

/** The parts that a dev session adds to the page that sends events. */
export interface SessionEndpoints {
  /** Repositories to list besides those of the local Hub, as `type:name`, such as those that endpoints watch. */
  repositories?: () => readonly string[];
  /** Predicts what the filter of an endpoint decides about a payload, and the changed files if they are known. */
  predict?: (
    endpoint: string,
    payload: WebhookPayload,
    changedPaths: readonly string[] | undefined,
  ) => FilterPrediction;
  /** Returns the endpoint that a webhook with this URL delivers to. */
  endpointOf?: (webhookUrl: string) => string | undefined;
  /** The folder with scenarios. Default: the current one. */
  folder?: string;
}

export class HubSendSource implements SendSource {
  readonly isDirect = false;
  readonly #hub: HubContext;
  readonly #session: SessionEndpoints;

  constructor(hub: HubContext, session: SessionEndpoints) {
    this.#hub = hub;
    this.#session = session;
  }

  repositories(): ReturnType<SendSource["repositories"]> {
    const { store } = this.#hub;
    const stored = store.repositories.all();
    const watchedItems = store.webhooks.all().flatMap(({ definition }) => definition.watched);
    const owners = new Set(watchedItems.filter(isOwner).map(({ name }) => name));
    const watched = [
      ...watchedItems.filter((item) => !isOwner(item) && item.name.includes("/")).map(nameRepository),
      ...(this.#session.repositories?.() ?? []),
      ...stored.filter(({ name }) => owners.has(name.split("/")[0] ?? "")).map(nameRepository),
    ];
    return { watched, others: stored.map(nameRepository) };
  }

  /** Returns the payload that the local Hub would send, without making the change. */
  draftPayload(draft: Parameters<SendSource["draftPayload"]>[0]): string {
    return JSON.stringify(previewEvent(this.#hub, parseDraft(draft)).payload);
  }

  preview(sent: SentEvent): Omit<SendPreview, "problems"> {
    const hub = this.#hub;
    const { payload, files } = sent;
    const change = withBadRequest(() => changeOf(sent));
    const events = change
      ? withBadRequest(() => previewEvents(hub, change))
      : [{ event: eventOfPayload(payload), payload }];
    const paths = files && Object.keys(files);
    const recipients = hub.store.webhooks.all().flatMap((webhook): SendRecipient[] => {
      const { url } = webhook.definition;
      const outcomes = events.map(({ event, payload: fired }): SendRecipient => {
        const reason = findUnfiredReason(hub, webhook, event);
        return {
          ...{ kind: "webhook", name: nameOfWebhook(webhook), webhookId: webhook.id },
          ...(url !== undefined && { url: maskedTargetUrl(webhook, hub) }),
          ...this.#describeEndpoint(url, parsePayload({ ...fired, webhook: { id: "", version: 3 } }), paths),
          ...(reason !== undefined && { skipped: skipReasonText(reason) }),
        };
      });
      // A new pull request fires two events, and the webhook can receive only one of them.
      return outcomes.sort((one, other) => rank(one) - rank(other)).slice(0, 1);
    });
    // Those that receive the event come first.
    recipients.sort((one, other) => rank(one) - rank(other));
    return { recipients, effect: change ? "change" : "payload" };
  }

  async send(sent: SentEvent): Promise<SendResult> {
    const hub = this.#hub;
    const { events, webhooks } = hub.store;
    const [latest] = events.list({ limit: 1 });
    const change = withBadRequest(() => changeOf(sent));
    if (!change && sent.files) throw badRequest(filesNotPushed);
    if (!change) hub.recorder.note("A payload that was sent without a change was not recorded.");
    const { deliveries } = change ? withBadRequest(() => triggerEvent(hub, change)) : deliverPayload(hub, sent.payload);
    // A new pull request is followed by the event of its ref.
    const first = events.list({ limit: 5 }).findLast(({ sequence }) => sequence > (latest?.sequence ?? 0));
    return {
      ...(first && { eventId: first.id }),
      deliveries: deliveries.map(({ deliveryId, webhookId, url }) => {
        const webhook = webhooks.get(webhookId);
        const endpoint = this.#endpointOf(webhook?.definition.url);
        const recipient = webhook ? nameOfWebhook(webhook) : url;
        return { id: deliveryId, recipient, webhookId, ...(endpoint !== undefined && { endpoint }) };
      }),
    };
  }

  #describeEndpoint(url: string | undefined, payload: WebhookPayload, changedPaths: readonly string[] | undefined) {
    const endpoint = this.#endpointOf(url);
    if (endpoint === undefined) return {};
    return { endpoint, ...this.#session.predict?.(endpoint, payload, changedPaths) };
  }

  #endpointOf(url: string | undefined): string | undefined {
    return url === undefined ? undefined : this.#session.endpointOf?.(url);
  }
}

function nameRepository({ type, name }: { type: string; name: string }): string {
  return `${type}:${name}`;
}

function isOwner({ type }: { type: string }): boolean {
  return type === "user" || type === "org";
}

function rank({ skipped, ignored, condition }: SendRecipient): number {
  return [condition, ignored, skipped].findLastIndex((reason) => reason !== undefined);
}

/** Makes errors of the user's event, such as an invalid path of a file, errors of the request. */
export function withBadRequest<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "ARGUMENT_INVALID") throw error;
    throw badRequest(error.message);
  }
}

const filesNotPushed =
  "The payload was edited so that the local Hub cannot make its change, so nothing was sent. Undo the edits, or remove the files.";

/**
 * Returns the event of a draft with its edits, or `undefined` if the edits do not only describe the change of the event, such as
 * another comment. The local Hub makes this change, and sends its payload. Otherwise, the payload is sent as it is, because no
 * change has this payload.
 *
 * The draft is the payload before the edits, as JSON text.
 */
function changeOf({ draft, files, payload: edited }: SentEvent): ParsedEvent | undefined {
  if (draft === undefined) return undefined;
  const parsed = parseSentPayload(draft);
  if (!("payload" in parsed)) return undefined;
  const { event, repo } = parsed.payload;
  const { scope, action } = event;
  const fields = describedEdits(parsed.payload, edited, `${scope} ${action}`);
  if (!fields) return undefined;
  const { isPullRequest } = edited.discussion ?? {};
  const isMove = scope === "repo" && action === "move";
  const isNewDiscussion = scope === "discussion" && action === "create";
  try {
    return parseEvent({
      repo: { type: repo.type, name: repo.name },
      event: { scope, action },
      ...(isMove && { movedTo: { name: edited.movedTo?.name } }),
      ...fields,
      ...(isPullRequest && isNewDiscussion && { discussion: { ...fields.discussion, isPullRequest } }),
      ...(files && { files }),
    });
  } catch (error) {
    // Such as a new name that no repository can have.
    if (!files && WebhookError.isInstance(error) && error.code === "ARGUMENT_INVALID") return undefined;
    throw error;
  }
}

function eventOfPayload({ event, repo }: WebhookPayload): RepositoryEvent & { action: string } {
  return {
    ...{ scope: event.scope, action: event.action, isPrivate: repo.private },
    repo: { type: repo.type, name: repo.name },
  };
}

/** Delivers a payload as it is, without making a change. Only the field `webhook` is set for each webhook. */
function deliverPayload(context: HubContext, payload: WebhookPayload) {
  const { webhook: _own, ...fields } = payload;
  const bodyFor = payloadSerializer(fields, { createId: context.createId });
  return fireEvent(context, { event: eventOfPayload(payload), user: localUser, bodyFor, isPayloadOnly: true });
}

/** The fields of a payload that describe the change of an event, by `scope action`. */
const describingFields: Readonly<Record<string, readonly string[]>> = {
  "repo move": ["movedTo.name"],
  "repo.config update": ["updatedConfig.private"],
  "discussion create": ["discussion.title", "discussion.isPullRequest", "comment.content"],
  "discussion update": ["discussion.title", "discussion.status", "discussion.pinned"],
  "discussion.comment create": ["comment.content"],
  "discussion.comment update": ["comment.content", "comment.hidden"],
};

interface EditedField {
  keys: readonly string[];
  /** `undefined` if the field was removed. */
  value: unknown;
}

/** Returns the fields of an event that the edits of a payload describe, or `undefined` if an edit changes anything else. */
function describedEdits(draft: object, edited: object, event: string) {
  const allowed = describingFields[event] ?? [];
  const fields: Record<string, Record<string, unknown>> = {};
  for (const { keys, value } of editedFields(draft, edited)) {
    const [outer = "", inner = ""] = keys;
    if (value === undefined || !allowed.includes(keys.join("."))) return undefined;
    fields[outer] = { ...fields[outer], [inner]: value };
  }
  return fields;
}

/** Lists the fields that differ. Lists are compared as a whole. The field `webhook` is ignored, because each webhook has its own. */
function editedFields(draft: object, edited: object): EditedField[] {
  return compare(draft, edited, []).filter(({ keys }) => keys[0] !== "webhook");
}

function compare(before: unknown, after: unknown, keys: readonly string[]): EditedField[] {
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => compare(own(before, name), own(after, name), [...keys, name]));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ keys, value: after }];
}

function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A move gets a new name. @throws `ARGUMENT_INVALID` with the invalid fields. */
export function parseDraft({ scope, action, repository, pr }: SendDraft): ParsedEvent {
  const colon = repository.indexOf(":");
  const [type, name] = [repository.slice(0, colon), repository.slice(colon + 1)];
  const isMove = scope === "repo" && action === "move";
  return parseEvent({
    repo: { type, name },
    event: { scope, action },
    ...(isMove && { movedTo: { name: `${name}-moved` } }),
    ...(pr && { discussion: { isPullRequest: true } }),
  });
}
