import { HTTPException } from "hono/http-exception";
import { type RepositoryPath, toRepoRef } from "../../hub/repositories/repository-path.ts";
import type { KnownRepoRef } from "../../hub/schemas.ts";
import { canReadPrivate } from "../access.ts";
import { type Caller, getAccountKind, getOwner, localUser, toAccountName } from "../accounts.ts";
import { CodedException, forbidden } from "../error-response.ts";
import type { Commit } from "../git/commit-store.ts";
import type { HubContext } from "../hub-context.ts";
import { mainRef, type StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { tokenMissing } from "./route.ts";

type Hub = Pick<HubContext, "store">;
type AnyCaller = Caller | undefined;
type Access = "read" | "write";

/** A read of a repository by a previous name, which is answered with a redirect. */
export class RepositoryMovedException extends HTTPException {
  /** Returns the path and the query of a request with the new name. */
  readonly locate: (url: string) => string;

  constructor({ from, to }: { from: string; to: string }) {
    super(307, { message: `The repository was moved to "${to}".` });
    this.locate = (url) => {
      const { pathname, search } = new URL(url);
      return `${pathname.replace(`/${from}`, `/${to}`)}${search}`;
    };
  }
}

/**
 * Finds the repository of a request and checks the caller's access to it. A write can use a previous name of a moved repository.
 *
 * @throws `HTTPException` 404 with the code `RepoNotFound` if the repository does not exist or the caller cannot read it (401 without a token), 307 for a
 *   read by a previous name, 401 if a write has no token, 403 if the caller cannot write to the repository.
 */
export function findRepository(hub: Hub, path: RepositoryPath, caller: AnyCaller, access: Access): StoredRepository {
  return findByName(hub, toRepoRef(path), caller, access);
}

export function findByName({ store }: Hub, ref: KnownRepoRef, caller: AnyCaller, access: Access): StoredRepository {
  const current = store.repositories.get(ref);
  const repository = current ?? store.repositories.findMoved(ref);
  if (!repository || !canRead(store, repository, caller)) throw repositoryNotFound(caller);
  if (!current && access === "read") throw new RepositoryMovedException({ from: ref.name, to: repository.name });
  if (access === "write") checkNamespaceAccess(store, caller, getOwner(repository));
  return repository;
}

/** `rev` is a branch, a tag, a ref such as `refs/pr/1`, the ID of a commit, or `HEAD`. @throws like {@link revisionNotFound}. */
export function findCommit({ store }: Hub, { id }: StoredRepository, rev: string): Commit {
  const commit = store.content.resolve(id, rev === "HEAD" ? mainRef : rev);
  if (commit) return commit;
  throw revisionNotFound(rev);
}

export function repositoryUrl({ type, name }: KnownRepoRef, { hubUrl }: { hubUrl: string }): string {
  return type === "model" ? `${hubUrl}/${name}` : `${hubUrl}/${type}s/${name}`;
}

export function canRead(store: Store, repository: StoredRepository, caller: AnyCaller): boolean {
  if (!repository.private) return true;
  if (!caller) return false;
  const owner = getOwner(repository);
  return !isRevoked(store, caller, owner) && canReadPrivate(store, caller.user, owner);
}

/** @throws `HTTPException` 403 with the code `GatedRepo` if only members of the owner can read the files. */
export function checkGate(store: Store, repository: StoredRepository, caller: AnyCaller): void {
  if (!repository.gated || canRead(store, { ...repository, private: true }, caller)) return;
  const message = `The files of "${repository.name}" are gated. Use the token of its owner: the local Hub grants no access requests.`;
  throw new CodedException(403, { code: "GatedRepo", message });
}

/** Unknown namespaces belong to the developer. @throws `HTTPException` 401 without a caller, 403 if the caller cannot write. */
export function checkNamespaceAccess(store: Store, caller: AnyCaller, given: string): void {
  const namespace = toAccountName(given);
  if (!caller) throw tokenMissing();
  if (caller.tokenRole === "read") throw forbidden("This token has read access only. Use hf_local to write.");
  if (caller.user === namespace) return;
  const kind = getAccountKind(namespace);
  if (kind === undefined && caller.user === localUser) return;
  if (kind === "org" && caller.tokenRole === "fineGrained") {
    throw forbidden(`This token cannot write to "${namespace}". Use the token hf_local.`);
  }
  const role = store.members.get({ owner: namespace, id: caller.user })?.role ?? "";
  if (["admin", "write", "contributor"].includes(role) && !isRevoked(store, caller, namespace)) return;
  throw forbidden(
    `You don't have the rights to write to "${namespace}". Use the token of a member with the role write.`,
  );
}

/** Without a token, the status is 401 for missing and private repositories, as on the Hub. */
function repositoryNotFound(caller: AnyCaller): CodedException {
  const code = "RepoNotFound";
  if (caller) return new CodedException(404, { code, message: "Repository not found" });
  const message =
    'Repository not found. If it is private, send "Authorization: Bearer TOKEN" with a token of its owner.';
  return new CodedException(401, { code, message });
}

export function revisionNotFound(rev: string): CodedException {
  return new CodedException(404, { code: "RevisionNotFound", message: `Invalid rev id: ${rev}` });
}

function isRevoked(store: Store, caller: Caller, owner: string): boolean {
  return store.revocations.get({ owner, id: caller.tokenId }) !== undefined;
}

/**
 * Finds a repository whose discussions the caller can read. To open discussions and to comment, callers need no role in the
 * repository, only a token that can write. With `access` set to `write`, the token is checked.
 *
 * @throws `HTTPException` 404 with the code `RepoNotFound` if the caller cannot read the repository, 403 with the code
 *   `DiscussionsDisabled` if the repository has no discussions, 403 if the token cannot write to the owner's repositories.
 */
export function findDiscussed(hub: Hub, path: RepositoryPath, caller: AnyCaller, access: Access): StoredRepository {
  const repository = findRepository(hub, path, caller, "read");
  if (repository.discussionsDisabled) {
    throw new CodedException(403, {
      code: "DiscussionsDisabled",
      message: "Discussions are disabled for this repository. Enable them in its settings.",
    });
  }
  const namespace = getOwner(repository);
  const isLimited = caller?.tokenRole === "fineGrained" && getAccountKind(namespace) === "org";
  if (access === "write" && (!caller || isLimited)) checkNamespaceAccess(hub.store, caller, namespace);
  return repository;
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
  caller: AnyCaller,
  { rev, createPullRequest }: { rev: string; createPullRequest: boolean },
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
