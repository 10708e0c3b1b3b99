import { addedFlavors } from "../../src/hub/jobs.ts";
import { addedAuditLogTypes } from "../../src/hub/organizations/audit-log.ts";

/*
 * The differences between the Hub of today, hub-api.md (the Hub of late April 2026) and the schemas in src/hub, which
 * accept both. `npm run contract:diff` explains differences from a document of the Hub with these tables. Tests compare
 * them with the schemas and with docs/hub-api.md.
 */

/** The date of the published document that these tables were compared with. */
export const publishedOn = "2026-08-17";

/** A part of an operation. */
interface Place {
  /** Operation IDs. */
  operations: readonly string[];
  in: "request" | "answer" | `query.${string}` | "operation";
  /** The end of the path of the field, as in `job.flavor`. Empty for the whole operation. */
  field: string;
}

/**
 * How a part changed. `added`: in the schemas, but not in hub-api.md. `removed`: in hub-api.md and the schemas, but not on
 * the Hub of today. `passed through`: returned by the Hub, but not in the schemas. `differs`: other types, values or bounds.
 */
export type ChangedPart = Place &
  (
    | { change: "added" | "removed"; values?: readonly string[] }
    | { change: "passed through" }
    | { change: "differs"; kinds: readonly ("types" | "values" | "required" | "rules")[] }
  );

/** A change of the Hub, and how the client and the local Hub handle it. */
export interface HubChange {
  /** The day of the change, or {@link publishedOn} if the change happened on that day or earlier. */
  since: string;
  what: string;
  client: string;
  localHub: string;
  parts: readonly ChangedPart[];
}

const webhookAnswers = ["listWebhooks", "createWebhook", "getWebhook", "updateWebhook", "setWebhookState"];
const webhookRequests = ["createWebhook", "updateWebhook"];
const groups = ["listResourceGroups", "createResourceGroup"];
const networkSecurity = ["getNetworkSecurity", "updateNetworkSecurity"];
const roleRequests = ["createResourceGroup", "setMemberRole"];
const roleAnswers = [...groups, "listOrganizationMembers", "whoami"];

