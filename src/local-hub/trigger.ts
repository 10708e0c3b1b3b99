import type { z } from "zod";
import { WebhookError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { actions, isKnownScope } from "../payload/schema.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { happen } from "./event.ts";
import type { eventRequest } from "./event-request.ts";
import type { HubDelivery } from "./hub-delivery.ts";
import type { StoredRepository } from "./store/repository-store.ts";
import type { Store } from "./store/store.ts";
import { isWatching } from "./watch.ts";

/** What {@link triggerEvent} needs of the local Hub. */
export interface TriggerContext {
  store: Store;
  dispatcher: Dispatcher;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  newId: () => string;
  /** Makes the id of a commit. */
  newSha: () => string;
  log: Logger;
}

type CheckedEvent = z.output<typeof eventRequest>;

/**
 * Lets an event happen and fires the webhooks that watch it. Its repository is made where there is none. Returns what
 * is delivered because of it.
 *
 * @throws `ARGUMENT_INVALID` when the event is nested too deeply to be sent.
 */
export function triggerEvent(context: TriggerContext, event: CheckedEvent): HubDelivery[] {
  const { store, dispatcher, log } = context;
  const { type, name } = event.repo;
  const { scope, action } = event.event;
  const { begun, before, after } = workOut(context, event);
  store.atOnce(() => {
    if (after?.name !== name) store.repositories.delete({ type, name });
    if (after) store.repositories.put(after);
  });
  const fields = { repo: `${type}:${name}`, scope, action };
  if (!isKnownScope(scope) || !actions.some((known) => known === action)) {
    log.warn(fields, "the Hub is not known to have events of this scope or action: it is sent as it is");
  }
  const occurrence = { repo: { type, name }, private: (after ?? before).private, scope };
  const watching = store.webhooks.all().filter((webhook) => isWatching(webhook, occurrence));
  if (watching.length === 0) log.info(fields, "nothing to deliver: no enabled webhook watches this");
  return dispatcher.fire(watching, ({ id }) => `${begun},"webhook":{"id":"${id}","version":3}}`);
}

/** What the event leads to, and the payload as text without its end: only the last field tells the webhooks apart. */
function workOut(context: TriggerContext, event: CheckedEvent) {
  const { type, name } = event.repo;
  const before = context.store.repositories.get({ type, name }) ?? newRepository(context, event.repo);
  try {
    const options = { event, repository: before, baseUrl: context.baseUrl, newSha: context.newSha() };
    const { payload, repository: after } = happen(options);
    return { begun: JSON.stringify(payload).slice(0, -1), before, after };
  } catch (error) {
    // The stack ends, some thousand levels down.
    if (!(error instanceof RangeError)) throw error;
    throw new WebhookError("This event is nested too deeply: no payload of the Hub is.", { code: "ARGUMENT_INVALID" });
  }
}

function newRepository({ newId, newSha }: TriggerContext, repo: CheckedEvent["repo"]): StoredRepository {
  const { type, name, private: isPrivate = false } = repo;
  const made = { type, name, id: newId(), private: isPrivate, discussions: 0 };
  // A bucket has no commits.
  return type === "bucket" ? made : { ...made, headSha: newSha() };
}
