import { coversScope } from "../../payload/schema.ts";
import type { Watched } from "../../payload/watch.ts";
import { localUser } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import {
  createRepository,
  deleteRepository,
  moveRepository,
  updateRepositorySettings,
} from "../resources/repositories/repository-changes.ts";
import { hasContent, mainRef, type StoredRepository } from "../store/repository-store.ts";
import { maskedTargetUrl } from "../store/webhook-store.ts";
import { describeRecordedEvent, findNewHead, overridesOf, type ParsedEvent, withOldShas } from "./event-request.ts";
import {
  describeLimited,
  eventOf,
  fireChange,
  recordChange,
  repositoryAuditEntries,
  selectWebhooks,
  type TriggerResult,
} from "./publish-change.ts";
import { eventPayload, findKnownScope, payloadSerializer, type RepositoryChange } from "./repository-change.ts";
import { changeDiscussionOf, pushToRefs, type Trigger, toFileChanges } from "./triggered-change.ts";

/**
 * Triggers an event: makes the change that the event describes, such as a commit on the main branch, notifies users, and fires the
 * webhooks that watch the repository. Creates the repository if necessary, without an event. Fields of the event override fields of
 * the payload.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit the payload. Nothing is then changed.
 */
export function triggerEvent(context: HubContext, event: ParsedEvent): TriggerResult {
  const addChanges = context.recorder.addTriggered(context, event);
  const { changes, recorded } = context.store.transaction(() => {
    const made = makeTriggeredChanges(context, event);
    return { changes: made, recorded: event.silent ? [] : made.map((change) => recordChange(context, change)) };
  });
  addChanges(changes);
  const results = recorded.map((change) => fireChange(context, change));
  return {
    deliveries: results.flatMap(({ deliveries }) => deliveries),
    notFired: results.flatMap(({ notFired }) => notFired),
    notified: [...new Set(results.flatMap(({ notified }) => notified))],
  };
}

/** Returns the events that an event causes, the own one first, without triggering them: what decides which webhooks fire, and payloads. */
export function previewEvents(context: HubContext, event: ParsedEvent) {
  return context.store.transaction((rollBack) => {
    rollBack();
    return makeTriggeredChanges(context, event).map((change) => ({
      event: eventOf(change),
      payload: eventPayload(change, context),
    }));
  });
}

/** Triggers nothing. @throws `ARGUMENT_INVALID` in the same cases as {@link triggerEvent}. */
export function previewEvent(context: HubContext, event: ParsedEvent) {
  const { store, createId, hubUrl, dispatcher } = context;
  const { bodyFor, selection } = store.transaction((rollBack) => {
    rollBack();
    const [change] = makeTriggeredChanges(context, event);
    const payload = eventPayload(change, { hubUrl });
    return {
      bodyFor: payloadSerializer(payload, { edits: event.edits, createId }),
      selection: selectWebhooks(context, eventOf(change)),
    };
  });
  const { enabled, skipped } = selection;
  const firing = enabled.filter((webhook) => dispatcher.canFire(webhook));
  const limited = enabled.filter((webhook) => !firing.includes(webhook));
  // The payload is that for the first webhook. If none would fire, it contains a random ID.
  const payload: unknown = JSON.parse(bodyFor(firing[0]?.id ?? createId()));
  return {
    payload,
    webhooks: firing.map((webhook) => ({ webhookId: webhook.id, url: maskedTargetUrl(webhook, { hubUrl }) })),
    notFired: [...skipped, ...describeLimited(context, limited)],
  };
}

/**
 * Makes the change of an event, and creates the repository if necessary. Publishes nothing. Returns the change, whose payload has
 * the fields of the event, and then the further changes that it caused. Call this function in a transaction.
 */
function makeTriggeredChanges(context: HubContext, given: ParsedEvent): [RepositoryChange, ...RepositoryChange[]] {
  const repository = findOrCreate(context, given);
  const { content } = context.store;
  // The content of kernels is not stored.
  const event = withOldShas(
    given,
    (ref) => content.getRef(repository.id, ref) ?? (ref === mainRef ? repository.headSha : undefined),
  );
  const knownScope = findKnownScope(event.event.scope);
  if (!hasContent(repository.type)) return [recordEvent(context, { event, repository })];
  const collectedChanges: RepositoryChange[] = [];
  const collecting = { ...context, collectedChanges };
  const isDiscussion = knownScope.startsWith("discussion");
  const discussed = isDiscussion ? changeDiscussionOf(collecting, { event, repository }) : undefined;
  if (isDiscussion && !discussed) return [recordEvent(context, { event, repository })];
  const after = isDiscussion
    ? context.store.repositories.get(repository)
    : makeChange(collecting, { event, repository });
  const own = collectedChanges.filter(({ scope }) => scope === knownScope);
  const givenHead = findNewHead(event.updatedRefs ?? []);
  const change = {
    ...{ scope: event.event.scope, action: event.event.action, user: localUser },
    // An event can contain an invented commit, which is then the head in its payload.
    ...{ before: repository, after: after && { ...after, ...(givenHead !== undefined && { headSha: givenHead }) } },
    ...(knownScope === "repo" && { movedTo: event.movedTo }),
    ...(knownScope === "repo.content" && { updatedRefs: own.flatMap(({ updatedRefs = [] }) => updatedRefs) }),
    ...(discussed && { discussion: discussed.discussion, comment: discussed.comment }),
    ...{ updatedConfig: event.updatedConfig, overrides: overridesOf(event), edits: event.edits },
  };
  return [change, ...collectedChanges.filter((collected) => !own.includes(collected))];
}

