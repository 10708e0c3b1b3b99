/* The values of long enums. `+`: the Hub added the value after April 2026. `-`: the Hub removed it since. */
import { type Fields, of, under } from "./facts.ts";

function words(...lines: string[]): string {
  return lines.join(" ");
}

/** Returns words with a common prefix. */
function prefixed(prefix: string, ...lines: string[]): string {
  const names = words(...lines)
    .split(" ")
    .map((name) => name.replace(/^[+-]?/, (mark) => `${mark}${prefix}.`));
  return names.join(" ");
}

export const repoTypes = "model dataset space bucket kernel";
const watchedTypes = `${repoTypes} user org`;
export const stages = "COMPLETED CANCELED ERROR DELETED RUNNING SCHEDULING";

const flavors = words(
  "cpu-basic cpu-upgrade cpu-performance cpu-xl sprx8 zero-a10g t4-small t4-medium l4x1 l4x4 l40sx1 l40sx4 l40sx8",
  "a10g-small a10g-large a10g-largex2 a10g-largex4 a100-large a100x4 a100x8 h200 h200x2 h200x4 h200x8 inf2x6",
  "+rtx-pro-6000 +rtx-pro-6000x2 +rtx-pro-6000x4 +rtx-pro-6000x8",
);

const notificationSwitches = words(
  "announcements arxiv_paper_activity daily_papers_digest discussions_participating discussions_watched",
  "gated_user_access_request inference_endpoint_status launch_autonlp launch_spaces launch_prepaid_credits",
  "launch_training_cluster org_request org_suggestions org_verified_suggestions org_suggestions_to_create",
  "posts_participating user_follows secret_detected web_discussions_participating web_discussions_watched",
  "web_posts_participating api_inference_sunset locked_out",
).split(" ");

export const auditLogTypes = words(
  prefixed(
    "billing",
    "update_payment_method create_customer remove_payment_method aws_add aws_remove gcp_add gcp_remove",
    "marketplace_approve cancel_subscription renew_subscription start_subscription un_cancel_subscription",
    "update_subscription update_subscription_plan",
  ),
  prefixed("collection", "create delete +update_resource_group"),
  prefixed(
    "org",
    "add_user change_role create delete restore invite_user invite.accept invite.email join.from_domain",
    "join.automatic leave remove_user rename rotate_token sso_login sso_join update_join_settings update_settings",
    "token_approval.authorization_request token_approval.authorization_request.authorized",
    "token_approval.authorization_request.revoked token_approval.authorization_request.denied",
    "token_approval.enabled token_approval.disabled -custom_role.create -custom_role.update -custom_role.delete",
  ),
  prefixed(
    "org.settings",
    "+regions +profile +resource_groups +publisher_gating +inference_providers +inference_providers.keys.add",
    "+inference_providers.keys.remove +inference_providers.usage +sso +sso.enable +sso.disable",
    "+security.repo_visibility +security.2fa.enable +security.2fa.disable +security.auto_join.enable",
    "+security.auto_join.disable +security.members_privacy.enable +security.members_privacy.disable +network",
    "+network.ip_restriction.enable +network.ip_restriction.disable +network.auth_enforcement.enable",
    "+network.auth_enforcement.disable",
  ),
  prefixed("org.service_account", "+create +delete +token.create +token.delete +token.rotate +token.update"),
  prefixed(
    "repo",
    "add_secrets remove_secrets add_secret update_secret remove_secret create delete disable removeDisable",
    "duplication delete_doi move update_resource_group update_settings add_variable update_variable",
    "remove_variable add_variables remove_variables delete_lfs_file +add_trusted_publisher +remove_trusted_publisher",
  ),
  prefixed("spaces", "add_storage remove_storage set_volumes remove_volumes update_hardware update_sleep_time"),
  prefixed("resource_group", "create add_users remove_users change_role settings delete"),
  prefixed("jobs", "create cancel +update_labels +update_expose"),
  prefixed("scheduled_job", "create delete resume suspend run update_schedule +update_labels"),
  "oauth.token",
);

/* Fields that several bodies share. */

/** A list and its items. */
function list(name: string, kind = "string"): Fields {
  return { [`${name}?`]: "list", [`${name}[]`]: kind };
}

const command = { "command?": "list 1..", "command[]": "string 1.." };
const environment = { "environment{}": "string" };
const labels = { "labels{}": "labelValue" };
const volumeOptions = { "readOnly?": "boolean", "path?": "string" };
const role = { role: "role" };

const ports = (name: string) => ({ [name]: "list ..20", [`${name.replace("?", "")}[]`]: "integer 1..65535" });

/** The ports of a job. */
const expose = under("expose", { ...ports("ports"), ...ports("portsPublic?") });

/** The rule of new members of an organization, if it is enabled. */
const joined = { "autoJoin.enabled": "true", "autoJoin.role": "role", "autoJoin.scope?+": "enum all read_plus" };

