import type { Hono } from "hono";
import {
  branchCreation,
  historySquash,
  refOperations,
  repositoryRefs,
  tagCreation,
} from "../../hub/repositories/refs.ts";
import type { HubContext } from "../hub-context.ts";
import { createBranch, createTag, deleteBranch, deleteTag } from "../resources/repositories/commit-changes.ts";
import { createEmptyCommit, listRefs, squashHistory } from "../resources/repositories/refs.ts";
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
  createBranch: describeRoute(refOperations.createBranch, {
    tag: "repos",
    success: { description: "The branch was created." },
    errors: ["invalid", "forbidden", "notFound", "conflict"],
  }),
  deleteBranch: describeRoute(refOperations.deleteBranch, {
    tag: "repos",
    success: { description: "The branch was deleted." },
    errors: ["forbidden", "notFound"],
  }),
  createTag: describeRoute(refOperations.createTag, {
    tag: "repos",
    success: { description: "The tag was created." },
    errors: ["invalid", "forbidden", "notFound", "conflict"],
  }),
  deleteTag: describeRoute(refOperations.deleteTag, {
    tag: "repos",
    success: { description: "The tag was deleted." },
    errors: ["forbidden", "notFound"],
  }),
  squash: describeRoute(refOperations.squash, {
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
