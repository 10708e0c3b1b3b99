import type { Hono } from "hono";
import { branchCreation, historySquash, refChanges, tagCreation } from "../../hub/repositories/administration.ts";
import { type RepositoryRefs, refOperations, repositoryRefs } from "../../hub/repositories/contents.ts";
import { CodedException } from "../error-response.ts";
import type { Commit } from "../git/commit-store.ts";
import type { HubContext } from "../hub-context.ts";
import {
  createBranch,
  createTag,
  deleteBranch,
  deleteTag,
  updateRefs,
} from "../resources/repositories/commit-changes.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import type { ApiEnvironment } from "./authentication.ts";
import { findCommit, findRepository } from "./repository-access.ts";
import { describeRoute, type ResourceApi, serveRoute } from "./route.ts";

const refRoutes = {
  list: describeRoute(refOperations.list, {
    tag: "repos",
    token: "optional",
    success: { description: "The refs." },
    redirect: {
      status: 307,
      description: "The repository was moved.",
      headers: { Location: { description: "The new URL." } },
    },
    errors: ["invalid", "notFound"],
  }),
  createBranch: describeRoute(refChanges.createBranch, {
    tag: "repos",
    success: { description: "The branch was created." },
    errors: ["invalid", "forbidden", "notFound", "conflict"],
  }),
  deleteBranch: describeRoute(refChanges.deleteBranch, {
    tag: "repos",
    success: { description: "The branch was deleted." },
    errors: ["forbidden", "notFound"],
  }),
  createTag: describeRoute(refChanges.createTag, {
    tag: "repos",
    success: { description: "The tag was created." },
    errors: ["invalid", "forbidden", "notFound", "conflict"],
  }),
  deleteTag: describeRoute(refChanges.deleteTag, {
    tag: "repos",
    success: { description: "The tag was deleted." },
    errors: ["forbidden", "notFound"],
  }),
  squash: describeRoute(refChanges.squash, {
    tag: "repos",
    success: { description: "The branch has one commit." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on branches and tags (docs/reference/hub-api.md). */
export const refApi = {
  routes: refRoutes,
  components: {
    BranchCreation: branchCreation,
    HistorySquash: historySquash,
    RepositoryRefs: repositoryRefs,
    TagCreation: tagCreation,
  },
  serve(app: Hono<ApiEnvironment>, hub: HubContext) {
    serveRoute(app, refRoutes.list, ({ params, query }, context) => {
      const repository = findRepository(hub, params, context.var.optionalCaller, "read");
      return listRefs(hub.store, { repository, includePullRequests: query.include_prs });
    });

    serveRoute(app, refRoutes.createBranch, ({ params, body }, context) => {
      const { user } = context.var.caller;
      const repository = findRepository(hub, params, context.var.caller, "write");
      const { startingPoint = "main", emptyBranch, overwrite } = body;
      const { oid } = emptyBranch
        ? createEmptyCommit(hub, { repository, user })
        : findCommit(hub, repository, startingPoint);
      createBranch(hub, { repository, name: params.rev, commit: oid, user, overwrite });
      return {};
    });

    serveRoute(app, refRoutes.deleteBranch, ({ params }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      deleteBranch(hub, { repository, name: params.rev, user: context.var.caller.user });
      return {};
    });

    serveRoute(app, refRoutes.createTag, ({ params, body: { tag } }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      const { oid } = findCommit(hub, repository, params.rev);
      createTag(hub, { repository, name: tag, commit: oid, user: context.var.caller.user });
      return {};
    });

    serveRoute(app, refRoutes.deleteTag, ({ params }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      deleteTag(hub, { repository, name: params.rev, user: context.var.caller.user });
      return {};
    });

    serveRoute(app, refRoutes.squash, ({ params, body }, context) => {
      const repository = findRepository(hub, params, context.var.caller, "write");
      squashHistory(hub, { repository, branch: params.rev, title: body.message, user: context.var.caller.user });
      return {};
    });
  },
} satisfies ResourceApi;

/** Lists the branches, tags, converted files, and optionally pull requests of a repository. */
function listRefs(
  store: Pick<Store, "content">,
  { repository, includePullRequests }: { repository: StoredRepository; includePullRequests: boolean },
): RepositoryRefs {
  const refs = store.content.refs(repository.id);
  const withPrefix = (prefix: string) =>
    refs
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, oid }) => ({ name: name.slice(prefix.length), ref: name, targetCommit: oid }));
  return {
    branches: withPrefix("refs/heads/"),
    tags: withPrefix("refs/tags/"),
    converts: withPrefix("refs/convert/"),
    ...(includePullRequests && { pullRequests: withPrefix("refs/pr/") }),
  };
}

/** Creates a commit without parents and files, for a new empty branch. */
function createEmptyCommit(
  { store, now }: Pick<HubContext, "store" | "now">,
  { repository, user }: { repository: StoredRepository; user: string },
): Commit {
  const details = { title: "initial commit", message: "", author: user, date: now() };
  return store.content.createCommit(repository.id, { parents: [], changes: [], ...details });
}

/**
 * Replaces the commits of a branch with one commit that has the same files. Fires `repo.content` update.
 *
 * @throws `HTTPException` 404 with the code `RevisionNotFound` if the branch does not exist.
 */
function squashHistory(
  context: HubContext,
  {
    repository,
    branch,
    title,
    user,
  }: { repository: StoredRepository; branch: string; title?: string | undefined; user: string },
): void {
  const { content } = context.store;
  const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
  const head = content.getRef(repository.id, ref);
  const before = head === undefined ? undefined : content.getCommit(repository.id, head);
  if (!before) throw new CodedException(404, { code: "RevisionNotFound", message: `Invalid rev id: ${branch}` });
  const changes = Array.from(content.list(before.tree, { recursive: true }))
    .filter(({ type }) => type === "file")
    .map((entry) => ({ path: entry.path, entry }));
  const details = { title: title ?? `Super-squash branch '${branch}'`, message: "", author: user, date: context.now() };
  const squashed = content.createCommit(repository.id, { parents: [], changes, ...details });
  updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha: before.oid, newSha: squashed.oid }] });
}