const content = { resource: `enum ${repoTypes} *`, scope: "string 1.." };

/** The lists of the network security: the current ones, and those before 2026-05-04. */
const contentLists: Fields = {
  ...of("list", "blockedContents?+ allowedContents?+ blockedUrls?- allowedUrls?-"),
  ...of("string", "blockedUrls[] allowedUrls[]"),
  ...under("blockedContents[]", content),
  ...under("allowedContents[]", content),
};

const volume = { type: "enum bucket model dataset space", source: "repository", mountPath: "absolutePath" };
const repositoryVolume = { ...volume, type: "enum model dataset space", "revision?": "string" };

const jobRequest: Fields = {
  flavor: `enum ${flavors}`,
  ...of("string", "spaceId? dockerImage?"),
  ...list("arguments"),
  ...command,
  "environment?": "map variable = {}",
  ...environment,
  "secrets?": "map secret",
  "secrets{}": "string",
  "arch?": "enum amd64 arm64",
  "timeoutSeconds?": "integer 1.. | null = null",
  "attempts?": "integer 1.. = 1",
  "labels?": "map label",
  ...labels,
  "volumes?": "list 1..",
  ...under("volumes[]", { ...volume, ...volumeOptions }),
  "expose?+": "object",
  ...expose,
  "ssh?+": "object",
  "ssh.enabled?": "boolean = false",
  "resourceGroupId?+": "anyCaseObjectId",
};

const webhook: Fields = {
  watched: "list 1..",
  ...under("watched[]", { type: `enum ${watchedTypes}`, name: "string 1.." }),
  domains: "list 1..",
  "domains[]": "enum repo discussion",
  "secret?": "ascii",
};
const targets: Fields[] = [{ "url~": "httpUri" }, { "jobSourceId~": "string 1.." }, { "job~": "@WebhookJobRequest" }];

const group: Fields = {
  name: "string 1..200",
  "description?": "string ..500",
  "users?": "list = []",
  ...under("users[]", { user: "string", ...role }),
  "repos?": "list = []",
  "repos[]": "@RepoId",
  "autoJoin?": "object",
};

/** The bodies of requests. Unknown fields are ignored, except where an object is `closed`. A list contains variants. */
export const requests: Readonly<Record<string, Fields | readonly Fields[]>> = {
  WebhookRequest: targets.map((target) => ({ ...webhook, ...target })),
  WebhookUpdate: targets.map((target) => ({ ...webhook, ...target })),
  WebhookJobRequest: [
    jobRequest,
    { flavor: `enum ${flavors}`, "volumes?": "list 1..", ...under("volumes[]", repositoryVolume) },
  ],
  NotificationDeletion: { "discussionIds?": "list 1..", "discussionIds[]": "objectId" },
  NotificationMark: { "discussionIds?": "list = []", "discussionIds[]": "string", "read?": "boolean = true" },
  NotificationSettingsChange: {
    notifications: "object",
    ...of("boolean", `${notificationSwitches.map((name) => `notifications.${name}?`).join(" ")}`),
    ...of("boolean", "notifications.job_status?+ notifications.repo_release?+"),
    "notifications.product_updates_after?": "timestamp",
    "prepaidAmount~": "string ..24",
  },
  WatchItem: { id: "string", type: "enum org user repo" },
  WatchChange: { ...of("list = []", "add? delete?"), ...of("@WatchItem", "add[] delete[]") },
  PaperClaim: { paperId: "string 1..", ...of("anyCaseObjectId", "claimAuthorId? targetUserId?") },
  TokenRevocation: { token: "token" },
  RepoId: { "": "closed", name: "repository", type: `enum ${repoTypes}` },
  ResourceGroupRequest: [
    { ...group, ...joined },
    { name: "string 1..200", "autoJoin?": "object", "autoJoin.enabled": "false" },
  ],
  NetworkSecurityChange: {
    ...of("boolean", "enforceAuth? enforceIpRestriction? highRateLimits? keepReposMetadataVisible?+"),
    ...list("ipRanges", "ipRange"),
    ...contentLists,
  },
  MemberRoleChange: {
    ...role,
    "resourceGroups?": "list",
    ...under("resourceGroups[]", { id: "anyCaseObjectId", ...role }),
  },
  JobRequest: [
    {
      ...jobRequest,
      "network?+": "object",
      ...under("network", { group: "networkGroup", "aliases?": "list = []", "aliases[]": "networkAlias" }),
    },
    { flavor: `enum ${flavors}`, "volumes?": "list 1..", ...under("volumes[]", repositoryVolume) },
  ],
  JobLabels: { labels: "map label", ...labels },
};

