import { isDeepStrictEqual } from "node:util";
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { jsonBody } from "../../../hub/operation.ts";
import { networkSecurityChange, networkSecurityOperations } from "../../../hub/organizations/network-security.ts";
import { authorize } from "../../access.ts";
import type { AuditLog } from "../../resources/audit-log.ts";
import { getNetworkSecurity } from "../../resources/network-security.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp, requestOf } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

const settings = jsonResponse("The settings.", networkSecurityOperations.get.response);

/** The routes of the operations, as the document describes them. */
export const networkSecurityRoutes = {
  get: createRoute({
    ...describeRoute(networkSecurityOperations.get),
    tags: ["orgs"],
    responses: {
      200: settings,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
  update: createRoute({
    ...describeRoute(networkSecurityOperations.update),
    tags: ["orgs"],
    responses: {
      200: settings,
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
      ...errorResponses.body,
    },
  }),
} as const;

/** What the routes of network security need. */
export interface NetworkSecurityRoutesOptions {
  store: Store;
  auditLog: AuditLog;
}

const { ipRanges, ...fields } = networkSecurityChange.shape;

/** hub-api.md requires an item where the list is given, the Hub of today does not. */
const updateRoute = createRoute({
  ...networkSecurityRoutes.update,
  request: {
    ...networkSecurityRoutes.update.request,
    body: jsonBody(z.object({ ...fields, ipRanges: ipRanges.unwrap().min(1).optional() })),
  },
});

/** The operations on the network security of an organization (hub-api.md, Organizations). Nothing is enforced here. */
export function networkSecurityApi({ store, auditLog }: NetworkSecurityRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(networkSecurityRoutes.get, (context) => {
    const organization = context.req.valid("param").name;
    authorize({ store, caller: context.var.caller, organization }, { role: "admin" });
    return context.json(getNetworkSecurity(store, organization), 200);
  });

  app.openapi(updateRoute, (context) => {
    const organization = context.req.valid("param").name;
    const { caller } = context.var;
    authorize({ store, caller, organization }, { role: "admin", write: true });
    const before = getNetworkSecurity(store, organization);
    const after = { ...before, ...context.req.valid("json") };
    const changed = Object.entries(after).filter(
      ([field, value]) => !isDeepStrictEqual(value, Reflect.get(before, field)),
    );
    if (changed.length > 0) {
      store.transaction(() => {
        store.networkSecurity.put({ owner: organization, id: "network-security", record: after });
        auditLog.record({
          organization,
          type: "org.update_settings",
          author: caller.user,
          message: `Changed the network security: ${changed.map(([field]) => field).join(", ")}`,
          data: Object.fromEntries(changed),
          request: requestOf(context),
        });
      });
    }
    return context.json(after, 200);
  });

  return app;
}
