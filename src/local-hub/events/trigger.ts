import type { Logger } from "../../core/logger.ts";
import type { RepoId } from "../../hub/schemas.ts";
import { actions, isKnownScope } from "../../payload/schema.ts";
import { coversScope } from "../../payload/scope.ts";
import { canReadPrivate } from "../access.ts";
import { accountKind, ownerOf } from "../accounts.ts";
import type { Dispatcher } from "../delivery/dispatcher.ts";
import type { HubDelivery } from "../delivery/hub-delivery.ts";
import type { AuditLog } from "../resources/audit-log.ts";
import { auditEntriesOf } from "../resources/audit-log.ts";
import { followInNotifications, noticeDiscussion } from "../resources/notifications.ts";
import { followInGroups } from "../resources/resource-groups.ts";
import { stateOf, targetUrl } from "../resources/webhooks.ts";
import type { Store } from "../store/store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import { type WorkedOutEvent, workOutEvent } from "./event-payload.ts";
import type { CheckedEvent } from "./event-request.ts";

/** What {@link triggerEvent} needs of the local Hub. */
export interface TriggerContext {
  store: Store;
  dispatcher: Dispatcher;
  auditLog: AuditLog;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  newId: () => string;
  /** Makes the id of a commit. */
  newSha: () => string;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** A webhook that watches the repository of an event and was not fired by it all the same. */
export interface NotFired {
  webhookId: string;
  /** Where its deliveries go, without a secret. */
  url: string;
  /** `used-up`: it has fired as often as it may in a day. */
  reason: Silence | "used-up";
}

/** What an event has led to. */
export interface Triggered {
  deliveries: HubDelivery[];
  notFired: NotFired[];
  /** The names of the users whom a notification tells of it. */
  notified: string[];
}

/** What an event would lead to. */
export interface Previewed {
  /** As the first of `webhooks` would get it; where there is none, for a webhook that there is not. */
  payload: unknown;
  /** Those that would fire. */
  webhooks: { webhookId: string; url: string }[];
  notFired: NotFired[];
}

/**
 * Lets an event happen and fires the webhooks that watch it. Its repository is made where there is none. Returns what
 * is delivered because of it.
 *
 * @throws `ARGUMENT_INVALID` when the event is nested too deeply to be sent, or its edits do not fit.
 */
export function triggerEvent(context: TriggerContext, event: CheckedEvent): Triggered {
  const { store, dispatcher, auditLog, log } = context;
  const { type, name } = event.repo;
  const { scope, action } = event.event;
  const isNew = !store.repositories.get(event.repo);
  const outcome = workOut(context, event);
  const { before, after, payload, bodyFor } = outcome;
  const notified = store.atOnce(() => {
    for (const entry of auditEntriesOf({ event, isNew, before, after })) auditLog.record(entry);
    followInGroups(store, { before, after });
    followInNotifications(store, { before, after });
    if (after?.name !== name) store.repositories.delete({ type, name });
    if (!after) return [];
    store.repositories.put(after);
    return noticeDiscussion(context, { scope, action, repository: after, payload });
  });
  const fields = { repo: `${type}:${name}`, scope, action };
  if (!isKnownScope(scope) || !actions.some((known) => known === action)) {
    log.warn(fields, "the Hub is not known to have events of this scope or action: it is sent as it is");
  }
  const { awake, silent } = listeners(context, { event, outcome });
  if (awake.length === 0) log.info(fields, "nothing to deliver: no enabled webhook watches this");
  const deliveries = dispatcher.fire(awake, ({ id }) => bodyFor(id));
  const fired = new Set(deliveries.map(({ webhookId }) => webhookId));
  const notFired = [...silent, ...usedUp(context, { awake, hasFired: ({ id }) => fired.has(id) })];
  return { deliveries, notFired, notified };
}

/**
 * Says what an event would lead to, and lets nothing happen.
 *
 * @throws `ARGUMENT_INVALID` as {@link triggerEvent} does.
 */
export function previewEvent(context: TriggerContext, event: CheckedEvent): Previewed {
  const { newId, baseUrl, dispatcher } = context;
  const outcome = workOut(context, event);
  const { awake, silent } = listeners(context, { event, outcome });
  const firing = awake.filter((webhook) => dispatcher.canFire(webhook));
  return {
    payload: JSON.parse(outcome.bodyFor(firing[0]?.id ?? newId())),
    webhooks: firing.map((webhook) => ({ webhookId: webhook.id, url: targetUrl(webhook, { baseUrl }) })),
    notFired: [...silent, ...usedUp(context, { awake, hasFired: (webhook) => firing.includes(webhook) })],
  };
}

function workOut(context: TriggerContext, event: CheckedEvent): WorkedOutEvent {
  const { store, baseUrl, newId, newSha } = context;
  return workOutEvent({ event, repository: store.repositories.get(event.repo), baseUrl, newId, newSha });
}

/** The webhooks that watch the repository, oldest first: those to fire, and those that have a reason not to. */
function listeners(
  { store, baseUrl }: TriggerContext,
  { event, outcome }: { event: CheckedEvent; outcome: WorkedOutEvent },
): { awake: StoredWebhook[]; silent: NotFired[] } {
  const { type, name } = event.repo;
  const { before, after } = outcome;
  const isPrivate = (after ?? before).private;
  const occurrence = {
    repo: { type, name },
    isReadableBy: (user: string) => !isPrivate || canReadPrivate(store, { user, owner: ownerOf({ name }) }),
    scope: event.event.scope,
  };
  const awake: StoredWebhook[] = [];
  const silent: NotFired[] = [];
  for (const webhook of store.webhooks.all()) {
    if (!isWatching(webhook, occurrence)) continue;
    const reason = silenceOf(webhook, occurrence);
    if (reason === undefined) awake.push(webhook);
    else silent.push({ webhookId: webhook.id, url: targetUrl(webhook, { baseUrl }), reason });
  }
  return { awake, silent };
}

function usedUp(
  { baseUrl }: TriggerContext,
  { awake, hasFired }: { awake: readonly StoredWebhook[]; hasFired: (webhook: StoredWebhook) => boolean },
): NotFired[] {
  return awake
    .filter((webhook) => !hasFired(webhook))
    .map((webhook) => ({ webhookId: webhook.id, url: targetUrl(webhook, { baseUrl }), reason: "used-up" }));
}

/** What happened, as far as it decides who is told. */
export interface Occurrence {
  repo: RepoId;
  isReadableBy: (user: string) => boolean;
  /** Such as `repo.content`. */
  scope: string;
}

/**
 * Why a webhook is silent about a repository that it watches: the domain is none of its, the repository is private and
 * its owner cannot read that, or it was stopped, by a person or after failures.
 */
export type Silence = "domain" | "private" | "disabled" | "suspended";

/** Whether a webhook watches the repository, or the user or organization to whom that belongs. */
export function isWatching({ definition }: StoredWebhook, { repo }: Pick<Occurrence, "repo">): boolean {
  const owner = ownerOf(repo);
  return definition.watched.some(({ type, name }) => {
    if (type !== "user" && type !== "org") return type === repo.type && name === repo.name;
    // A name that nobody has here may be either.
    return name === owner && type === (accountKind(owner) ?? type);
  });
}

/** Why a webhook does not fire, of those that watch the repository; `undefined` when it does. */
export function silenceOf(webhook: StoredWebhook, occurrence: Occurrence): Silence | undefined {
  const { scope, isReadableBy } = occurrence;
  if (!webhook.definition.domains.some((domain) => coversScope(domain, scope))) return "domain";
  if (!isReadableBy(webhook.owner)) return "private";
  const state = stateOf(webhook);
  return state === "enabled" ? undefined : state;
}
