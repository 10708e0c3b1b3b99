import type { Context } from "hono";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { tokenOperations } from "../../../hub/organizations/organizations.ts";
import { authorize } from "../../access.ts";
import { type Caller, findCaller, findCallerByTokenId } from "../../accounts.ts";
import type { AuditLog } from "../../resources/organizations/audit-log.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, requestOf } from "../authentication.ts";
import { describeRoute, serveRoute } from "../route.ts";

export const tokenRoutes = {
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

export interface TokenRoutesOptions {
  store: Store;
  auditLog: AuditLog;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Serves the operations on tokens (docs/reference/hub-api.md, Organizations). Never stores a token. */
export function tokenApi({ store, auditLog, now }: TokenRoutesOptions): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  const revoke = (context: Context<ApiEnvironment>, organization: string, find: () => Caller | undefined): void => {
    const { caller } = context.var;
    authorize({ store, caller, organization }, { role: "admin", plan: "enterprise", write: true });
    const revoked = find();
    // The same response as for an unknown token, so that the caller cannot find out that it exists.
    if (!revoked || !store.members.get({ owner: organization, id: revoked.user })) {
      throw new HTTPException(404, { message: `No member of ${organization} has this token.` });
    }
    const key = { owner: organization, id: revoked.tokenId };
    if (store.revocations.get(key)) return;
    store.transaction(() => {
      store.revocations.put({ ...key, record: { at: now() } });
      auditLog.record({
        organization,
        type: "org.token_approval.authorization_request.revoked",
        author: caller.user,
        message: `Revoked the access of a token of ${revoked.user}`,
        data: { tokenId: revoked.tokenId },
        request: requestOf(context),
      });
    });
  };

  serveRoute(app, tokenRoutes.revoke, ({ params, body }, context) => {
    revoke(context, params.name, () => findCaller(body.token));
    return {};
  });

  serveRoute(app, tokenRoutes.revokeById, ({ params }, context) => {
    const { name, tokenId } = params;
    revoke(context, name, () => findCallerByTokenId(tokenId));
    return {};
  });

  return app;
}
