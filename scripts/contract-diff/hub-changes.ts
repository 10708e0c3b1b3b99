import { addedFlavors } from "../../src/hub/jobs/definition.ts";
import { jobOperations } from "../../src/hub/jobs/schemas.ts";
import { addedAuditLogTypes } from "../../src/hub/organizations/audit-log-types.ts";

/*
 * The differences between the Hub of today, hub-api.md (the Hub of late April 2026) and the schemas in src/hub, which
 * accept both. `npm run contract:diff` explains differences from a document of the Hub with these tables. Tests compare
 * them with the schemas, and the site of the documentation shows them.
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
const jobOperationIds = Object.values(jobOperations).map(({ operationId }) => operationId);
const roleAnswers = [...groups, "listOrganizationMembers", "whoami"];

/** The changes of the Hub after hub-api.md was written, oldest first. */
export const hubChanges: readonly HubChange[] = [
  {
    since: "2026-05-04",
    what: "network security: `allowedContents` and `blockedContents`, lists of `{resource, scope}`, replace `allowedUrls` and `blockedUrls`; `keepReposMetadataVisible` is new",
    client:
      "returns the fields that the Hub returns; before an update of one of these fields, reads the settings and rejects fields that the Hub ignores",
    localHub: "stores and returns the old and the new fields separately",
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
    what: "new hardware flavors: `rtx-pro-6000`, `rtx-pro-6000x2`, `rtx-pro-6000x4`, `rtx-pro-6000x8`",
    client: "sends them",
    localHub: "accepts them",
    parts: [
      { change: "added", operations: webhookRequests, in: "request", field: "job.flavor", values: addedFlavors },
      { change: "added", operations: webhookAnswers, in: "answer", field: "job.flavor", values: addedFlavors },
    ],
  },
  {
    since: "2026-05-28",
    what: "new fields of a webhook's job: `expose`, `ssh`",
    client: "sends both fields; pass both again in an update that keeps the job, because the Hub does not return them",
    localHub: "accepts them, but exposes nothing",
    parts: ["job.expose", "job.ssh"].map((field) => ({
      change: "added",
      operations: webhookRequests,
      in: "request",
      field,
    })),
  },
  {
    since: "2026-07-01",
    what: "resource groups: `resources` replaces `repos` in responses, and adds collections, blog articles, jobs, and scheduled jobs; requests still use `repos`",
    client: "returns `resources`; if the Hub returns `repos`, derives `resources` from `repos`",
    localHub: "returns `resources` and `repos`; the example data contains a few of the new resources",
    parts: [
      { change: "added", operations: groups, in: "answer", field: "resources" },
      { change: "removed", operations: groups, in: "answer", field: "repos" },
    ],
  },
  {
    since: "2026-07-27",
    what: "new field of a webhook's job: `resourceGroupId`",
    client: "sends the field; pass it again in an update that keeps the job",
    localHub: "accepts it",
    parts: [{ change: "added", operations: webhookRequests, in: "request", field: "job.resourceGroupId" }],
  },
  {
    since: "2026-08-12",
    what: "tokens are revoked by ID, with POST `…/settings/tokens/{tokenId}/revoke`, instead of by value",
    client: "`revokeToken(name, { tokenId })`; `{ token }` calls the old path",
    localHub: "serves both paths; the page `/settings/tokens` and the audit log show the IDs",
    parts: [
      { change: "added", operations: ["revokeOrganizationTokenById"], in: "operation", field: "" },
      { change: "removed", operations: ["revokeOrganizationToken"], in: "operation", field: "" },
    ],
  },
  {
    since: publishedOn,
    what: "new notification settings: `job_status`, `repo_release`",
    client: "sends them",
    localHub: "stores them",
    parts: ["notifications.job_status", "notifications.repo_release"].map((field) => ({
      change: "added",
      operations: ["updateNotificationSettings"],
      in: "request",
      field,
    })),
  },
  {
    since: publishedOn,
    what: "new fields of resource groups: `autoJoin.scope` (`all` or `read_plus`), `spendLimits`",
    client: "sends `scope`; returns `scope` and `spendLimits`",
    localHub: "stores `scope`; returns no `spendLimits`",
    parts: [
      { change: "added", operations: ["createResourceGroup"], in: "request", field: "autoJoin<true>.scope" },
      { change: "added", operations: groups, in: "answer", field: "autoJoin<true>.scope" },
      { change: "added", operations: groups, in: "answer", field: "spendLimits" },
    ],
  },
  {
    since: publishedOn,
    what: "35 new types of audit log events; the three types for custom roles are no longer listed",
    client: "returns any type",
    localHub: "the example data contains the 84 types of the specification; `q` accepts all 119 types",
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
    what: "webhooks have `hasSecret`; `secret` is never returned",
    client: "returns what the Hub returns; pass the secret again in an update, because the client cannot read it",
    localHub: "returns `secret`, because the specification has no `hasSecret`",
    parts: [
      { change: "added", operations: webhookAnswers, in: "answer", field: "hasSecret" },
      { change: "removed", operations: webhookAnswers, in: "answer", field: "secret" },
    ],
  },
  {
    since: publishedOn,
    what: "new operations: GET `/api/whoami-v2`, and the operations on jobs under `/api/jobs`",
    client: "`hub.whoami()`, and the methods of `hub.jobs`",
    localHub: "serves these operations; `hf auth whoami` and `hf jobs` work",
    parts: [{ change: "added", operations: ["whoami", ...jobOperationIds], in: "operation", field: "" }],
  },
  {
    since: publishedOn,
    what: "paper claims require `claimAuthorId`, and a `paperId` such as `2401.12345`",
    client: "sends claims unchanged",
    localHub: "chooses the author if `claimAuthorId` is missing; accepts any `paperId`",
    parts: [
      { change: "differs", operations: ["claimPaper"], in: "request", field: "claimAuthorId", kinds: ["required"] },
      { change: "differs", operations: ["claimPaper"], in: "request", field: "paperId", kinds: ["rules"] },
    ],
  },
  {
    since: publishedOn,
    what: "the document lists only the five built-in roles, and no custom roles",
    client: "sends and returns any role, without a warning",
    localHub: "accepts custom roles; the example data contains some",
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
    localHub: "rejects an empty list; `highRateLimits` is `pending` for one organization",
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
    what: "new fields of the SCIM configuration: `etag`, `authenticationSchemes`, `meta`, `sort.supported`",
    client: "returns them without types",
    localHub: "returns them",
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
      { change: "differs", operations: ["startJob"], in: "request", field: "volumes[].source", kinds: ["rules"] },
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
      {
        change: "differs",
        operations: ["startJob", "setJobLabels"],
        in: "request",
        field: "labels.{name}",
        kinds: ["rules"],
      },
      { change: "differs", operations: webhookAnswers, in: "answer", field: "labels.{name}", kinds: ["rules"] },
    ],
  },
  {
    why: "The Hub added the networks of jobs after the published document.",
    parts: [
      { change: "removed", operations: ["startJob"], in: "request", field: "network" },
      { change: "removed", operations: ["listJobs"], in: "answer", field: "[].network" },
      {
        ...{ change: "removed", operations: ["startJob", "getJob", "cancelJob", "setJobLabels"] },
        ...{ in: "answer", field: "network" },
      },
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
