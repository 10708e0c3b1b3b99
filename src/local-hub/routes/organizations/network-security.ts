import type { Hono } from "hono";
import * as z from "zod/mini";
import { jsonBody } from "../../../hub/operation.ts";
import {
  networkSecurity,
  networkSecurityChange,
  networkSecurityOperations,
} from "../../../hub/organizations/network-security.ts";
import { authorize } from "../../access.ts";
import type { HubContext } from "../../hub-context.ts";
import { getNetworkSecurity, updateNetworkSecurity } from "../../resources/organizations/network-security.ts";
import { type ApiEnvironment, requestOf } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const networkSecurityRoutes = {
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

const { ipRanges, ...fields } = networkSecurityChange.shape;

/** The Hub's specification requires at least one IP range, so the local Hub does too. The real Hub also accepts an empty list. */
const updateOperation = {
  ...networkSecurityOperations.update,
  request: {
    ...networkSecurityOperations.update.request,
    body: jsonBody(z.object({ ...fields, ipRanges: z.optional(ipRanges.def.innerType.check(z.minLength(1))) })),
  },
};

/**
 * Serves the network security of an organization (docs/reference/hub-api.md, Organizations). The local Hub does not enforce these
 * settings.
 */
export const networkSecurityApi = {
  routes: networkSecurityRoutes,
  components: { NetworkSecurity: networkSecurity, NetworkSecurityChange: networkSecurityChange },
  serve(app: Hono<ApiEnvironment>, { store, auditLog }: Pick<HubContext, "store" | "auditLog">) {
    serveRoute(app, networkSecurityRoutes.get, ({ params }, context) => {
      const organization = params.name;
      authorize({ store, caller: context.var.caller, organization }, { role: "admin" });
      return getNetworkSecurity(store, organization);
    });

    serveRoute(app, updateOperation, ({ params, body }, context) => {
      const organization = params.name;
      const { caller } = context.var;
      authorize({ store, caller, organization }, { role: "admin", write: true });
      return updateNetworkSecurity({ store, auditLog }, { organization, change: body, request: requestOf(context) });
    });
  },
} satisfies ResourceApi;
