import { createRoute, z } from "@hono/zod-openapi";
import { addedAuditLogTypes } from "../added-values.ts";
import { jsonAnswer } from "../json.ts";
import { type Open, openEnum } from "../open.ts";
import type { SearchOf } from "../query.ts";
import { bearer, objectId, refusals, timestamp } from "../values.ts";
import { organizationName } from "./role.ts";

/** The types of an event of the audit log, as hub-api.md lists them. */
export const specifiedAuditLogTypes = [
  "billing.update_payment_method",
  "billing.create_customer",
  "billing.remove_payment_method",
  "billing.aws_add",
  "billing.aws_remove",
  "billing.gcp_add",
  "billing.gcp_remove",
  "billing.marketplace_approve",
  "billing.cancel_subscription",
  "billing.renew_subscription",
  "billing.start_subscription",
  "billing.un_cancel_subscription",
  "billing.update_subscription",
  "billing.update_subscription_plan",
  "collection.create",
  "collection.delete",
  "org.add_user",
  "org.change_role",
  "org.create",
  "org.delete",
  "org.restore",
  "org.invite_user",
  "org.invite.accept",
  "org.invite.email",
  "org.join.from_domain",
  "org.join.automatic",
  "org.leave",
  "org.remove_user",
  "org.rename",
  "org.rotate_token",
  "org.sso_login",
  "org.sso_join",
  "org.update_join_settings",
  "org.update_settings",
  "org.token_approval.enabled",
  "org.token_approval.disabled",
  "org.token_approval.authorization_request",
  "org.token_approval.authorization_request.authorized",
  "org.token_approval.authorization_request.revoked",
  "org.token_approval.authorization_request.denied",
  "org.custom_role.create",
  "org.custom_role.update",
  "org.custom_role.delete",
  "repo.add_secrets",
  "repo.remove_secrets",
  "repo.add_secret",
  "repo.update_secret",
  "repo.remove_secret",
  "repo.create",
  "repo.delete",
  "repo.disable",
  "repo.removeDisable",
  "repo.duplication",
  "repo.delete_doi",
  "repo.move",
  "repo.update_resource_group",
  "repo.update_settings",
  "repo.add_variable",
  "repo.update_variable",
  "repo.remove_variable",
  "repo.add_variables",
  "repo.remove_variables",
  "repo.delete_lfs_file",
  "spaces.add_storage",
  "spaces.remove_storage",
  "spaces.set_volumes",
  "spaces.remove_volumes",
  "spaces.update_hardware",
  "spaces.update_sleep_time",
  "resource_group.create",
  "resource_group.add_users",
  "resource_group.remove_users",
  "resource_group.change_role",
  "resource_group.settings",
  "resource_group.delete",
  "jobs.create",
  "jobs.cancel",
  "scheduled_job.create",
  "scheduled_job.delete",
  "scheduled_job.resume",
  "scheduled_job.suspend",
  "scheduled_job.run",
  "scheduled_job.update_schedule",
  "oauth.token",
] as const;

/** The types of an event of the audit log. */
export const auditLogTypes = [...specifiedAuditLogTypes, ...addedAuditLogTypes] as const;

/** Something that somebody did in an organization. */
export const auditLogEvent = z
  .strictObject({
    _id: objectId,
    createdAt: timestamp,
    type: openEnum(auditLogTypes),
    /** Whatever belongs to the event. */
    data: z.unknown().optional(),
    message: z.string(),
    ip: z.string().optional(),
    location: z
      .strictObject({ formatted: z.string(), country: z.string().optional(), city: z.string().optional() })
      .optional(),
    userAgent: z.string().optional(),
    author: z.strictObject({
      _id: objectId,
      user: z.string(),
      avatarUrl: z.string(),
      type: openEnum(["user", "system"]),
      deleted: z.boolean().optional(),
    }),
    token: z
      .strictObject({
        type: z.literal("access_token").optional(),
        id: z.string().optional(),
        deleted: z.boolean(),
        role: openEnum(["read", "write", "fineGrained"]).optional(),
        last4: z.string().optional(),
      })
      .optional(),
    oauth: z.strictObject({ clientId: z.string(), name: z.string().optional() }).optional(),
  })
  .openapi("AuditLogEvent");

const search = z.object({ q: z.string().optional() });

/** Something that somebody did in an organization. */
export type AuditLogEvent = z.output<typeof auditLogEvent>;
/** A type of an event of the audit log that hub-api.md lists. */
export type SpecifiedAuditLogType = (typeof specifiedAuditLogTypes)[number];
/** The type of an event of the audit log. */
export type AuditLogType = Open<(typeof auditLogTypes)[number]>;
/** Which events: `q` holds terms such as `author:ada ip:192.0.2.1 type:org.add_user`. */
export type AuditLogSearch = SearchOf<typeof search>;

/** The operation on the audit log of an organization (hub-api.md, Organizations). */
export const auditLogRoutes = {
  export: createRoute({
    method: "get",
    path: "/api/organizations/{name}/audit-log/export",
    operationId: "exportAuditLog",
    summary: "Export the audit log of an organization",
    description: "The newest 100,000 events. Team or Enterprise.",
    tags: ["orgs"],
    security: bearer,
    request: { params: organizationName, query: search },
    responses: {
      200: {
        headers: {
          "Content-Disposition": { description: "The name of the exported file.", schema: { type: "string" } },
        },
        ...jsonAnswer("The events, the newest first.", z.array(auditLogEvent)),
      },
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
} as const;
