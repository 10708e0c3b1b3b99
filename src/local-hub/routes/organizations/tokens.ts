import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { tokenOperations, tokenRevocation } from "../../../hub/organizations/tokens.ts";
import { authorize } from "../../access.ts";
import { type Caller, findCaller, findCallerByTokenId } from "../../accounts.ts";
import type { HubContext } from "../../hub-context.ts";
import type { ApiRequest } from "../../resources/organizations/audit-log.ts";
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

/**
 * Revokes the access of a token to an organization. Has no effect if the access is already revoked.
 *
 * @throws HTTPException 404 if the token is unknown or does not belong to a member.
 */
function revokeToken(
  { store, auditLog, now }: Pick<HubContext, "store" | "auditLog" | "now">,
  { organization, token, request }: { organization: string; token: Caller | undefined; request: ApiRequest },
): void {
  // Tokens of other users get the same response as unknown tokens, so that the response does not reveal whether a token exists.
  if (!token || !store.members.get({ owner: organization, id: token.user })) {
    throw new HTTPException(404, { message: `No member of "${organization}" has this token.` });
  }
  const { user, tokenId } = token;
  const key = { owner: organization, id: tokenId };
  if (store.revocations.get(key)) return;
  store.transaction(() => {
    store.revocations.put({ ...key, record: { at: now() } });
    auditLog.record({
      organization,
      type: "org.token_approval.authorization_request.revoked",
      author: request.caller.user,
      message: `Revoked the access of a token of ${user}`,
      data: { tokenId },
      request,
    });
  });
}
