import type { OpenAPIHono } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { tokenOperations } from "../../../hub/organizations/organizations.ts";
import { authorize } from "../../access.ts";
import { type Caller, findCaller, findCallerByTokenId } from "../../accounts.ts";
import type { AuditLog } from "../../resources/audit-log.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp, requestOf } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

/** The routes of the operations, as the document describes them. */
export const tokenRoutes = {
  revoke: createRoute({
    ...describeRoute(tokenOperations.revoke),
    description: "The token itself stays, and works outside the organization. Enterprise only.",
    tags: ["orgs"],
    responses: {
      200: jsonResponse("It has no access any more.", tokenOperations.revoke.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
      ...errorResponses.body,
    },
  }),
  revokeById: createRoute({
    ...describeRoute(tokenOperations.revokeById),
    description: "The token itself stays, and works outside the organization. Enterprise only. Since 2026-08-12.",
    tags: ["orgs"],
    responses: {
      200: jsonResponse("It has no access any more.", tokenOperations.revokeById.response),
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
} as const;

/** What the route of tokens needs. */
export interface TokenRoutesOptions {
  store: Store;
  auditLog: AuditLog;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The operations on tokens (hub-api.md, Organizations). The token itself is stored nowhere. */
export function tokenApi({ store, auditLog, now }: TokenRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  const revoke = (context: Context<ApiEnvironment>, organization: string, find: () => Caller | undefined): void => {
    const { caller } = context.var;
    authorize({ store, caller, organization }, { role: "admin", plan: "enterprise", write: true });
    const revoked = find();
    // A token of a non-member gets the answer of an unknown one: the caller must not learn that it exists.
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

  app.openapi(tokenRoutes.revoke, (context) => {
    revoke(context, context.req.valid("param").name, () => findCaller(context.req.valid("json").token));
    return context.json({}, 200);
  });

  app.openapi(tokenRoutes.revokeById, (context) => {
    const { name, tokenId } = context.req.valid("param");
    revoke(context, name, () => findCallerByTokenId(tokenId));
    return context.json({}, 200);
  });

  return app;
}