const participating = {
  participating: "list",
  ...under("participating[]", { _id: "objectId", ...of("string", "avatar user") }),
};
const notification = { updatedAt: "timestamp", read: "boolean", "discussionEventId?": "string" };
const discussion: Fields = {
  num: "number",
  title: "string",
  status: "enum draft open closed merged",
  id: "objectId",
  isPullRequest: "boolean",
  ...participating,
};

const addedBy = { "addedBy?": "string" };
const repository = { type: `enum ${repoTypes}`, name: "string", private: "boolean", ...addedBy };
const titled = { id: "objectId", ...of("string", "slug title"), private: "boolean", ...addedBy };
const named = { id: "string", "name?": "string", ...addedBy };
const resources: Record<string, Fields> = { collection: titled, blog: titled, job: named, "scheduled-job": named };
const groupMember = { type: "enum user", _id: "objectId", ...of("string", "fullname name avatarUrl") };
const smallGroup: Fields = { id: "objectId", name: "string", users: "list" };

const account = { id: "objectId", name: "string" };
const initiators: Fields[] = [
  { ...account, type: "enum user org", avatarUrl: "string" },
  ...["scheduled-job", "duplicated-job", "webhook"].map((type) => ({ id: "string", type: `enum ${type}` })),
];
const smallJob: Fields = {
  "type??": "enum job",
  id: "string",
  createdAt: "timestamp",
  ...under("owner", { ...account, "type??": "enum user org", "avatarUrl??": "string" }),
  ...under("createdBy", of("string", "id name")),
  environment: "map any",
  ...environment,
  flavor: `enum ${flavors}`,
  ...under("status", { stage: `enum ${stages}`, message: "string | null" }),
};
const job: Fields = {
  ...smallJob,
  ...of("timestamp", "startedAt? finishedAt?"),
  ...of("object", "durations? expose? resourceGroup? hfToken?"),
  ...of("number", "durations.schedulingSecs? durations.runningSecs? durations.totalSecs? timeout? retry?"),
  ...of("string", "spaceId? dockerImage? resourceGroupId?"),
  ...list("command"),
  ...list("arguments"),
  ...list("secrets"),
  "arch?": "enum amd64 arm64",
  "labels?": "map any",
  "labels{}": "string",
  "volumes?": "list",
  ...under("volumes[]", { ...of("string", "type source mountPath revision?"), ...volumeOptions }),
  ...expose,
  "network?+": "object",
  ...under("network", { group: "string", ...list("aliases") }),
  ...under("resourceGroup", { ...account, "numUsers?": "number" }),
  ...under("status", { ...of("string", "cancelReason? sshUrl?"), "failureCount?": "number", ...list("exposeUrls") }),
  ...under("hfToken", { ...of("string", "ownerName orgName? settingsUrl?"), "tokenId?": "objectId" }),
  "hfToken.tokenRole?": "enum read write fineGrained",
};

const profile: Fields = {
  ...of("string", "id name fullname avatarUrl"),
  "email?": "string | null",
  "canPay?": "boolean",
  "billingMode?": "enum prepaid postpaid",
  "periodEnd?": "number | null",
};

