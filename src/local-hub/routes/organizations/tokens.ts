import type { Context, Hono } from "hono";
import { tokenOperations, tokenRevocation } from "../../../hub/organizations/tokens.ts";
import { authorize } from "../../access.ts";
import { type Caller, findCaller, findCallerByTokenId } from "../../accounts.ts";
import type { HubContext } from "../../hub-context.ts";
import { revokeToken } from "../../resources/organizations/tokens.ts";
import { type ApiEnvironment, requestOf } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const tokenRoutes = {
  revoke: describeRoute(tokenOperations.revoke, {
    tag: "orgs",
    description: "The token still works outside the organization. Enterprise only.",
    success: { description: "The token has no access." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
  revokeById: describeRoute(tokenOperations.revokeById, {
    tag: "orgs",
    description: "The token still works outside the organization. Enterprise only. Since 2026-08-12.",
    success: { description: "The token has no access." },
    errors: ["forbidden", "notFound"],
  }),
} as const;

/** Serves the operations on tokens (docs/reference/hub-api.md, Organizations). Tokens are never stored. */
export const tokenApi = {
  routes: tokenRoutes,
  components: { TokenRevocation: tokenRevocation },
  serve(app: Hono<ApiEnvironment>, { store, auditLog, now }: Pick<HubContext, "store" | "auditLog" | "now">) {
    const revoke = (context: Context<ApiEnvironment>, organization: string, token: Caller | undefined): void => {
      const { caller } = context.var;
      authorize({ store, caller, organization }, { role: "admin", plan: "enterprise", write: true });
      revokeToken({ store, auditLog, now }, { organization, token, request: requestOf(context) });
    };

    serveRoute(app, tokenRoutes.revoke, ({ params, body }, context) => {
      revoke(context, params.name, findCaller(body.token));
      return {};
    });

    serveRoute(app, tokenRoutes.revokeById, ({ params }, context) => {
      revoke(context, params.name, findCallerByTokenId(params.tokenId));
      return {};
    });
  },
} satisfies ResourceApi;
