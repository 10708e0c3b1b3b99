import * as z from "zod/mini";
import type { Operations } from "../operation.ts";
import type { Open, SearchOf } from "../schemas.ts";
import { objectId, organizationName, responseEnum, timestamp } from "../schemas.ts";

/** The types of audit log events in the Hub's specification. */
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

/** The types that the Hub added after the specification. */
export const addedAuditLogTypes = [
  "collection.update_resource_group",
  "org.settings.regions",
  "org.settings.profile",
  "org.settings.resource_groups",
  "org.settings.publisher_gating",
  "org.settings.inference_providers",
  "org.settings.inference_providers.keys.add",
  "org.settings.inference_providers.keys.remove",
  "org.settings.inference_providers.usage",
  "org.settings.sso",
  "org.settings.sso.enable",
  "org.settings.sso.disable",
  "org.settings.security.repo_visibility",
  "org.settings.security.2fa.enable",
  "org.settings.security.2fa.disable",
  "org.settings.security.auto_join.enable",
  "org.settings.security.auto_join.disable",
  "org.settings.security.members_privacy.enable",
  "org.settings.security.members_privacy.disable",
  "org.settings.network",
  "org.settings.network.ip_restriction.enable",
  "org.settings.network.ip_restriction.disable",
  "org.settings.network.auth_enforcement.enable",
  "org.settings.network.auth_enforcement.disable",
  "repo.add_trusted_publisher",
  "repo.remove_trusted_publisher",
  "jobs.update_labels",
  "jobs.update_expose",
  "scheduled_job.update_labels",
  "org.service_account.create",
  "org.service_account.delete",
  "org.service_account.token.create",
  "org.service_account.token.delete",
  "org.service_account.token.rotate",
  "org.service_account.token.update",
] as const;

/** All types of audit log events. */
export const auditLogTypes = [...specifiedAuditLogTypes, ...addedAuditLogTypes] as const;

/** An event in the audit log of an organization. */
export const auditLogEvent = z.strictObject({
  _id: objectId,
  createdAt: timestamp,
  type: responseEnum(auditLogTypes),
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
/** A type of audit log event in the Hub's specification. */
export type SpecifiedAuditLogType = (typeof specifiedAuditLogTypes)[number];
/** The type of an audit log event. */
export type AuditLogType = Open<(typeof auditLogTypes)[number]>;
/** A search for events. `q` contains terms such as `author:ada ip:192.0.2.1 type:org.add_user`. */
export type AuditLogSearch = SearchOf<typeof search>;

/** The operation on the audit log of an organization (docs/reference/hub-api.md, Organizations). */
export const auditLogOperations = {
  export: {
    method: "get",
    path: "/api/organizations/{name}/audit-log/export",
    operationId: "exportAuditLog",
    summary: "Export the audit log of an organization",
    request: { params: organizationName, query: search },
    response: z.array(auditLogEvent),
  },
} as const satisfies Operations;
