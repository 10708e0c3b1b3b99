import { sampleTexts } from "../../payload/samples.ts";
import { localUser } from "../accounts.ts";
import { deriveId } from "../ids.ts";
import { mainRef } from "../repository-content.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { eventPayload, findKnownScope, payloadSerializer } from "./event-payload.ts";
import type { ParsedEvent } from "./event-request.ts";
import type { RepositoryChange } from "./repository-change.ts";

interface RecordOptions {
  event: ParsedEvent;
  /** The repository before the event. */
  repository: StoredRepository;
  /** The ID of the new commit. */
  newSha: string;
}

/**
 * Returns the change that an event describes, with invented commits and discussions. Use this function for repositories whose
 * content is not stored, and for events of parts that the local Hub does not store.
 */
export function describeRecordedEvent(options: RecordOptions): RepositoryChange {
  const { event, repository } = options;
  const { scope, action } = event.event;
  const after = updateRepository(options);
  return {
    ...{ scope, action, user: localUser, before: repository },
    after: scope === "repo" && action === "delete" ? undefined : after,
    ...scopeFields(options, after),
    overrides: overridesOf(event),
    edits: event.edits,
  };
}

/** Returns the fields of an event that override fields of the payload. */
export function overridesOf(event: ParsedEvent): object {
  return { ...event, webhook: undefined, edits: undefined };
}

function updateRepository({ event, repository, newSha }: RecordOptions): StoredRepository {
  const after = { ...repository };
  const { scope, action } = event.event;
  const knownScope = findKnownScope(scope);
  if (event.repo.private !== undefined) after.private = event.repo.private;
  // Compare the exact scope, because an unknown subscope of `repo` is an update.
  if (scope === "repo" && action === "move" && event.movedTo) after.name = event.movedTo.name;
  if (knownScope === "repo.content" && after.headSha !== undefined) {
    after.headSha = event.updatedRefs ? (findNewHead(event.updatedRefs) ?? after.headSha) : newSha;
  }
  if (knownScope === "repo.config") after.private = event.updatedConfig?.private ?? after.private;
  if (scope === "discussion" && action === "create") after.discussions += 1;
  return after;
}

/** Returns the new head commit of the main branch, if the event contains one. */
export function findNewHead(updatedRefs: NonNullable<ParsedEvent["updatedRefs"]>): string | undefined {
  return updatedRefs.find(({ ref }) => ref === mainRef)?.newSha ?? undefined;
}

function scopeFields({ event, repository, newSha }: RecordOptions, after: StoredRepository): Partial<RepositoryChange> {
  const { scope, action } = event.event;
  const knownScope = findKnownScope(scope);
  switch (knownScope) {
    case "repo.content":
      return after.headSha === undefined
        ? {}
        : { updatedRefs: [{ ref: mainRef, oldSha: repository.headSha ?? null, newSha: after.headSha }] };
    case "repo.config":
      return { updatedConfig: event.updatedConfig };
    case "discussion":
    case "discussion.comment": {
      const num = event.discussion?.num ?? Math.max(1, after.discussions);
      // Only a new discussion includes its first comment.
      const hasComment = knownScope === "discussion.comment" || (scope === "discussion" && action === "create");
      return {
        discussion: {
          ...{ num, id: discussionId({ repositoryId: repository.id, num }), title: sampleTexts.title, status: "open" },
          ...{ isPullRequest: false, author: localUser },
        },
        ...(hasComment && {
          comment: { id: deriveId(newSha), author: localUser, content: sampleTexts.content, hidden: false },
        }),
      };
    }
    case "repo":
      return { movedTo: event.movedTo };
  }
}

/** Returns the ID of a discussion. The ID depends only on the repository and the number. */
export function discussionId({ repositoryId, num }: { repositoryId: string; num: number }): string {
  return deriveId(`${repositoryId}/${num}`);
}

/** Returns a repository that an event mentions but that does not exist. */
function inventRepository(
  { repo: { type, name, private: isPrivate = false } }: ParsedEvent,
  { createId, createSha, now }: { createId: () => string; createSha: () => string; now: number },
): StoredRepository {
  return {
    ...{ type, name, id: createId(), private: isPrivate, discussions: 0, createdAt: now, lastModified: now },
    ...{ gated: false, discussionsDisabled: false },
    // Buckets have no commits.
    ...(type !== "bucket" && { headSha: createSha() }),
  };
}

/**
 * Serializes the payload of an event on a new repository, without a local Hub.
 *
 * @throws `ARGUMENT_INVALID` if the event is nested too deeply, or the edits do not fit the payload.
 */
export function serializeEvent(
  event: ParsedEvent,
  { hubUrl, createId, createSha }: { hubUrl: string; createId: () => string; createSha: () => string },
): (webhookId: string) => string {
  const repository = inventRepository(event, { createId, createSha, now: 0 });
  const change = describeRecordedEvent({ event, repository, newSha: createSha() });
  return payloadSerializer(eventPayload(change, { hubUrl }), { edits: event.edits ?? [], createId });
}
