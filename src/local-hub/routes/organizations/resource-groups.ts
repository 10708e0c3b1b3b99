import type { Hono } from "hono";
import {
  resourceGroup,
  resourceGroupOperations,
  resourceGroupRequest,
} from "../../../hub/organizations/resource-groups.ts";
import { repoRef } from "../../../hub/schemas.ts";
import { authorize } from "../../access.ts";
import type { HubContext } from "../../hub-context.ts";
import {
  createResourceGroup,
  listAccessibleGroups,
  toResourceGroup,
} from "../../resources/organizations/resource-groups.ts";
import { type ApiEnvironment, requestOf } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const resourceGroupRoutes = {
  list: describeRoute(resourceGroupOperations.list, {
    tag: "resource-groups",
    description: "Enterprise only.",
    success: { description: "The resource groups." },
    errors: ["forbidden", "notFound"],
  }),
  create: describeRoute(resourceGroupOperations.create, {
    tag: "resource-groups",
    description: "Enterprise only.",
    success: { description: "The new resource group." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on the resource groups of an organization (docs/reference/hub-api.md, Organizations). */
export const resourceGroupApi = {
  routes: resourceGroupRoutes,
  components: { ResourceGroup: resourceGroup, ResourceGroupRequest: resourceGroupRequest, RepoId: repoRef },
  serve(
    app: Hono<ApiEnvironment>,
    { store, auditLog, hubUrl, createId, now }: Pick<HubContext, "store" | "auditLog" | "hubUrl" | "createId" | "now">,
  ) {
    serveRoute(app, resourceGroupRoutes.list, ({ params }, context) => {
      const { name } = params;
      const { caller } = context.var;
      const access = authorize({ store, caller, organization: name }, { role: "member", plan: "enterprise" });
      const groups = listAccessibleGroups(store, { ...access, user: caller.user });
      return groups.map((group) => toResourceGroup(group, { store, hubUrl }));
    });

    serveRoute(app, resourceGroupRoutes.create, ({ params, body }, context) => {
      const { name } = params;
      const { caller } = context.var;
      const { organization } = authorize(
        { store, caller, organization: name },
        { role: "admin", plan: "enterprise", write: true },
      );
      const group = createResourceGroup(
        { store, auditLog, createId, now },
        { organization, fields: body, request: requestOf(context) },
      );
      return toResourceGroup(group, { store, hubUrl });
    });
  },
} satisfies ResourceApi;