/** The changes of the Hub after hub-api.md was written, oldest first. */
export const hubChanges: readonly HubChange[] = [
  {
    since: "2026-05-04",
    what: "network security: `allowedUrls`, `blockedUrls` became `allowedContents`, `blockedContents`, lists of `{resource, scope}`; `keepReposMetadataVisible`",
    client:
      "returns the names that the Hub returns; reads before it changes one of them, and refuses the names that this Hub ignores",
    localHub: "returns and keeps both, each as it was given",
    parts: [
      ...["allowedContents", "blockedContents", "keepReposMetadataVisible"].flatMap((field): ChangedPart[] => [
        { change: "added", operations: networkSecurity, in: "answer", field },
        { change: "added", operations: ["updateNetworkSecurity"], in: "request", field },
      ]),
      ...["allowedUrls", "blockedUrls"].flatMap((field): ChangedPart[] => [
        { change: "removed", operations: networkSecurity, in: "answer", field },
        { change: "removed", operations: ["updateNetworkSecurity"], in: "request", field },
      ]),
    ],
  },
  {
    since: "2026-05-20",
    what: "hardware flavors `rtx-pro-6000`, `rtx-pro-6000x2`, `rtx-pro-6000x4`, `rtx-pro-6000x8`",
    client: "sends them",
    localHub: "accepts them",
    parts: [
      { change: "added", operations: webhookRequests, in: "request", field: "job.flavor", values: addedFlavors },
      { change: "added", operations: webhookAnswers, in: "answer", field: "job.flavor", values: addedFlavors },
    ],
  },
  {
    since: "2026-05-28",
    what: "`expose` and `ssh` of a webhook's job",
    client: "sends them; an update that keeps the job requires them, since a read does not return them",
    localHub: "accepts them, and exposes nothing",
    parts: ["job.expose", "job.ssh"].map((field) => ({
      change: "added",
      operations: webhookRequests,
      in: "request",
      field,
    })),
  },
  {
    since: "2026-07-01",
    what: "resource groups: `repos` became `resources`, with collections, blog articles, jobs and scheduled jobs; a group is created with `repos` as before",
    client: "returns `resources`, made from `repos` where the Hub returns that",
    localHub: "returns both; a few other resources are there from the start",
    parts: [
      { change: "added", operations: groups, in: "answer", field: "resources" },
      { change: "removed", operations: groups, in: "answer", field: "repos" },
    ],
  },
  {
    since: "2026-07-27",
    what: "`resourceGroupId` of a webhook's job",
    client: "as `expose`",
    localHub: "accepts it",
    parts: [{ change: "added", operations: webhookRequests, in: "request", field: "job.resourceGroupId" }],
  },
  {
    since: "2026-08-12",
    what: "a token is revoked by its id, POST `…/settings/tokens/{tokenId}/revoke`, and no longer by its raw value",
    client: "`revokeToken(name, { tokenId })`; `{ token }` calls the path from before",
    localHub: "serves both paths; the ids are on `/settings/tokens` and in the audit log",
    parts: [
      { change: "added", operations: ["revokeOrganizationTokenById"], in: "operation", field: "" },
      { change: "removed", operations: ["revokeOrganizationToken"], in: "operation", field: "" },
    ],
  },
  {
    since: publishedOn,
    what: "notification settings `job_status`, `repo_release`",
    client: "sends them",
    localHub: "keeps them",
    parts: ["notifications.job_status", "notifications.repo_release"].map((field) => ({
      change: "added",
      operations: ["updateNotificationSettings"],
      in: "request",
      field,
    })),
  },
  {
    since: publishedOn,
    what: "resource groups: `autoJoin.scope`, `all` or `read_plus`; `spendLimits`",
    client: "sends `scope`; returns both",
    localHub: "keeps `scope`; has no `spendLimits`",
    parts: [
      { change: "added", operations: ["createResourceGroup"], in: "request", field: "autoJoin<true>.scope" },
      { change: "added", operations: groups, in: "answer", field: "autoJoin<true>.scope" },
      { change: "added", operations: groups, in: "answer", field: "spendLimits" },
    ],
  },
  {
    since: publishedOn,
    what: "35 further types of the audit log; the three of custom roles are not listed any more",
    client: "returns any type",
    localHub: "writes the 84 specified types; finds by any of the 119",
    parts: [
      { change: "added", operations: ["exportAuditLog"], in: "answer", field: "[].type", values: addedAuditLogTypes },
      {
        change: "removed",
        operations: ["exportAuditLog"],
        in: "answer",
        field: "[].type",
        values: ["org.custom_role.create", "org.custom_role.update", "org.custom_role.delete"],
      },
    ],
  },
  {
    since: publishedOn,
    what: "a webhook has `hasSecret`, and its `secret` is never returned",
    client: "returns what the Hub returns; an update requires a secret that it cannot keep",
    localHub: "returns `secret`: the specification allows no other field",
    parts: [
      { change: "added", operations: webhookAnswers, in: "answer", field: "hasSecret" },
      { change: "removed", operations: webhookAnswers, in: "answer", field: "secret" },
    ],
  },
  {
    since: publishedOn,
    what: "GET `/api/whoami-v2`, GET `/api/jobs/hardware`",
    client: "`hub.whoami()`, `hub.jobs.hardware()`",
    localHub: "serves them, as `hf auth whoami` and `hf jobs hardware` call them",
    parts: [{ change: "added", operations: ["whoami", "listJobHardware"], in: "operation", field: "" }],
  },
  {
    since: publishedOn,
    what: "a claim of a paper requires `claimAuthorId`, and a `paperId` such as `2401.12345`",
    client: "sends a claim as it is given",
    localHub: "chooses the author where none is given; takes any `paperId`",
    parts: [
      { change: "differs", operations: ["claimPaper"], in: "request", field: "claimAuthorId", kinds: ["required"] },
      { change: "differs", operations: ["claimPaper"], in: "request", field: "paperId", kinds: ["rules"] },
    ],
  },
  {
    since: publishedOn,
    what: "roles are the five known ones; custom ones are not listed any more",
    client: "sends and returns any role, without a warning",
    localHub: "takes and has custom roles",
    parts: [
      { change: "differs", operations: roleRequests, in: "request", field: "role", kinds: ["values", "rules"] },
      { change: "differs", operations: roleAnswers, in: "answer", field: "role", kinds: ["values", "rules"] },
      { change: "differs", operations: ["whoami"], in: "answer", field: "roleInOrg", kinds: ["values", "rules"] },
    ],
  },
  {
    since: publishedOn,
    what: "`ipRanges` may be empty; `highRateLimits` is never `pending`",
    client: "sends an empty list; returns what the Hub returns",
    localHub: "refuses an empty list; one organization waits for its rate limits",
    parts: [
      {
        change: "differs",
        operations: networkSecurity,
        in: "answer",
        field: "highRateLimits",
        kinds: ["types", "values"],
      },
    ],
  },
  {
    since: publishedOn,
    what: "the SCIM configuration has `etag`, `authenticationSchemes`, `meta`, and `sort.supported`",
    client: "returns them, without types",
    localHub: "has them",
    parts: ["etag", "authenticationSchemes", "meta", "sort.supported"].map((field) => ({
      change: "passed through",
      operations: ["getScimConfig"],
      in: "answer",
      field,
    })),
  },
];

