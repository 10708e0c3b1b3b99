import * as z from "zod/mini";
import type { Operations } from "../operation.ts";
import type { SearchOf } from "../schemas.ts";
import { objectId, organizationName, responseEnum, timestamp } from "../schemas.ts";
import type { AuditLogType } from "./audit-log-types.ts";

const type: z.ZodMiniType<AuditLogType, AuditLogType> = z.string();

/** An event in the audit log of an organization. */
export const auditLogEvent = z.strictObject({
  _id: objectId,
  createdAt: timestamp,
  /** Not an enum, because its many values would only increase the size of the client. */
  type,
  /** The details of the event, which depend on the type. */
  data: z.optional(z.unknown()),
  message: z.string(),
  ip: z.optional(z.string()),
  location: z.optional(
    z.strictObject({ formatted: z.string(), country: z.optional(z.string()), city: z.optional(z.string()) }),
  ),
  userAgent: z.optional(z.string()),
  author: z.strictObject({
    _id: objectId,
    user: z.string(),
    avatarUrl: z.string(),
    type: responseEnum(["user", "system"]),
    deleted: z.optional(z.boolean()),
  }),
  token: z.optional(
    z.strictObject({
      type: z.optional(z.literal("access_token")),
      id: z.optional(z.string()),
      deleted: z.boolean(),
      role: z.optional(responseEnum(["read", "write", "fineGrained"])),
      last4: z.optional(z.string()),
    }),
  ),
  oauth: z.optional(z.strictObject({ clientId: z.string(), name: z.optional(z.string()) })),
});

const search = z.object({ q: z.optional(z.string()) });

/** An event in the audit log of an organization. */
export type AuditLogEvent = z.output<typeof auditLogEvent>;
/** A search for events. `q` contains terms such as `author:ada ip:192.0.2.1 type:org.add_user`. */
export type AuditLogSearch = SearchOf<typeof search>;

/** The operation on the audit log of an organization (docs/reference/hub-api.md, Organizations). */
export const auditLogOperations = {
  export: {
    requestLine: "GET /api/organizations/{name}/audit-log/export",
    operationId: "exportAuditLog",
    summary: "Export the audit log of an organization",
    request: { params: organizationName, query: search },
    response: z.array(auditLogEvent),
  },
} as const satisfies Operations;
