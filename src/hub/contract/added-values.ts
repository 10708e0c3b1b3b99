/*
 * Values that the Hub accepts or returns since hub-api.md was written (late April 2026). When each came, and what else has
 * changed since, is in hub-changes.ts.
 */

/** Hardware. */
export const addedFlavors = ["rtx-pro-6000", "rtx-pro-6000x2", "rtx-pro-6000x4", "rtx-pro-6000x8"] as const;

/** Types of an event of the audit log. */
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
