import type { RepositoryPath } from "../../hub/repositories/repository-path.ts";
import { type Caller, getAccountKind } from "../accounts.ts";
import { CodedException } from "../error-response.ts";
import type { HubContext } from "../hub-context.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { checkNamespaceAccess, findRepository } from "./repository-access.ts";

type Hub = Pick<HubContext, "store">;

/**
 * Finds a repository whose discussions the caller can read. To open discussions and to comment, callers need no role in the
 * repository, only a token that can write. With `access` set to `write`, the token is checked.
 *
 * @throws `HTTPException` 404 with the code `RepoNotFound` if the caller cannot read the repository, 403 with the code
 *   `DiscussionsDisabled` if the repository has no discussions, 403 if the token cannot write to the owner's repositories.
 */
export function findDiscussed(
  hub: Hub,
  path: RepositoryPath,
  caller: Caller | undefined,
  access: "read" | "write",
): StoredRepository {
  const repository = findRepository(hub, path, caller, "read");
  if (repository.discussionsDisabled) {
    throw new CodedException(403, {
      code: "DiscussionsDisabled",
      message: "Discussions are disabled for this repository. Enable them in its settings.",
    });
  }
  const isLimited = caller?.tokenRole === "fineGrained" && getAccountKind(path.namespace) === "org";
  if (access === "write" && (!caller || isLimited)) {
    checkNamespaceAccess(hub.store, { caller, namespace: path.namespace });
  }
  return repository;
}

/** The target of a commit. */
interface CommitTarget {
  /** The branch, or the ref of a pull request. */
  rev: string;
  createPullRequest: boolean;
}

/**
 * Finds the repository of a commit. Everybody who can comment can open pull requests and push to their own. Other commits require
 * write access.
 *
 * @throws `HTTPException` in the same cases as {@link findDiscussed}, and 403 if the caller cannot write to the repository.
 */
export function findCommitRepository(
  hub: Hub,
  path: RepositoryPath,
  caller: Caller | undefined,
  { rev, createPullRequest }: CommitTarget,
): StoredRepository {
  if (createPullRequest) return findDiscussed(hub, path, caller, "write");
  const [, num] = /^refs\/pr\/([1-9]\d{0,8})$/.exec(rev) ?? [];
  if (num !== undefined && caller) {
    const repository = findRepository(hub, path, caller, "read");
    const pullRequest = hub.store.discussions.get({ repositoryId: repository.id, num: Number(num) });
    if (pullRequest?.author === caller.user) return findDiscussed(hub, path, caller, "write");
  }
  return findRepository(hub, path, caller, "write");
}
