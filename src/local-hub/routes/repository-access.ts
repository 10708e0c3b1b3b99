import { HTTPException } from "hono/http-exception";
import { type RepositoryPath, toRepoRef } from "../../hub/repositories/repository-path.ts";
import { canReadPrivate } from "../access.ts";
import { type Caller, getAccountKind, getOwner, localUser } from "../accounts.ts";
import { CodedException } from "../error-response.ts";
import type { Commit } from "../git/commit-store.ts";
import type { HubContext } from "../hub-context.ts";
import { mainRef } from "../repository-content.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { tokenMissing } from "./authentication.ts";

/** A read of a repository by a previous name, which is answered with a redirect. */
export class RepositoryMovedException extends HTTPException {
  readonly #from: string;
  readonly #to: string;

  constructor({ from, to }: { from: string; to: string }) {
    super(307, { message: `The repository was moved to "${to}".` });
    this.#from = from;
    this.#to = to;
  }

  /** Returns the path and the query of a request with the new name. */
  locate(url: string): string {
    const { pathname, search } = new URL(url);
    return `${pathname.replace(`/${this.#from}`, `/${this.#to}`)}${search}`;
  }
}

/**
 * Finds the repository of a request and checks the caller's access to it. A write can use a previous name of a moved repository.
 *
 * @throws `HTTPException` 404 with the code `RepoNotFound` if the repository does not exist or the caller cannot read it, 307 for a
 *   read by a previous name, 401 if a write has no token, 403 if the caller cannot write to the repository.
 */
export function findRepository(
  { store }: Pick<HubContext, "store">,
  path: RepositoryPath,
  caller: Caller | undefined,
  access: "read" | "write",
): StoredRepository {
  const ref = toRepoRef(path);
  const current = store.repositories.get(ref);
  const repository = current ?? store.repositories.findMoved(ref);
  if (!repository || !canRead(store, { repository, caller })) throw repositoryNotFound();
  if (!current && access === "read") throw new RepositoryMovedException({ from: ref.name, to: repository.name });
  if (access === "write") checkNamespaceAccess(store, { caller, namespace: getOwner(repository) });
  return repository;
}

/**
 * Finds the commit of a revision: a branch, a tag, a ref such as `refs/pr/1`, the ID of a commit, or `HEAD`.
 *
 * @throws `HTTPException` 404 with the code `RevisionNotFound` if the repository does not have the revision.
 */
export function findCommit({ store }: Pick<HubContext, "store">, { id }: StoredRepository, rev: string): Commit {
  const commit = store.content.resolve(id, rev === "HEAD" ? mainRef : rev);
  if (commit) return commit;
  throw new CodedException(404, { code: "RevisionNotFound", message: `Invalid rev id: ${rev}` });
}

/** Whether a caller can read a repository. */
export function canRead(
  store: Store,
  { repository, caller }: { repository: StoredRepository; caller: Caller | undefined },
): boolean {
  if (!repository.private) return true;
  if (!caller) return false;
  const owner = getOwner(repository);
  return !isRevoked(store, { caller, owner }) && canReadPrivate(store, { user: caller.user, owner });
}

/**
 * Checks that a caller can create and change repositories of a user or an organization. Unknown namespaces belong to the developer.
 *
 * @throws `HTTPException` 401 without a caller, 403 if the caller cannot write.
 */
export function checkNamespaceAccess(
  store: Store,
  { caller, namespace }: { caller: Caller | undefined; namespace: string },
): void {
  if (!caller) throw tokenMissing();
  if (caller.tokenRole === "read") {
    throw new HTTPException(403, { message: "This token has read access only. Use hf_local to write." });
  }
  if (caller.user === namespace) return;
  const kind = getAccountKind(namespace);
  if (kind === undefined && caller.user === localUser) return;
  if (kind === "org" && caller.tokenRole === "fineGrained") {
    throw new HTTPException(403, { message: `This token cannot write to "${namespace}". Use the token hf_local.` });
  }
  const role = store.members.get({ owner: namespace, id: caller.user })?.role ?? "";
  if (["admin", "write", "contributor"].includes(role) && !isRevoked(store, { caller, owner: namespace })) return;
  throw new HTTPException(403, {
    message: `You don't have the rights to write to "${namespace}". Use the token of a member with the role write.`,
  });
}

/** Creates the error for a repository that does not exist, or that the caller cannot read. */
export function repositoryNotFound(): CodedException {
  return new CodedException(404, { code: "RepoNotFound", message: "Repository not found" });
}

function isRevoked(store: Store, { caller, owner }: { caller: Caller; owner: string }): boolean {
  return store.revocations.get({ owner, id: caller.tokenId }) !== undefined;
}
