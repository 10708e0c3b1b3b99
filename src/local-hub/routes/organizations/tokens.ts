import type { OpenAPIHono } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { tokenRoutes } from "../../../hub/contract/organizations/tokens.ts";
import { callerOf } from "../../accounts.ts";
import { admit } from "../../organizations/access.ts";
import type { AuditLog } from "../../organizations/audit-log.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp, requestOf } from "../api.ts";

/** What the route of tokens needs. */
export interface TokenRoutesOptions {
  store: Store;
  auditLog: AuditLog;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The operation on tokens (hub-api.md, Organizations). The token itself is written down nowhere. */
export function tokenApi({ store, auditLog, now }: TokenRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(tokenRoutes.revoke, (context) => {
    const organization = context.req.valid("param").name;
    const { caller } = context.var;
    admit({ store, caller, organization }, { as: "admin", plan: "enterprise", write: true });
    const revoked = callerOf(context.req.valid("json").token);
    // A stranger's token is as good as none: who asks must not learn that it is one.
    if (!revoked || !store.members.get({ owner: organization, id: revoked.user })) {
      throw new HTTPException(404, { message: `No member of ${organization} has this token.` });
    }
    const key = { owner: organization, id: revoked.tokenId };
    if (store.revocations.get(key)) return context.json({}, 200);
    store.atOnce(() => {
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
    return context.json({}, 200);
  });

  return app;
}
