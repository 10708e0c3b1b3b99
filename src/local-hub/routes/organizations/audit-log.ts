import type { Hono } from "hono";
import * as z from "zod/mini";
import { auditLogEvent, auditLogOperations } from "../../../hub/organizations/audit-log.ts";
import { auditLogTypes } from "../../../hub/organizations/audit-log-types.ts";
import { authorize } from "../../access.ts";
import type { HubContext } from "../../hub-context.ts";
import { exportAuditLog, parseAuditQuery } from "../../resources/organizations/audit-log.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { describeRoute, type ResourceApi, serveRoute } from "../route.ts";

const event = z.strictObject({ ...auditLogEvent.shape, type: z.enum(auditLogTypes) });
const operation = { ...auditLogOperations.export, response: z.array(event) };

const auditLogRoutes = {
  export: describeRoute(operation, {
    tag: "orgs",
    description: "The newest 100,000 events. Team or Enterprise.",
    success: {
      description: "The events, the newest first.",
      headers: { "Content-Disposition": { description: "The name of the exported file." } },
    },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

/**
 * Matches queries that contain only documented terms. The local Hub rejects all other terms, because they are probably typing
 * errors.
 */
const terms = /^\s*(?:(?:author|ip|type):\S+(?:\s+|$))*$/;
const expectedTerms = "expected terms such as author:ada, ip:192.0.2.1, or type:org.add_user";
const search = z.object({ q: z.optional(z.string().check(z.regex(terms, expectedTerms))) });

const exportOperation = { ...operation, request: { ...operation.request, query: search } };

/** Serves the audit log of an organization (docs/reference/hub-api.md, Organizations). */
export const auditLogApi = {
  routes: auditLogRoutes,
  components: { AuditLogEvent: event },
  serve(app: Hono<ApiEnvironment>, { store, hubUrl, now, log }: Pick<HubContext, "store" | "hubUrl" | "now" | "log">) {
    serveRoute(app, exportOperation, ({ params, query }, context) => {
      const { name } = params;
      const { q = "" } = query;
      const { caller } = context.var;
      const { organization } = authorize({ store, caller, organization: name }, { role: "admin", plan: "team" });
      const filter = parseAuditQuery(q);
      return context.body(exportAuditLog({ store: store.auditLog, organization, filter, hubUrl, log }), 200, {
        "content-type": "application/json",
        "content-disposition": `attachment; filename="${fileName(organization, now())}"`,
      });
    });
  },
} satisfies ResourceApi;

function fileName(organization: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10);
  return `${organization.replace(/[^\w.-]/g, "_")}-audit-log-${day}.json`;
}
