import type { HTTPException } from "hono/http-exception";
import { badRequest, notFound } from "../../error-response.ts";
import { publishChange } from "../../events/publish-change.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { FileChange } from "../../git/content-store.ts";
import { findRenames, formatDiff, mergeTrees } from "../../git/diff.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredDiscussion } from "../../store/discussion-store.ts";
import { mainRef } from "../../store/repository-store.ts";
import {
  addComment,
  type DiscussionTarget,
  type NewDiscussion,
  newEvent,
  type OpenedDiscussion,
  publishOpened,
  publishUpdate,
  pullRequestRef,
  storeDiscussion,
  storeFields,
} from "./discussions.ts";
import { reread } from "./repository-changes.ts";

type Discussed = Pick<DiscussionTarget, "repository" | "discussion">;

interface NewPullRequest extends NewDiscussion {
  /** The changes of the first commit. By default, the pull request has no commits. */
  changes?: readonly FileChange[] | undefined;
  /** The ID of the commit on which the changes are based. Default: the head of the main branch. */
  parent?: string | undefined;
  /** Whether the pull request is a draft. Default `false`. */
  draft?: boolean | undefined;
}

/** Fires `discussion` create, then `repo.content` update with the ref. @throws HTTPException 404 without the parent commit. */
export function openPullRequest(
  context: HubContext,
  { changes = [], parent, draft = false, ...opened }: NewPullRequest,
): OpenedDiscussion & { commit: Commit } {
  const { store, now } = context;
  const { repository, user, title, description } = opened;
  const { content } = store;
  const stored = store.transaction(() => {
    const base = content.resolve(repository.id, parent ?? mainRef);
    if (!base) throw notFound(`The commit "${parent ?? mainRef}" does not exist.`);
    const commit =
      changes.length === 0
        ? base
        : content.createCommit(repository.id, {
            ...{ parents: [base.oid], changes, title, message: description, author: user, date: now() },
          });
    const status = draft ? "draft" : "open";
    const fields = { status, changes: { base: mainRef }, baseCommit: base.oid } as const;
    const pullRequest = storeDiscussion(context, { ...opened, ...fields });
    content.setRefs(repository.id, [{ name: pullRequestRef(pullRequest.discussion), oid: commit.oid }]);
    return { ...pullRequest, commit };
  });
  publishOpened(context, stored);
  publishChange(context, {
    ...{ scope: "repo.content", action: "update", user, before: stored.repository, after: stored.repository },
    updatedRefs: [{ ref: pullRequestRef(stored.discussion), oldSha: null, newSha: stored.commit.oid }],
  });
  return stored;
}

export function findConflicts(hub: HubContext, discussed: Discussed): string[] {
  const { status } = discussed.discussion;
  return status === "open" || status === "draft" ? (prepareMerge(hub, discussed)?.conflicts ?? []) : [];
}

/**
 * Merges a pull request into the main branch with a merge commit. Fires `discussion` update, then `repo.content` update of the main
 * branch. With a comment, the comment is added and fires first.
 *
 * @throws HTTPException 400 if the pull request is not open, has no commits, or has conflicts.
 */
export function mergePullRequest(
  context: HubContext,
  { comment, ...target }: DiscussionTarget & { comment?: string | undefined },
): StoredDiscussion {
  const { store, now } = context;
  const { repository, discussion, user } = target;
  const { content } = store;
  const merge = prepareMerge(context, target);
  if (!discussion.isPullRequest) throw cannotMerge("a discussion cannot be merged. Merge a pull request");
  if (discussion.status !== "open" && discussion.status !== "draft") throw cannotMerge(`it is ${discussion.status}`);
  if (!merge) throw cannotMerge("its ref was deleted");
  if (merge.conflicts.length > 0) {
    throw cannotMerge(`main also changed ${merge.conflicts.slice(0, 5).join(", ")}. Update the pull request`);
  }
  if (merge.changes.length === 0) throw cannotMerge("it changes no files. Push a commit to its ref first");
  if (comment) addComment(context, { ...target, content: comment });
  const stored = store.transaction(() => {
    const merged = content.createCommit(repository.id, {
      ...{ parents: [merge.target.oid, merge.source.oid], changes: merge.changes, author: user, date: now() },
      ...{ title: `${discussion.title} (#${discussion.num})`, message: "" },
    });
    content.setRefs(repository.id, [{ name: mainRef, oid: merged.oid }]);
    const event = { ...newEvent(context, user), type: "status-change", status: "merged" } as const;
    const changes = { base: mainRef, mergeCommitId: merged.oid };
    return {
      commit: merged,
      discussion: storeFields(context, { ...target, event, fields: { status: "merged", changes } }),
    };
  });
  const after = reread(store, repository);
  publishUpdate(context, { repository: after, discussion: stored.discussion, user });
  publishChange(context, {
    ...{ scope: "repo.content", action: "update", user, before: repository, after },
    updatedRefs: [{ ref: mainRef, oldSha: merge.target.oid, newSha: stored.commit.oid }],
  });
  return stored.discussion;
}

/** Returns the changes of a pull request since its base, in git's format. After the ref is deleted, the text is empty. */
export function formatPullRequestDiff({ store }: HubContext, { repository, discussion }: Discussed): string {
  const { content } = store;
  const head = content.resolve(repository.id, pullRequestRef(discussion));
  const base = content.getCommit(repository.id, discussion.baseCommit ?? "");
  return head ? formatDiff(content, findRenames(content.compare(base?.tree, head.tree))) : "";
}

/** Returns the commits to merge with the merged changes, or `undefined` if a ref is missing. */
function prepareMerge({ store }: HubContext, { repository, discussion }: Discussed) {
  const { content } = store;
  const target = content.resolve(repository.id, mainRef);
  const source = content.resolve(repository.id, pullRequestRef(discussion));
  if (!target || !source) return undefined;
  const baseId = content.mergeBase(repository.id, target.oid, source.oid);
  const base = baseId === undefined ? undefined : content.getCommit(repository.id, baseId)?.tree;
  return { target, source, ...mergeTrees(content, { base, target: target.tree, source: source.tree }) };
}

function cannotMerge(reason: string): HTTPException {
  return badRequest(`The pull request cannot be merged: ${reason}.`);
}
