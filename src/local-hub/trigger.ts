import type { z } from "zod";
import type { Dispatcher, HubDelivery } from "./dispatcher.ts";
import { type eventRequest, happen } from "./event.ts";
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
}

type CheckedEvent = z.output<typeof eventRequest>;

/**
 * Lets an event happen and fires the webhooks that watch it. Its repository is made where there is none. Returns what
 * is delivered because of it.
 */
export function triggerEvent(context: TriggerContext, event: CheckedEvent): HubDelivery[] {
  const { store, dispatcher, baseUrl, newSha } = context;
  const { type, name } = event.repo;
  const repository = store.repositories.get({ type, name }) ?? newRepository(context, event.repo);
  const { payload, repository: after } = happen({ event, repository, baseUrl, newSha: newSha() });
  store.atOnce(() => {
    if (after?.name !== name) store.repositories.delete({ type, name });
    if (after) store.repositories.put(after);
  });
  const occurrence = { repo: { type, name }, private: (after ?? repository).private, scope: event.event.scope };
  const watching = store.webhooks.all().filter((webhook) => isWatching(webhook, occurrence));
  // One text for all of them: only its last field tells the webhooks apart.
  const begun = JSON.stringify(payload).slice(0, -1);
  return dispatcher.fire(watching, ({ id }) => `${begun},"webhook":{"id":"${id}","version":3}}`);
}

function newRepository({ newId, newSha }: TriggerContext, repo: CheckedEvent["repo"]): StoredRepository {
  const { type, name, private: isPrivate = false } = repo;
  const made = { type, name, id: newId(), private: isPrivate, discussions: 0 };
  // A bucket has no commits.
  return type === "bucket" ? made : { ...made, headSha: newSha() };
}
