import { WebhookError } from "../../core/errors.ts";
import { isKnownScope, type KnownScope } from "../../payload/names.ts";
import { deepMerge, editPayload, type PayloadEdit, samplePayload } from "../../payload/samples.ts";
import { accountId, getOwner } from "../accounts.ts";
import type { StoredComment, StoredDiscussion } from "../store/discussion-store.ts";
import type { StoredRepository } from "../store/repository-store.ts";

/** A change of a branch, a tag, or another ref. */
export interface UpdatedRef {
  /** The full name, such as `refs/heads/main`. */
  ref: string;
  /** `null` if the ref was created. */
  oldSha: string | null;
  /** `null` if the ref was deleted. */
  newSha: string | null;
}

/** A file of a bucket that was added, replaced, or deleted. */
export type UpdatedFile =
  | { path: string; action: "add"; xetHash: string; size: number }
  | { path: string; action: "delete" };

type ChangedDiscussion = Pick<StoredDiscussion, "id" | "num" | "title" | "isPullRequest" | "author" | "changes"> & {
  status: string;
  pinned?: boolean;
};

/** A stored change to a repository, which fires one event. */
export interface RepositoryChange {
  scope: string;
  action: string;
  user: string;
  /** The repository before the change. `undefined` if the change created the repository. */
  before: StoredRepository | undefined;
  /** The repository after the change. `undefined` if the change deleted the repository. */
  after: StoredRepository | undefined;
  movedTo?: { name: string } | undefined;
  /** The changed refs of the scope `repo.content`. */
  updatedRefs?: readonly UpdatedRef[] | undefined;
  /** The changed files of the scope `repo.content` of a bucket. */
  updatedFiles?: readonly UpdatedFile[] | undefined;
  /** The settings of the scope `repo.config` that the Hub reports. By default, no settings. */
  updatedConfig?: { private?: boolean | undefined } | undefined;
  /** The discussion of the scope `discussion` and narrower scopes. */
  discussion?: ChangedDiscussion | undefined;
  /** The comment of the scope `discussion.comment`, and of a new discussion. */
  comment?: Pick<StoredComment, "id" | "author" | "content" | "hidden"> | undefined;
  /** Fields that override fields of the payload. */
  overrides?: object | undefined;
  /** Edits of the payload. They affect only the deliveries. */
  edits?: readonly PayloadEdit[] | undefined;
}

/** If the change moved the repository, the result has the previous name. */
export function changedRepository({ before, after }: Pick<RepositoryChange, "before" | "after">): StoredRepository {
  const repository = after ?? before;
  if (!repository) throw new TypeError("A change needs a repository before or after the change.");
  return { ...repository, name: before?.name ?? repository.name };
}

/** Without the field `webhook`, before the edits. @throws `ARGUMENT_INVALID` if the overrides are nested too deeply. */
export function eventPayload(change: RepositoryChange, { hubUrl }: { hubUrl: string }): Record<string, unknown> {
  const { scope, action, discussion, comment, overrides = {} } = change;
  const { type, name, id, private: isPrivate, headSha } = changedRepository(change);
  const knownScope = findKnownScope(scope);
  const sample = samplePayload({
    scope: knownScope,
    type,
    name,
    hubUrl,
    discussion: { num: discussion?.num ?? 1, id: discussion?.id ?? "", commentId: comment?.id ?? "", authorId: "" },
  });
  const facts = {
    event: { scope, action },
    repo: {
      id,
      private: isPrivate,
      owner: { id: accountId(getOwner({ name })) },
      tags: undefined,
      ...(knownScope.startsWith("repo") && { headSha }),
    },
    ...scopeFacts(change, knownScope),
  };
  return rejectDeepNesting(() => deepMerge(deepMerge(sample, facts), { ...overrides, webhook: undefined }));
}

/** Applies the edits. @throws `ARGUMENT_INVALID` if the payload is nested too deeply, or the edits do not fit the payload. */
export function payloadSerializer(
  payload: object,
  { edits = [], createId }: { edits?: readonly PayloadEdit[] | undefined; createId: () => string },
): (webhookId: string) => string {
  return rejectDeepNesting(() => {
    const bodyFor = serializer(payload, edits);
    // If the payload cannot be serialized, this call throws before a webhook fires.
    bodyFor(createId());
    return bodyFor;
  });
}

function serializer(payload: object, edits: readonly PayloadEdit[]): (webhookId: string) => string {
  if (edits.length > 0) return (id) => JSON.stringify(editPayload({ ...payload, webhook: { id, version: 3 } }, edits));
  // The payload is serialized once for all webhooks, because only the last field differs.
  const start = JSON.stringify(payload).slice(0, -1);
  return (id) => `${start},"webhook":{"id":"${id}","version":3}}`;
}

/** Calls a function. Serializing JSON with thousands of levels overflows the stack. */
function rejectDeepNesting<Result>(serialize: () => Result): Result {
  try {
    return serialize();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new WebhookError("The event is nested too deeply to be serialized. Remove nested fields.", {
      code: "ARGUMENT_INVALID",
    });
  }
}

/** Removes subscopes until the scope is known. According to the Hub's documentation, new subscopes extend the broader scope. */
export function findKnownScope(scope: string): KnownScope {
  let known = scope;
  while (!isKnownScope(known)) known = known.slice(0, known.lastIndexOf("."));
  return known;
}

/** Returns the fields of a scope that differ from the sample payload. */
function scopeFacts(change: RepositoryChange, knownScope: KnownScope): object {
  const { movedTo, updatedRefs, updatedFiles, updatedConfig } = change;
  switch (knownScope) {
    case "repo":
      return movedTo ? { movedTo: { name: movedTo.name, owner: { id: accountId(getOwner(movedTo)) } } } : {};
    case "repo.content":
      return { ...(updatedRefs && { updatedRefs }), ...(updatedFiles && listFiles(updatedFiles)) };
    case "repo.config":
      // Merging would keep the settings of the sample.
      return { updatedConfig: { private: undefined, ...updatedConfig } };
    case "discussion":
    case "discussion.comment":
      return discussionFacts(change);
  }
}

const maxListedFiles = 10_000;

function listFiles(files: readonly UpdatedFile[]): object {
  if (files.length <= maxListedFiles) return { updatedFiles: files };
  return { updatedFiles: files.slice(0, maxListedFiles), updatedFilesTruncated: true };
}

function discussionFacts({ discussion, comment }: RepositoryChange): object {
  return {
    ...(discussion && {
      discussion: {
        ...{ id: discussion.id, num: discussion.num, title: discussion.title, status: discussion.status },
        isPullRequest: discussion.isPullRequest,
        author: { id: accountId(discussion.author) },
        ...(discussion.pinned && { pinned: true }),
        changes: discussion.changes,
      },
    }),
    comment: comment && {
      id: comment.id,
      author: { id: accountId(comment.author) },
      hidden: comment.hidden,
      content: comment.hidden ? undefined : comment.content,
    },
  };
}
