import { HTTPException } from "hono/http-exception";
import { noResult, publishChange, type TriggerResult } from "../../events/publish-change.ts";
import type { UpdatedRef } from "../../events/repository-change.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { FileChange } from "../../git/content-store.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { reread } from "./repository-changes.ts";

export interface NewCommit {
  repository: StoredRepository;
  /** The full name of the branch, such as `refs/heads/main` or `refs/pr/1`. */
  ref: string;
  changes: readonly FileChange[];
  title: string;
  /** The description. */
  message: string;
  /** The name of the author. */
  user: string;
  /** The ID of the commit that must be the head of the branch. By default, the commit is added to any head. */
  parent?: string | undefined;
}

/**
 * Adds a commit to a branch. Fires `repo.content` update. If the changes result in the same files, the function makes no commit,
 * fires nothing, and returns the current head, as on the Hub.
 *
 * @throws HTTPException 404 if the branch does not exist, 412 if `parent` is not its head. `ARGUMENT_INVALID` if the changes are
 *   invalid.
 */
export function commitChanges(context: HubContext, commit: NewCommit): { commit: Commit; result: TriggerResult } {
  const { repository, ref, changes, title, message, user, parent } = commit;
  const { store, now } = context;
  const { content } = store;
  const stored = store.transaction((rollBack) => {
    const head = content.resolve(repository.id, ref);
    if (!head) throw missing(`The branch "${ref}" does not exist. Create the branch first.`);
    if (parent !== undefined && parent !== head.oid) {
      throw new HTTPException(412, {
        message: `The head of "${ref}" is ${head.oid}, not ${parent}. Read the current files, and commit again.`,
      });
    }
    const made = content.createCommit(repository.id, {
      ...{ parents: [head.oid], changes, title, message, author: user, date: now() },
    });
    const isUnchanged = made.tree === head.tree;
    if (isUnchanged) rollBack();
    else content.setRefs(repository.id, [{ name: ref, oid: made.oid }]);
    return { commit: isUnchanged ? head : made, isUnchanged, oldSha: head.oid };
  });
  if (stored.isUnchanged) return { commit: stored.commit, result: noResult() };
  const updatedRefs = [{ ref, oldSha: stored.oldSha, newSha: stored.commit.oid }];
  return { commit: stored.commit, result: publishRefs(context, { repository, user, updatedRefs }) };
}

export interface NewRef {
  repository: StoredRepository;
  /** The short name, such as `dev` or `v1.0`. */
  name: string;
  /** The ID of the commit. */
  commit: string;
  /** The name of the user. */
  user: string;
  /** Whether an existing branch is moved to the commit. Default `false`. */
  overwrite?: boolean | undefined;
}

/**
 * Creates a branch. Fires `repo.content` update, unless the branch already has the commit.
 *
 * @throws HTTPException 409 if the branch exists and `overwrite` is `false`.
 */
export function createBranch(context: HubContext, branch: NewRef): TriggerResult {
  return createRef(context, { ...branch, kind: "branch" });
}

/**
 * Creates a tag. Fires `repo.content` update.
 *
 * @throws HTTPException 409 if the tag exists.
 */
export function createTag(context: HubContext, tag: Omit<NewRef, "overwrite">): TriggerResult {
  return createRef(context, { ...tag, kind: "tag" });
}

interface RefName {
  repository: StoredRepository;
  /** The short name. */
  name: string;
  /** The name of the user. */
  user: string;
}

/**
 * Deletes a branch. Fires `repo.content` update.
 *
 * @throws HTTPException 404 if the branch does not exist, 403 for the main branch.
 */
export function deleteBranch(context: HubContext, branch: RefName): TriggerResult {
  if (branch.name === "main") {
    throw new HTTPException(403, { message: "The main branch cannot be deleted. Delete another branch." });
  }
  return deleteRef(context, { ...branch, kind: "branch" });
}

/**
 * Deletes a tag. Fires `repo.content` update.
 *
 * @throws HTTPException 404 if the tag does not exist.
 */
export function deleteTag(context: HubContext, tag: RefName): TriggerResult {
  return deleteRef(context, { ...tag, kind: "tag" });
}

type RefKind = "branch" | "tag";

const prefixes: Readonly<Record<RefKind, string>> = { branch: "refs/heads/", tag: "refs/tags/" };

function createRef(
  context: HubContext,
  { kind, name, repository, ...options }: NewRef & { kind: RefKind },
): TriggerResult {
  const { commit, overwrite = false, user } = options;
  const { content } = context.store;
  checkName(kind, name);
  const ref = `${prefixes[kind]}${name}`;
  const oldSha = content.getRef(repository.id, ref) ?? null;
  if (oldSha !== null && !overwrite) {
    throw new HTTPException(409, { message: `The ${kind} "${name}" already exists. Choose another name.` });
  }
  return updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha, newSha: commit }] });
}

function deleteRef(context: HubContext, { kind, name, repository, user }: RefName & { kind: RefKind }): TriggerResult {
  const ref = `${prefixes[kind]}${name}`;
  const oldSha = context.store.content.getRef(repository.id, ref);
  if (oldSha === undefined) throw missing(`The ${kind} "${name}" does not exist.`);
  return updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha, newSha: null }] });
}

interface RefChanges {
  repository: StoredRepository;
  /** The name of the user. */
  user: string;
  updatedRefs: readonly UpdatedRef[];
}

/** Stores changed refs. Fires `repo.content` update, unless all refs already have their new commits. */
export function updateRefs(context: HubContext, { repository, user, updatedRefs }: RefChanges): TriggerResult {
  const changed = updatedRefs.filter(({ oldSha, newSha }) => oldSha !== newSha);
  if (changed.length === 0) return noResult();
  const { store } = context;
  store.transaction(() =>
    store.content.setRefs(
      repository.id,
      changed.map(({ ref, newSha }) => ({ name: ref, oid: newSha })),
    ),
  );
  return publishRefs(context, { repository, user, updatedRefs: changed });
}

/** Publishes changed refs that were stored. */
function publishRefs(context: HubContext, { repository, user, updatedRefs }: RefChanges): TriggerResult {
  return publishChange(context, {
    ...{ scope: "repo.content", action: "update", user, updatedRefs },
    ...{ before: repository, after: reread(context.store, repository) },
  });
}

/** Checks a name by the rules of git. */
function checkName(kind: RefKind, name: string): void {
  const isInvalid =
    /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[/.-]|[/.]$|\/\.|\.lock(\/|$)/u.test(name) || name === "" || name === "@";
  if (!isInvalid) return;
  throw new HTTPException(400, {
    message: `"${name}" is not a valid name of a ${kind}. Use letters, digits, ".", "_", "-", and "/".`,
  });
}

function missing(message: string): HTTPException {
  return new HTTPException(404, { message });
}
