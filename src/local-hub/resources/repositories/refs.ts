import { HTTPException } from "hono/http-exception";
import { branchCreation, historySquash, refChanges, tagCreation } from "../../../hub/repositories/administration.ts";
import { refOperations, repositoryRefs } from "../../../hub/repositories/contents.ts";
import { badRequest, forbidden } from "../../error-response.ts";
import { publishChange } from "../../events/publish-change.ts";
import type { UpdatedRef } from "../../events/repository-change.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { FileChange } from "../../git/content-store.ts";
import type { HubContext } from "../../hub-context.ts";
import { findCommit, findRepository, revisionNotFound } from "../../routes/repository-access.ts";
import { describeRoutes, movedRedirect, type ResourceApi, serveRoute } from "../../routes/route.ts";
import { mainRef, type StoredRepository } from "../../store/repository-store.ts";
import { reread } from "./repository-changes.ts";

const refRoutes = describeRoutes({ ...refOperations, ...refChanges }, "repos", {
  list: {
    token: "optional",
    success: "The refs.",
    redirect: movedRedirect("repository"),
  },
  createBranch: { success: "The branch was created.", errors: ["conflict"] },
  deleteBranch: { success: "The branch was deleted." },
  createTag: { success: "The tag was created.", errors: ["conflict"] },
  deleteTag: { success: "The tag was deleted." },
  squash: { success: "The branch has one commit." },
});

export const refApi = {
  routes: refRoutes,
  components: {
    BranchCreation: branchCreation,
    HistorySquash: historySquash,
    RepositoryRefs: repositoryRefs,
    TagCreation: tagCreation,
  },
  serve(app, hub) {
    serveRoute(app, refRoutes.list, ({ params, query }, context) => {
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      const refs = hub.store.content.refs(repository.id);
      const withPrefix = (prefix: string) =>
        refs
          .filter(({ name }) => name.startsWith(prefix))
          .map(({ name, oid }) => ({ name: name.slice(prefix.length), ref: name, targetCommit: oid }));
      return {
        branches: withPrefix("refs/heads/"),
        tags: withPrefix("refs/tags/"),
        converts: withPrefix("refs/convert/"),
        ...(query.include_prs && { pullRequests: withPrefix("refs/pr/") }),
      };
    });

    serveRoute(app, refRoutes.createBranch, ({ params, body }, context) => {
      const { user } = context.var.caller;
      const repository = findRepository(hub, params, context.var.caller, "write");
      const { startingPoint = "main", emptyBranch, overwrite } = body;
      const { oid } = emptyBranch
        ? hub.store.content.createCommit(repository.id, {
            ...{ parents: [], changes: [] },
            ...{ title: "initial commit", message: "", author: user, date: hub.now() },
          })
        : findCommit(hub, repository, startingPoint);
      createRef(hub, { kind: "branch", repository, name: params.rev, commit: oid, user, overwrite });
    });

    serveRoute(app, refRoutes.deleteBranch, ({ params }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      deleteRef(hub, { kind: "branch", repository, name: params.rev, user: context.var.caller.user });
    });

    serveRoute(app, refRoutes.createTag, ({ params, body: { tag } }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      const { oid } = findCommit(hub, repository, params.rev);
      createRef(hub, { kind: "tag", repository, name: tag, commit: oid, user: context.var.caller.user });
    });

    serveRoute(app, refRoutes.deleteTag, ({ params }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      deleteRef(hub, { kind: "tag", repository, name: params.rev, user: context.var.caller.user });
    });

    serveRoute(app, refRoutes.squash, ({ params, body }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      squashHistory(hub, { repository, branch: params.rev, title: body.message, user: context.var.caller.user });
    });
  },
} satisfies ResourceApi;