/** A difference between the schemas and the published document that is not a change of the Hub. */
export interface ContractRule {
  why: string;
  parts: readonly ChangedPart[];
}

/** The rules that are stricter or looser in the schemas than in the published document. */
export const contractRules: readonly ContractRule[] = [
  {
    why: "Deliveries are posted over http or https, and a URL must be one that HTTP can carry.",
    parts: [{ change: "differs", operations: webhookRequests, in: "request", field: "url", kinds: ["rules"] }],
  },
  {
    why: "An empty name is a mistake: nothing has it.",
    parts: ["watched[].name", "jobSourceId"].map((field) => ({
      change: "differs",
      operations: webhookRequests,
      in: "request",
      field,
      kinds: ["rules"],
    })),
  },
  {
    why: "hub-api.md gives the form of these names: owner/name.",
    parts: [
      { change: "differs", operations: webhookRequests, in: "request", field: "volumes[].source", kinds: ["rules"] },
      {
        change: "differs",
        operations: ["createResourceGroup"],
        in: "request",
        field: "repos[].name",
        kinds: ["rules"],
      },
      { change: "differs", operations: ["listNotifications"], in: "answer", field: "repo.name", kinds: ["rules"] },
    ],
  },
  {
    why: "No JavaScript program carries a key __proto__ safely.",
    parts: [
      { change: "differs", operations: webhookRequests, in: "request", field: "labels.{name}", kinds: ["rules"] },
      { change: "differs", operations: webhookAnswers, in: "answer", field: "labels.{name}", kinds: ["rules"] },
    ],
  },
  {
    why: "An IPv6 range may end in an IPv4 address, and hub-api.md excludes none.",
    parts: [
      {
        change: "differs",
        operations: ["updateNetworkSecurity"],
        in: "request",
        field: "ipRanges[]",
        kinds: ["rules"],
      },
    ],
  },
  {
    why: "The published document gives no type, hub-api.md does.",
    parts: [
      {
        change: "differs",
        operations: ["deleteNotifications", "markNotificationsAsRead"],
        in: "query.applyToAll",
        field: "",
        kinds: ["types"],
      },
      { change: "differs", operations: ["getOrganizationAvatar"], in: "query.redirect", field: "", kinds: ["types"] },
    ],
  },
  {
    why: "hub-api.md does not mark these fields as required.",
    parts: ["token.type", "token.id"].map((field) => ({
      change: "differs",
      operations: ["exportAuditLog"],
      in: "answer",
      field,
      kinds: ["required"],
    })),
  },
  {
    why: "hub-api.md does not show the whole of the SCIM configuration: other fields pass through.",
    parts: ["{value}", "sort.{value}"].map((field) => ({
      change: "removed",
      operations: ["getScimConfig"],
      in: "answer",
      field,
    })),
  },
];
