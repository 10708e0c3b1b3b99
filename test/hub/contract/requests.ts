import { type Fields, of, under } from "./fact.ts";
import {
  command,
  contentLists,
  environment,
  expose,
  joined,
  labels,
  list,
  role,
  volumeOptions,
} from "./shared-fields.ts";
import { flavors, notificationSwitches, repoTypes, watchedTypes } from "./values.ts";

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
  JobLabels: { labels: "map label", ...labels },
};
