/* The values of long enums. `+`: the Hub added the value after April 2026. `-`: the Hub removed it since. */
import { type Fields, of, under } from "./facts.ts";

function words(...lines: string[]): string {
  return lines.join(" ");
}

/** Returns words with a common prefix. */
function group(prefix: string, ...lines: string[]): string {
  const prefixed = words(...lines)
    .split(" ")
    .map((name) => name.replace(/^[+-]?/, (mark) => `${mark}${prefix}.`));
  return prefixed.join(" ");
}

export const repoTypes = "model dataset space bucket kernel";
export const watchedTypes = `${repoTypes} user org`;
export const stages = "COMPLETED CANCELED ERROR DELETED RUNNING SCHEDULING";

export const flavors = words(
  "cpu-basic cpu-upgrade cpu-performance cpu-xl sprx8 zero-a10g t4-small t4-medium l4x1 l4x4 l40sx1 l40sx4 l40sx8",
  "a10g-small a10g-large a10g-largex2 a10g-largex4 a100-large a100x4 a100x8 h200 h200x2 h200x4 h200x8 inf2x6",
  "+rtx-pro-6000 +rtx-pro-6000x2 +rtx-pro-6000x4 +rtx-pro-6000x8",
);

export const notificationSwitches = words(
  "announcements arxiv_paper_activity daily_papers_digest discussions_participating discussions_watched",
  "gated_user_access_request inference_endpoint_status launch_autonlp launch_spaces launch_prepaid_credits",
  "launch_training_cluster org_request org_suggestions org_verified_suggestions org_suggestions_to_create",
  "posts_participating user_follows secret_detected web_discussions_participating web_discussions_watched",
  "web_posts_participating api_inference_sunset locked_out",
).split(" ");

export const auditLogTypes = words(
  group(
    "billing",
    "update_payment_method create_customer remove_payment_method aws_add aws_remove gcp_add gcp_remove",
    "marketplace_approve cancel_subscription renew_subscription start_subscription un_cancel_subscription",
    "update_subscription update_subscription_plan",
  ),
  group("collection", "create delete +update_resource_group"),
  group(
    "org",
    "add_user change_role create delete restore invite_user invite.accept invite.email join.from_domain",
    "join.automatic leave remove_user rename rotate_token sso_login sso_join update_join_settings update_settings",
    "token_approval.authorization_request token_approval.authorization_request.authorized",
    "token_approval.authorization_request.revoked token_approval.authorization_request.denied",
    "token_approval.enabled token_approval.disabled -custom_role.create -custom_role.update -custom_role.delete",
  ),
  group(
    "org.settings",
    "+regions +profile +resource_groups +publisher_gating +inference_providers +inference_providers.keys.add",
    "+inference_providers.keys.remove +inference_providers.usage +sso +sso.enable +sso.disable",
    "+security.repo_visibility +security.2fa.enable +security.2fa.disable +security.auto_join.enable",
    "+security.auto_join.disable +security.members_privacy.enable +security.members_privacy.disable +network",
    "+network.ip_restriction.enable +network.ip_restriction.disable +network.auth_enforcement.enable",
    "+network.auth_enforcement.disable",
  ),
  group("org.service_account", "+create +delete +token.create +token.delete +token.rotate +token.update"),
  group(
    "repo",
    "add_secrets remove_secrets add_secret update_secret remove_secret create delete disable removeDisable",
    "duplication delete_doi move update_resource_group update_settings add_variable update_variable",
    "remove_variable add_variables remove_variables delete_lfs_file +add_trusted_publisher +remove_trusted_publisher",
  ),
  group("spaces", "add_storage remove_storage set_volumes remove_volumes update_hardware update_sleep_time"),
  group("resource_group", "create add_users remove_users change_role settings delete"),
  group("jobs", "create cancel +update_labels +update_expose"),
  group("scheduled_job", "create delete resume suspend run update_schedule +update_labels"),
  "oauth.token",
);

/* Fields that several bodies share. */

/** A list and its items. */
export function list(name: string, kind = "string"): Fields {
  return { [`${name}?`]: "list", [`${name}[]`]: kind };
}

export const command = { "command?": "list 1..", "command[]": "string 1.." };
export const environment = { "environment{}": "string" };
export const labels = { "labels{}": "labelValue" };
export const volumeOptions = { "readOnly?": "boolean", "path?": "string" };
export const role = { role: "role" };

const ports = (name: string) => ({ [name]: "list ..20", [`${name.replace("?", "")}[]`]: "integer 1..65535" });

/** The ports of a job. */
export const expose = under("expose", { ...ports("ports"), ...ports("portsPublic?") });

/** The rule of new members of an organization, if it is enabled. */
export const joined = { "autoJoin.enabled": "true", "autoJoin.role": "role", "autoJoin.scope?+": "enum all read_plus" };

const content = { resource: `enum ${repoTypes} *`, scope: "string 1.." };

/** The lists of the network security: the current ones, and those before 2026-05-04. */
export const contentLists: Fields = {
  ...of("list", "blockedContents?+ allowedContents?+ blockedUrls?- allowedUrls?-"),
  ...of("string", "blockedUrls[] allowedUrls[]"),
  ...under("blockedContents[]", content),
  ...under("allowedContents[]", content),
};