/** Returns the repository of an event with the visibility of the event. */
function findOrCreate(context: HubContext, event: ParsedEvent): StoredRepository {
  const { repositories } = context.store;
  const { type, name, private: isPrivate } = event.repo;
  const { scope, action } = event.event;
  const isCreation = scope === "repo" && action === "create";
  let found = repositories.get(event.repo);
  if (found && event.silent && isCreation) {
    deleteRepository({ ...context, collectedChanges: [] }, { repository: found, user: localUser });
    found = undefined;
  }
  if (!found) {
    const collectedChanges: RepositoryChange[] = [];
    const files = isCreation && event.files ? toFileChanges(event.files) : undefined;
    const creation = { type, name, private: isPrivate, user: localUser, files };
    const repository = createRepository({ ...context, collectedChanges }, creation);
    // The creation fires no event, because the caller asked for another event.
    if (scope !== "repo" || (action !== "create" && action !== "delete")) {
      for (const entry of collectedChanges.flatMap(repositoryAuditEntries)) context.auditLog.record(entry);
    }
    return repository;
  }
  if (isPrivate === undefined || isPrivate === found.private) return found;
  const updated = { ...found, private: isPrivate };
  repositories.put(updated);
  return updated;
}

function makeChange(context: HubContext, { event, repository }: Trigger): StoredRepository | undefined {
  const user = localUser;
  const { scope, action } = event.event;
  switch (findKnownScope(scope)) {
    case "repo.content":
      pushToRefs(context, { event, repository });
      return context.store.repositories.get(repository);
    case "repo.config": {
      const { private: isPrivate } = event.updatedConfig ?? {};
      const settings = isPrivate === undefined ? {} : { private: isPrivate };
      return updateRepositorySettings(context, { repository, settings, user });
    }
    default:
      break;
  }
  // Compare the exact scope, because an unknown subscope of `repo` is an update.
  if (scope !== "repo") return repository;
  if (action === "delete") {
    deleteRepository(context, { repository, user });
    return undefined;
  }
  if (action !== "move" || !event.movedTo || event.movedTo.name === repository.name) return repository;
  const { name } = event.movedTo;
  const replaced = context.store.repositories.get({ type: repository.type, name });
  // A triggered move always succeeds: it replaces a repository that has the name, which fires nothing.
  if (replaced) deleteRepository({ ...context, collectedChanges: [] }, { repository: replaced, user });
  return moveRepository(context, { repository, name, user });
}

function recordEvent(context: HubContext, { event, repository }: Trigger): RepositoryChange {
  const { repositories } = context.store;
  const change = describeRecordedEvent({ event, repository, newSha: context.createSha() });
  const { after } = change;
  const silent = { ...context, collectedChanges: [] };
  if (!after) deleteRepository(silent, { repository, user: localUser });
  else if (after.name === repository.name) repositories.put(after);
  else {
    const replaced = repositories.get(after);
    if (replaced) deleteRepository(silent, { repository: replaced, user: localUser });
    repositories.move(repository, after.name);
  }
  return change;
}

const defaultScope = "repo.content";

/**
 * Returns arguments for `hub-webhooks trigger`. The event fires a webhook and matches the endpoint's filter.
 *
 * @param options.watched The watched items of the webhook. Default if empty: `dataset:me/data`.
 * @param options.scopes The domains of the webhook, or the scopes of the endpoint's filter. An empty list stands for all scopes.
 * @param options.repos The repositories of the endpoint's filter. Default: all.
 */
export function triggerArguments({
  watched: [first = { type: "dataset", name: "me/data" }],
  scopes,
  repos = [],
}: {
  watched: readonly Watched<string>[];
  scopes: readonly string[];
  repos?: readonly string[];
}): readonly string[] {
  const matchesDefault = scopes.length === 0 || scopes.some((scope) => coversScope(scope, defaultScope));
  return [chooseRepo(first, repos), ...(matchesDefault ? [] : ["--scope", scopes[0] ?? defaultScope])];
}

function chooseRepo({ type, name }: Watched<string>, repos: readonly string[]): string {
  if (type !== "user" && type !== "org") return `${type}:${name}`;
  const [filterType = "", filterName = ""] = repos[0]?.split(":") ?? [];
  const repoType = filterType === "" || filterType.includes("*") ? "dataset" : filterType;
  return `${repoType}:${filterName.startsWith(`${name}/`) && !filterName.includes("*") ? filterName : `${name}/data`}`;
}
