import { WebhookError } from "../../core/errors.ts";
import { deepMerge, editPayload } from "../../payload/edit.ts";
import { samplePayload } from "../../payload/samples.ts";
import { isKnownScope, type KnownScope } from "../../payload/schema.ts";
import { accountId, getOwner, localUser } from "../accounts.ts";
import { deriveId } from "../ids.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { ParsedEvent } from "./event-request.ts";

export interface ResolveOptions {
  event: ParsedEvent;
  /** The repository before the event. Default: a new repository. */
  repository?: StoredRepository | undefined;
  /** The origin of the URLs in the payload, without a trailing slash. */
  hubUrl: string;
  createId: () => string;
  createSha: () => string;
}

/** The effects of an event. */
export interface ResolvedEvent {
  before: StoredRepository;
  /** `undefined` if the event deletes the repository. */
  after: StoredRepository | undefined;
  /** The payload without the field `webhook`, before the edits. */
  payload: Record<string, unknown>;
  /** Applies the edits to the payload, and serializes the payload for a webhook. */
  bodyFor(webhookId: string): string;
}

/**
 * Computes the payload of an event and its effect on the repository. Stores nothing.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit the payload.
 */
export function resolveEvent(options: ResolveOptions): ResolvedEvent {
  const { event, hubUrl, createId, createSha } = options;
  const before = options.repository ?? newRepository(options);
  try {
    const { payload, repository: after } = applyEvent({ event, repository: before, hubUrl, newSha: createSha() });
    const bodyFor = bodySerializer(payload, event.edits ?? []);
    // If the payload cannot be serialized, this call throws before anything is stored.
    bodyFor(createId());
    return { before, after, payload, bodyFor };
  } catch (error) {
    // Serializing JSON with thousands of levels overflows the stack.
    if (!(error instanceof RangeError)) throw error;
    throw new WebhookError("The event is nested too deeply to be serialized. Remove nested fields.", {
      code: "ARGUMENT_INVALID",
    });
  }
}

function bodySerializer(payload: object, edits: NonNullable<ParsedEvent["edits"]>): (webhookId: string) => string {
  if (edits.length > 0) {
    return (id) => JSON.stringify(editPayload({ ...payload, webhook: { id, version: 3 } }, edits));
  }
  // The payload is serialized once for all webhooks, because only the last field differs.
  const start = JSON.stringify(payload).slice(0, -1);
  return (id) => `${start},"webhook":{"id":"${id}","version":3}}`;
}

function newRepository({ event, createId, createSha }: ResolveOptions): StoredRepository {
  const { type, name, private: isPrivate = false } = event.repo;
  const repository = { type, name, id: createId(), private: isPrivate, discussions: 0 };
  // Buckets have no commits.
  return type === "bucket" ? repository : { ...repository, headSha: createSha() };
}

interface ApplyOptions {
  event: ParsedEvent;
  /** The repository before the event. */
  repository: StoredRepository;
  hubUrl: string;
  /** The ID of the new commit. */
  newSha: string;
}

function applyEvent(options: ApplyOptions): Pick<ResolvedEvent, "payload"> & {
  repository: StoredRepository | undefined;
} {
  const { event, repository, hubUrl } = options;
  const { scope, action } = event.event;
  const knownScope = findKnownScope(scope);
  const after = updateRepository(options, knownScope);
  const { type, name } = repository;
  const discussion = discussionIds(options, after);
  const sample = samplePayload({ scope: knownScope, type, name, hubUrl, discussion });
  const facts = {
    event: { scope, action },
    repo: {
      id: after.id,
      private: after.private,
      owner: { id: accountId(getOwner({ name })) },
      tags: undefined,
      ...(knownScope.startsWith("repo") && { headSha: after.headSha }),
    },
    ...scopeFacts(options, { knownScope, after }),
  };
  // The payload contains only changed settings. If the event has no settings, `updatedConfig` is empty.
  const noChange = knownScope === "repo.config" && { updatedConfig: {} };
  const given = { ...event, webhook: undefined, edits: undefined };
  const payload = deepMerge(deepMerge(sample, facts), { ...noChange, ...given });
  return { payload, repository: scope === "repo" && action === "delete" ? undefined : after };
}

/** Removes subscopes until the scope is known. According to the Hub's documentation, new subscopes extend the broader scope. */
function findKnownScope(scope: string): KnownScope {
  let known = scope;
  while (!isKnownScope(known)) known = known.slice(0, known.lastIndexOf("."));
  return known;
}

function updateRepository({ event, repository, newSha }: ApplyOptions, knownScope: KnownScope): StoredRepository {
  const after = { ...repository };
  const { scope, action } = event.event;
  if (event.repo.private !== undefined) after.private = event.repo.private;
  // Compare the exact scope, because an unknown subscope of `repo` is an update.
  if (scope === "repo" && action === "move" && event.movedTo) after.name = event.movedTo.name;
  if (knownScope === "repo.content" && after.headSha !== undefined) {
    after.headSha = event.updatedRefs ? (findNewHead(event.updatedRefs) ?? after.headSha) : newSha;
  }
  if (knownScope === "repo.config") after.private = event.updatedConfig?.private ?? after.private;
  if (isNewDiscussion(event.event)) after.discussions += 1;
  return after;
}

const mainRef = "refs/heads/main";

function findNewHead(updatedRefs: readonly { ref: string; newSha: string | null }[]): string | undefined {
  return updatedRefs.find(({ ref }) => ref === mainRef)?.newSha ?? undefined;
}

/** Returns the fields of a scope that differ from the sample payload. */
function scopeFacts(
  { event, repository }: ApplyOptions,
  { knownScope, after }: { knownScope: KnownScope; after: StoredRepository },
): object {
  switch (knownScope) {
    case "repo":
      return event.movedTo ? { movedTo: { owner: { id: accountId(getOwner(event.movedTo)) } } } : {};
    case "repo.content":
      return after.headSha === undefined
        ? {}
        : { updatedRefs: [{ ref: mainRef, oldSha: repository.headSha, newSha: after.headSha }] };
    case "repo.config":
      return { updatedConfig: undefined };
    case "discussion":
      // Only a new discussion includes its first comment.
      return { ...plainDiscussion, ...(!isNewDiscussion(event.event) && { comment: undefined }) };
    case "discussion.comment":
      return plainDiscussion;
  }
}

/**
 * Returns the discussion of the event, or the latest discussion by default. The ID of the discussion is stable, and the ID of the
 * comment is new.
 */
function discussionIds({ event, newSha }: ApplyOptions, { id, discussions }: StoredRepository) {
  const num = event.discussion?.num ?? Math.max(1, discussions);
  return {
    num,
    id: discussionId({ repositoryId: id, num }),
    commentId: deriveId(newSha),
    authorId: accountId(localUser),
  };
}

/** Returns the ID of a discussion. The ID depends only on the repository and the number. */
export function discussionId({ repositoryId, num }: { repositoryId: string; num: number }): string {
  return deriveId(`${repositoryId}/${num}`);
}

/** Overrides the discussion in the sample payload, which is a pull request. */
const plainDiscussion = { discussion: { isPullRequest: false, changes: undefined } };

function isNewDiscussion({ scope, action }: { scope: string; action: string }): boolean {
  return scope === "discussion" && action === "create";
}
