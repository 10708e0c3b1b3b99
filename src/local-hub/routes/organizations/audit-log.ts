import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Logger } from "../../../core/logger.ts";
import { auditLogOperations } from "../../../hub/organizations/audit-log.ts";
import { authorize } from "../../access.ts";
import { exportAuditLog, parseAuditQuery } from "../../resources/audit-log.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

/** The routes of the operations, as the document describes them. */
export const auditLogRoutes = {
  export: createRoute({
    ...describeRoute(auditLogOperations.export),
    description: "The newest 100,000 events. Team or Enterprise.",
    tags: ["orgs"],
    responses: {
      200: {
        headers: {
          "Content-Disposition": { description: "The name of the exported file.", schema: { type: "string" } },
        },
        ...jsonResponse("The events, the newest first.", auditLogOperations.export.response),
      },
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
} as const;

/** What the routes of audit logs need. */
export interface AuditLogRoutesOptions {
  store: Store;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** Terms with spaces between them. The specification names these three, so anything else is a typing error here. */
const terms = /^\s*(?:(?:author|ip|type):\S+(?:\s+|$))*$/;
const search = z.object({
  q: z.string().regex(terms, "expected terms such as author:ada, ip:192.0.2.1 or type:org.add_user").optional(),
});

const exportRoute = createRoute({
  ...auditLogRoutes.export,
  request: { ...auditLogRoutes.export.request, query: search },
  // It answers with a stream, which cannot be checked against the type of the contract.
  responses: { 200: { description: "The events." } },
});

/** The operation on the audit log of an organization (hub-api.md, Organizations). */
export function auditLogApi({ store, baseUrl, now, log }: AuditLogRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const app = createApiApp();

  app.openapi(exportRoute, (context) => {
    const { name } = context.req.valid("param");
    const { q = "" } = context.req.valid("query");
    const { caller } = context.var;
    const { organization } = authorize({ store, caller, organization: name }, { role: "admin", plan: "team" });
    const filter = parseAuditQuery(q);
    return context.body(exportAuditLog({ store: store.auditLog, organization, filter, baseUrl, log }), 200, {
      "content-type": "application/json",
      "content-disposition": `attachment; filename="${fileName(organization, now())}"`,
    });
  });

  return app;
}

function fileName(organization: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10);
  return `${organization.replace(/[^\w.-]/g, "_")}-audit-log-${day}.json`;
}
