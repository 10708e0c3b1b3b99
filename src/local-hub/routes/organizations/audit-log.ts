import { Hono } from "hono";
import * as z from "zod/mini";
import type { Logger } from "../../../core/logger.ts";
import { auditLogOperations } from "../../../hub/organizations/audit-log.ts";
import { authorize } from "../../access.ts";
import { exportAuditLog, parseAuditQuery } from "../../resources/organizations/audit-log.ts";
import type { Store } from "../../store/store.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { describeRoute, serveRoute } from "../route.ts";

export const auditLogRoutes = {
  export: describeRoute(auditLogOperations.export, {
    tag: "orgs",
    description: "The newest 100,000 events. Team or Enterprise.",
    success: {
      description: "The events, the newest first.",
      headers: { "Content-Disposition": { description: "The name of the exported file." } },
    },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

export interface AuditLogRoutesOptions {
  store: Store;
  /** The base URL of the local Hub, without a trailing slash. */
  hubUrl: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  log: Logger;
}

/** Only the documented terms: on the local Hub, any other term is a typing error. */
const terms = /^\s*(?:(?:author|ip|type):\S+(?:\s+|$))*$/;
const expectedTerms = "expected terms such as author:ada, ip:192.0.2.1 or type:org.add_user";
const search = z.object({ q: z.optional(z.string().check(z.regex(terms, expectedTerms))) });

const exportOperation = {
  ...auditLogOperations.export,
  request: { ...auditLogOperations.export.request, query: search },
};

/** Serves the audit log of an organization (docs/reference/hub-api.md, Organizations). */
export function auditLogApi({ store, hubUrl, now, log }: AuditLogRoutesOptions): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();

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

  return app;
}

function fileName(organization: string, now: number): string {
  const day = new Date(now).toISOString().slice(0, 10);
  return `${organization.replace(/[^\w.-]/g, "_")}-audit-log-${day}.json`;
}
