import type * as z from "zod/mini";
import type { commitResult } from "../../../hub/repositories/commits.ts";
import { CodedException } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { commitChanges } from "./commit-changes.ts";
import { openPullRequest } from "./pull-requests.ts";
import { toFileChanges } from "./upload-changes.ts";
import type { UploadedCommit } from "./upload-lines.ts";

interface CommitRequest extends UploadedCommit {
  repository: StoredRepository;
  /** The branch, or the ref of a pull request. */
  rev: string;
  createPullRequest: boolean;
  /** The name of the user. */
  user: string;
}

/**
 * Makes a commit that a client uploaded, on a branch or in a new pull request.
 *
 * @throws HTTPException 404 if the branch does not exist, 412 if the parent is not the head of the branch, 400 if an operation is
 *   invalid.
 */
export function makeUploadedCommit(hub: HubContext, request: CommitRequest): z.output<typeof commitResult> {
  const { repository, rev, createPullRequest, user, operations } = request;
  const { content } = hub.store;
  const { summary: title, description: message } = request.header;
  const ref = rev.startsWith("refs/") ? rev : `refs/heads/${rev}`;
  const parentId = request.header.parentCommit ?? undefined;
  // Short IDs of parents are allowed.
  const parent = parentId === undefined ? undefined : (content.resolve(repository.id, parentId)?.oid ?? parentId);
  const base = content.resolve(repository.id, createPullRequest ? (parent ?? rev) : ref);
  if (!base) throw new CodedException(404, { code: "RevisionNotFound", message: `Invalid rev id: ${rev}` });
  const changes = toFileChanges(content, { repositoryId: repository.id, tree: base.tree }, operations);
  if (!createPullRequest) {
    const { commit } = commitChanges(hub, { repository, ref, changes, title, message, user, parent });
    return toResult(hub, { repository, oid: commit.oid });
  }
  const opened = { repository, user, title, description: message, changes, parent: base.oid };
  const { commit, discussion } = openPullRequest(hub, opened);
  const pullRequestUrl = `${repositoryUrl(hub, repository)}/discussions/${discussion.num}`;
  return { ...toResult(hub, { repository, oid: commit.oid }), pullRequestUrl };
}

function toResult(hub: HubContext, { repository, oid }: { repository: StoredRepository; oid: string }) {
  return {
    success: true,
    commitOid: oid,
    commitUrl: `${repositoryUrl(hub, repository)}/commit/${oid}`,
    hookOutput: "",
  };
}

function repositoryUrl({ hubUrl }: HubContext, { type, name }: StoredRepository): string {
  return `${hubUrl}/${type === "model" ? "" : `${type}s/`}${name}`;
}
