import { type Fields, of, under } from "./facts.ts";
import {
  auditLogTypes,
  command,
  contentLists,
  environment,
  expose,
  flavors,
  joined,
  labels,
  list,
  notificationSwitches,
  repoTypes,
  role,
  stages,
  volumeOptions,
  watchedTypes,
} from "./values.ts";

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