export interface NewCommit {
  repository: StoredRepository;
  /** The full name of the branch, such as `refs/heads/main` or `refs/pr/1`. */
  ref: string;
  changes: readonly FileChange[];
  title: string;
  message: string;
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
export function commitChanges(context: HubContext, commit: NewCommit): Commit {
  const { repository, ref, changes, title, message, user, parent } = commit;
  const { store, now } = context;
  const { content } = store;
  const { head, made } = store.transaction((rollBack) => {
    const head = content.resolve(repository.id, ref);
    if (!head) throw revisionNotFound(ref);
    checkParent(head, { ref, parent });
    const made = content.createCommit(repository.id, {
      ...{ parents: [head.oid], changes, title, message, author: user, date: now() },
    });
    const isUnchanged = made.tree === head.tree;
    if (isUnchanged) rollBack();
    else content.setRefs(repository.id, [{ name: ref, oid: made.oid }]);
    return { head, made: isUnchanged ? undefined : made };
  });
  if (!made) return head;
  publishRefs(context, { repository, user, updatedRefs: [{ ref, oldSha: head.oid, newSha: made.oid }] });
  return made;
}

/** @throws HTTPException 412 if the parent that a commit requires is not the head of its branch. */
export function checkParent(head: Commit, { ref, parent }: Pick<NewCommit, "ref" | "parent">): void {
  if (parent === undefined || parent === head.oid) return;
  throw new HTTPException(412, {
    // The first two sentences are those of the Hub.
    message: `The branch was updated since you opened this page. Please refresh and try again. The head of "${ref}" is ${head.oid}, not ${parent}.`,
  });
}

export interface NamedRef {
  kind: keyof typeof prefixes;
  repository: StoredRepository;
  /** The short name, such as `dev` or `v1.0`. */
  name: string;
  user: string;
}

const prefixes = { branch: "refs/heads/", tag: "refs/tags/" } as const;

/**
 * Creates a branch or a tag at a commit. `overwrite` moves an existing ref. Fires `repo.content` update, unless the ref already has the
 * commit.
 *
 * @throws HTTPException 409 if the ref exists and `overwrite` is not set, 400 if the name is invalid.
 */
export function createRef(
  context: HubContext,
  { kind, name, repository, user, commit, overwrite }: NamedRef & { commit: string; overwrite?: boolean | undefined },
): void {
  checkName(kind, name);
  const ref = `${prefixes[kind]}${name}`;
  const oldSha = context.store.content.getRef(repository.id, ref) ?? null;
  if (oldSha !== null && !overwrite) {
    throw new HTTPException(409, { message: `Reference ${ref} already exists. Choose another name.` });
  }
  updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha, newSha: commit }] });
}

/** Fires `repo.content` update. @throws HTTPException 404 if the ref does not exist, 403 for the main branch. */
export function deleteRef(context: HubContext, { kind, name, repository, user }: NamedRef): void {
  const ref = `${prefixes[kind]}${name}`;
  if (ref === mainRef) throw forbidden(`Cannot delete ${ref}, because it is the main branch.`);
  const oldSha = context.store.content.getRef(repository.id, ref);
  if (oldSha === undefined) throw revisionNotFound(name);
  updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha, newSha: null }] });
}

type RefChanges = Pick<NamedRef, "repository" | "user"> & { updatedRefs: readonly UpdatedRef[] };

/** Stores changed refs. Fires `repo.content` update, unless all refs already have their new commits. */
export function updateRefs(context: HubContext, { repository, user, updatedRefs }: RefChanges): void {
  const changed = updatedRefs.filter(({ oldSha, newSha }) => oldSha !== newSha);
  if (changed.length === 0) return;
  const { content, transaction } = context.store;
  const refs = changed.map(({ ref, newSha }) => ({ name: ref, oid: newSha }));
  transaction(() => content.setRefs(repository.id, refs));
  publishRefs(context, { repository, user, updatedRefs: changed });
}

function publishRefs(context: HubContext, { repository, user, updatedRefs }: RefChanges): void {
  publishChange(context, {
    ...{ scope: "repo.content", action: "update", user, updatedRefs },
    ...{ before: repository, after: reread(context.store, repository) },
  });
}

function checkName(kind: NamedRef["kind"], name: string): void {
  const isInvalid =
    /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[/.-]|[/.]$|\/\.|\.lock(\/|$)/u.test(name) || name === "" || name === "@";
  if (!isInvalid) return;
  throw badRequest(`"${name}" is not a valid name of a ${kind}. Use letters, digits, ".", "_", "-", and "/".`);
}

/** Fires `repo.content` update. @throws `HTTPException` 404 with the code `RevisionNotFound` if the branch does not exist. */
function squashHistory(
  context: HubContext,
  squash: Pick<NamedRef, "repository" | "user"> & { branch: string; title: string | undefined },
): void {
  const { repository, branch, title = `Super-squash branch '${branch}'`, user } = squash;
  const { content } = context.store;
  const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
  const head = content.getRef(repository.id, ref);
  const before = head === undefined ? undefined : content.getCommit(repository.id, head);
  if (!before) throw revisionNotFound(branch);
  const changes = Array.from(content.list(before.tree, { recursive: true }))
    .filter(({ type }) => type === "file")
    .map((entry) => ({ path: entry.path, entry }));
  const details = { title, message: "", author: user, date: context.now() };
  const squashed = content.createCommit(repository.id, { parents: [], changes, ...details });
  updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha: before.oid, newSha: squashed.oid }] });
}
