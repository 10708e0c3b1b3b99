import type { Hono } from "hono";
import { memberOperations, memberRoleChange, organizationMember } from "../../../hub/organizations/members.ts";
import { authorize } from "../../access.ts";
import type { HubContext } from "../../hub-context.ts";
import { listMembers, setMemberRole } from "../../resources/organizations/members.ts";
import { type ApiEnvironment, requestOf } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const memberRoutes = {
  list: describeRoute(memberOperations.list, {
    tag: "orgs",
    success: {
      description: "A page of members.",
      headers: { Link: { description: 'The URL of the next page, with rel="next".' } },
    },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  setRole: describeRoute(memberOperations.setRole, {
    tag: "orgs",
    description: "Requires a paid plan.",
    success: { description: "The role was changed." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on the members of an organization (docs/reference/hub-api.md, Organizations). */
export const memberApi = {
  routes: memberRoutes,
  components: { OrganizationMember: organizationMember, MemberRoleChange: memberRoleChange },
  serve(app: Hono<ApiEnvironment>, { store, auditLog, hubUrl }: Pick<HubContext, "store" | "auditLog" | "hubUrl">) {
    serveRoute(app, memberRoutes.list, ({ params, query }, context) => {
      const { caller } = context.var;
      const access = authorize({ store, caller, organization: params.name }, { role: "anyone" });
      const { members, next } = listMembers({ store, hubUrl }, { access, user: caller.user, ...query });
      if (next !== undefined) {
        // The link has the host of the request, because clients do not follow links to another host.
        const url = new URL(context.req.url);
        url.searchParams.set("cursor", next);
        context.header("link", `<${url.href}>; rel="next"`);
      }
      return members;
    });

    serveRoute(app, memberRoutes.setRole, ({ params, body }, context) => {
      const { name: organization, username: user } = params;
      authorize({ store, caller: context.var.caller, organization }, { role: "admin", plan: "team", write: true });
      setMemberRole({ store, auditLog }, { organization, user, change: body, request: requestOf(context) });
      return {};
    });
  },
} satisfies ResourceApi;
