import { WebhookError } from "../../core/errors.ts";
import { deepMerge, editPayload } from "../../payload/edit.ts";
import { samplePayload } from "../../payload/samples.ts";
import { isKnownScope, type KnownScope } from "../../payload/schema.ts";
import { accountId, localUser, ownerOf } from "../accounts.ts";
import { objectIdOf } from "../ids.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { CheckedEvent } from "./event-request.ts";

/** What {@link workOutEvent} needs. */
export interface WorkOutOptions {
  event: CheckedEvent;
  /** The repository before. Default: one that is made for the event. */
  repository?: StoredRepository | undefined;
  /** What the URLs of the payload begin with, without a trailing slash. */
  baseUrl: string;
  newId: () => string;
  newSha: () => string;
}

/** What comes of an event, before any of it is done. */
export interface WorkedOutEvent {
  before: StoredRepository;
  /** `undefined`: the repository is deleted. */
  after: StoredRepository | undefined;
  /** The payload for any webhook, before its edits. */
  payload: Record<string, unknown>;
  /** The payload for a webhook, as it is sent. */
  bodyFor(webhookId: string): string;
}

/**
 * Works out what an event leads to. Changes nothing itself.
 *
 * @throws `ARGUMENT_INVALID` when the event is nested too deeply to be sent, or its edits do not fit.
 */
export function workOutEvent(options: WorkOutOptions): WorkedOutEvent {
  const { event, baseUrl, newId, newSha } = options;
  const before = options.repository ?? newRepository(options);
  try {
    const { payload, repository: after } = happen({ event, repository: before, baseUrl, newSha: newSha() });
    const bodyFor = bodyMaker(payload, event.edits ?? []);
    // What cannot be sent is told now, before anything happens.
    bodyFor(newId());
    return { before, after, payload, bodyFor };
  } catch (error) {
    // The stack ends, some thousand levels down.
    if (!(error instanceof RangeError)) throw error;
    throw new WebhookError("This event is nested too deeply: no payload of the Hub is.", { code: "ARGUMENT_INVALID" });
  }
}

function bodyMaker(payload: object, edits: NonNullable<CheckedEvent["edits"]>): (webhookId: string) => string {
  if (edits.length > 0) {
    return (id) => JSON.stringify(editPayload({ ...payload, webhook: { id, version: 3 } }, edits));
  }
  // Only the last field tells the webhooks apart, so that the rest is written once.
  const begun = JSON.stringify(payload).slice(0, -1);
  return (id) => `${begun},"webhook":{"id":"${id}","version":3}}`;
}

function newRepository({ event, newId, newSha }: WorkOutOptions): StoredRepository {
  const { type, name, private: isPrivate = false } = event.repo;
  const made = { type, name, id: newId(), private: isPrivate, discussions: 0 };
  // A bucket has no commits.
  return type === "bucket" ? made : { ...made, headSha: newSha() };
}

/** What {@link happen} needs. */
export interface HappenOptions {
  event: CheckedEvent;
  /** The repository before. */
  repository: StoredRepository;
  /** Where the local Hub is, without a trailing slash: the URLs of the payload begin with it. */
  baseUrl: string;
  /** A new commit. */
  newSha: string;
}

/** What an event leads to. */
export interface EventOutcome {
  /** What is delivered, but for `webhook`. */
  payload: Record<string, unknown>;
  /** `undefined`: it is deleted. */
  repository: StoredRepository | undefined;
}

/** Works out what the Hub would send of an event, and what becomes of the repository. Changes nothing itself. */
export function happen(options: HappenOptions): EventOutcome {
  const { event, repository, baseUrl } = options;
  const { scope, action } = event.event;
  const known = broadestKnown(scope);
  const after = repositoryAfter(options, known);
  const { type, name } = repository;
  const discussion = discussionOf(options, after);
  const sample = samplePayload({ scope: known, type, name, baseUrl, discussion });
  const facts = {
    event: { scope, action },
    repo: {
      id: after.id,
      private: after.private,
      owner: { id: accountId(ownerOf({ name })) },
      tags: undefined,
      ...(known.startsWith("repo") && { headSha: after.headSha }),
    },
    ...furtherFacts(options, { known, after }),
  };
  // A change that the event does not name is one that the Hub does not report.
  const unreported = known === "repo.config" && { updatedConfig: {} };
  const given = { ...event, webhook: undefined, edits: undefined };
  const payload = deepMerge(deepMerge(sample, facts), { ...unreported, ...given });
  return { payload, repository: scope === "repo" && action === "delete" ? undefined : after };
}

/** A scope that is not known yet has the shape of the broader one: the Hub's documented rule. */
function broadestKnown(scope: string): KnownScope {
  let known = scope;
  while (!isKnownScope(known)) known = known.slice(0, known.lastIndexOf("."));
  return known;
}

function repositoryAfter({ event, repository, newSha }: HappenOptions, known: KnownScope): StoredRepository {
  const after = { ...repository };
  const { scope, action } = event.event;
  if (event.repo.private !== undefined) after.private = event.repo.private;
  // Of an unknown, narrower scope nothing is known but that it is an update.
  if (scope === "repo" && action === "move" && event.movedTo) after.name = event.movedTo.name;
  if (known === "repo.content" && after.headSha !== undefined) {
    after.headSha = event.updatedRefs ? (newHead(event.updatedRefs) ?? after.headSha) : newSha;
  }
  if (known === "repo.config") after.private = event.updatedConfig?.private ?? after.private;
  if (isNewDiscussion(event.event)) after.discussions += 1;
  return after;
}

const mainRef = "refs/heads/main";

function newHead(updatedRefs: readonly { ref: string; newSha: string | null }[]): string | undefined {
  return updatedRefs.find(({ ref }) => ref === mainRef)?.newSha ?? undefined;
}

interface Change {
  known: KnownScope;
  after: StoredRepository;
}

/** What a sample of a scope says of nothing in particular, and this event of this repository. */
function furtherFacts({ event, repository }: HappenOptions, { known, after }: Change): object {
  switch (known) {
    case "repo":
      return event.movedTo ? { movedTo: { owner: { id: accountId(ownerOf(event.movedTo)) } } } : {};
    case "repo.content":
      return after.headSha === undefined
        ? {}
        : { updatedRefs: [{ ref: mainRef, oldSha: repository.headSha, newSha: after.headSha }] };
    case "repo.config":
      return { updatedConfig: undefined };
    case "discussion":
      // A comment comes with a new discussion only.
      return { ...plainDiscussion, ...(!isNewDiscussion(event.event) && { comment: undefined }) };
    case "discussion.comment":
      return plainDiscussion;
  }
}

/** The latest discussion, with ids that stay its own; the comment is a new one, as is the commit. */
function discussionOf({ event, newSha }: HappenOptions, { id, discussions }: StoredRepository) {
  const num = event.discussion?.num ?? Math.max(1, discussions);
  return {
    num,
    id: discussionId({ repositoryId: id, num }),
    commentId: objectIdOf(newSha),
    authorId: accountId(localUser),
  };
}

/** The id of a discussion, which stays its own. */
export function discussionId({ repositoryId, num }: { repositoryId: string; num: number }): string {
  return objectIdOf(`${repositoryId}/${num}`);
}

/** Not a pull request, unless the event says so. */
const plainDiscussion = { discussion: { isPullRequest: false, changes: undefined } };

function isNewDiscussion({ scope, action }: { scope: string; action: string }): boolean {
  return scope === "discussion" && action === "create";
}
