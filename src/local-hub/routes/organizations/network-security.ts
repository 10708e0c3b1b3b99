import { isDeepStrictEqual } from "node:util";
import { Hono } from "hono";
import * as z from "zod/mini";
import { jsonBody } from "../../../hub/operation.ts";
import { networkSecurityChange, networkSecurityOperations } from "../../../hub/organizations/network-security.ts";
import { authorize } from "../../access.ts";
import type { AuditLog } from "../../resources/organizations/audit-log.ts";
import { getNetworkSecurity } from "../../resources/organizations/network-security.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, requestOf } from "../authentication.ts";
import { describeRoute, serveRoute } from "../route.ts";

export const networkSecurityRoutes = {
  get: describeRoute(networkSecurityOperations.get, {
    tag: "orgs",
    success: { description: "The settings." },
    errors: ["forbidden", "notFound"],
  }),
  update: describeRoute(networkSecurityOperations.update, {
    tag: "orgs",
    success: { description: "The settings." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

export interface NetworkSecurityRoutesOptions {
  store: Store;
  auditLog: AuditLog;
}

const { ipRanges, ...fields } = networkSecurityChange.shape;

/** The specification of the Hub requires at least one range. The Hub of today does not. */
const updateOperation = {
  ...networkSecurityOperations.update,
  request: {
    ...networkSecurityOperations.update.request,
    body: jsonBody(z.object({ ...fields, ipRanges: z.optional(ipRanges.def.innerType.check(z.minLength(1))) })),
  },
};

/**
 * Serves the network security of an organization (docs/reference/hub-api.md, Organizations). The local Hub does not enforce
 * it.
 */
export function networkSecurityApi({ store, auditLog }: NetworkSecurityRoutesOptions): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

  serveRoute(app, networkSecurityRoutes.get, ({ params }, context) => {
    const organization = params.name;
    authorize({ store, caller: context.var.caller, organization }, { role: "admin" });
    return getNetworkSecurity(store, organization);
  });

  serveRoute(app, updateOperation, ({ params, body }, context) => {
    const organization = params.name;
    const { caller } = context.var;
    authorize({ store, caller, organization }, { role: "admin", write: true });
    const before = getNetworkSecurity(store, organization);
    const after = { ...before, ...body };
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
    return after;
  });

  return app;
}