/** The bodies of responses. They have no unknown fields, except where an object is `loose`. A list contains variants. */
export const responses: Readonly<Record<string, Fields | readonly Fields[]>> = {
  Error: { "": "ignoring", error: "string" },
  Webhook: {
    id: "objectId",
    "url?": "uri",
    "job?": "@WebhookJob",
    ...of("string", "jobSourceId? secret?-"),
    disabled: "boolean or suspended-after-failure",
    watched: "list",
    ...under("watched[]", { name: "string", type: `enum ${watchedTypes}`, "avatarUrl?": "string" }),
    "hasSecret?+": "boolean",
    domains: "list",
    "domains[]": "enum repo discussion",
    "lastTriggerAt?": "timestamp",
  },
  WebhookJob: {
    ...of("string", "dockerImage? spaceId?"),
    "environment??": "map variable = {}",
    ...environment,
    ...list("arguments"),
    ...command,
    flavor: `enum ${flavors}`,
    "timeoutSeconds??": "integer 1.. | null = null",
    "labels?": "map label",
    ...labels,
    ...list("secrets"),
  },
  Notification: [
    {
      type: "enum paper",
      ...notification,
      ...under("paper", { _id: "objectId", title: "string" }),
      ...under("paperDiscussion", { id: "string", paperId: "objectId", ...participating }),
    },
    { type: "enum repo", ...notification, repo: "@RepoId", ...under("discussion", discussion) },
    {
      type: "enum post",
      ...notification,
      ...under("post", { ...of("string", "id slug authorName title"), ...participating }),
    },
    {
      type: "enum community_blog",
      ...notification,
      ...under("blog", { ...of("string", "id slug title authorName?"), canonical: "boolean", ...participating }),
    },
  ],
  NotificationPage: {
    notifications: "list",
    "notifications[]": "@Notification",
    ...of("number", "count.view count.unread count.all start"),
  },
  McpSettings: {
    ...of("list", "builtInTools spaceTools"),
    "builtInTools[]": "string",
    ...under("spaceTools[]", of("string", "_id name emoji subdomain")),
  },
  PaperClaimResult: { ok: "boolean", claimedPaperId: "string" },
  AuditLogEvent: {
    _id: "objectId",
    createdAt: "timestamp",
    type: `enum ${auditLogTypes}`,
    "data?": "any",
    ...of("string", "message ip? userAgent?"),
    ...of("object", "location? token? oauth?"),
    ...under("location", of("string", "formatted country? city?")),
    ...under("author", { _id: "objectId", ...of("string", "user avatarUrl"), "deleted?": "boolean" }),
    "author.type": "enum user system",
    ...under("token", { "type?": "enum access_token", ...of("string", "id? last4?"), deleted: "boolean" }),
    "token.role?": "enum read write fineGrained",
    ...under("oauth", of("string", "clientId name?")),
  },
  ResourceGroup: [
    {
      ...smallGroup,
      "description?": "string | null",
      "autoJoin?": "object",
      ...joined,
      "spendLimits?+": "object",
      ...under("spendLimits", of("integer 0..", "total? inferenceProviders? spaces? jobs? endpoints?")),
      ...under("users[]", { ...groupMember, ...role, ...addedBy }),
      "resources~+": "list",
      ...under("resources[]", repository),
      "repos~-": "list",
      ...under("repos[]", repository),
    },
    ...Object.entries(resources).map(([type, fields]) => ({
      ...smallGroup,
      "resources~+": "list",
      ...under("resources[]", { type: `enum ${type}`, ...fields }),
      "autoJoin?": "object",
      "autoJoin.enabled": "false",
    })),
  ],
  OrganizationMember: {
    _id: "objectId",
    type: "enum user",
    ...of("string", "avatarUrl fullname user"),
    ...of("boolean", "isPro isFollowing? twoFaEnabled? isExternalCollaborator?"),
    "role?": "role",
    "resourceGroups?": "list",
    ...under("resourceGroups[]", { ...of("string", "name id"), numUsers: "number", ...role }),
    "verifiedEmail?": "string | null",
  },
  NetworkSecurity: {
    ...of("boolean or pending", "enforceAuth highRateLimits"),
    ...of("boolean", "enforceIpRestriction keepReposMetadataVisible?+"),
    ipRanges: "list",
    "ipRanges[]": "string",
    ...contentLists,
  },
  OrganizationAvatar: { avatarUrl: "uri" },
  ScimServiceProviderConfig: {
    "": "loose",
    schemas: "list",
    ...of("string", "schemas[] documentationUri"),
    ...of("boolean", "patch.supported bulk.supported filter.supported changePassword.supported"),
    ...of("number", "bulk.maxOperations bulk.maxPayloadSize filter.maxResults"),
    sort: "loose",
    "sort{}": "any",
  },
  Whoami: {
    type: "enum user",
    ...profile,
    ...of("boolean", "emailVerified? isPro"),
    orgs: "list",
    ...under("orgs[]", {
      type: "enum org",
      ...profile,
      "plan?": "enum team enterprise plus academia",
      "roleInOrg?": "role",
      ...list("securityRestrictions", "enum mfa token-policy token-revoked sso ip"),
      "resourceGroups?": "list",
      ...under("resourceGroups[]", { ...account, ...role }),
    }),
    ...under("auth", { type: "string", "expiresAt?": "timestamp", ...of("object", "accessToken? resource?") }),
    "auth.resource.sub": "string",
    ...under("auth.accessToken", { displayName: "string", createdAt: "timestamp", "fineGrained?": "object" }),
    "auth.accessToken.role": "enum read write god fineGrained",
    ...under("auth.accessToken.fineGrained", {
      scoped: "list",
      ...under("scoped[].entity", { _id: "objectId", "name?": "string" }),
      "scoped[].entity.type": `enum ${repoTypes} collection org user resource-group oauth-app`,
      "scoped[].permissions": "list",
      "scoped[].permissions[]": "string",
      ...list("global", "enum discussion.write post.write"),
      "canReadGatedRepos?": "boolean",
    }),
  },
  Job: [
    job,
    ...initiators.map((initiator) => ({ ...smallJob, "initiator?": "object", ...under("initiator", initiator) })),
  ],
  JobHardware: {
    ...of("string", "name prettyName cpu ram ephemeralStorage unitLabel"),
    ...of("number", "unitCostMicroUSD unitCostUSD"),
    accelerator: "object | null",
    ...under("accelerator", of("string", "model quantity vram")),
    "accelerator.type": "enum gpu neuron",
    "accelerator.manufacturer": "enum Nvidia AWS",
  },
};
