import {
  anyOf,
  boolean,
  constant,
  given,
  list,
  number,
  objectId,
  objectIdInEitherCase,
  oneOf,
  type Schema,
  string,
  taken,
  timestamp,
  uri,
  whole,
} from "./json-schema.ts";
import { repoId, repoType, role } from "./user-schemas.ts";

/* Schemas of an organization, written by hand from the document that the Hub published on 2026-08-17. */

const auditLogType = oneOf(
  ...`
  billing.update_payment_method billing.create_customer billing.remove_payment_method billing.aws_add
  billing.aws_remove billing.gcp_add billing.gcp_remove billing.marketplace_approve billing.cancel_subscription
  billing.renew_subscription billing.start_subscription billing.un_cancel_subscription billing.update_subscription
  billing.update_subscription_plan collection.create collection.delete collection.update_resource_group org.add_user
  org.change_role org.create org.delete org.restore org.invite_user org.invite.accept org.invite.email
  org.join.from_domain org.join.automatic org.leave org.remove_user org.rename org.rotate_token org.sso_login
  org.sso_join org.update_join_settings org.update_settings org.settings.regions org.settings.profile
  org.settings.resource_groups org.settings.publisher_gating org.settings.inference_providers
  org.settings.inference_providers.keys.add org.settings.inference_providers.keys.remove
  org.settings.inference_providers.usage org.settings.sso org.settings.sso.enable org.settings.sso.disable
  org.settings.security.repo_visibility org.settings.security.2fa.enable org.settings.security.2fa.disable
  org.settings.security.auto_join.enable org.settings.security.auto_join.disable
  org.settings.security.members_privacy.enable org.settings.security.members_privacy.disable org.settings.network
  org.settings.network.ip_restriction.enable org.settings.network.ip_restriction.disable
  org.settings.network.auth_enforcement.enable org.settings.network.auth_enforcement.disable
  org.token_approval.enabled org.token_approval.disabled org.token_approval.authorization_request
  org.token_approval.authorization_request.authorized org.token_approval.authorization_request.revoked
  org.token_approval.authorization_request.denied repo.add_secrets repo.remove_secrets repo.add_secret
  repo.update_secret repo.remove_secret repo.create repo.delete repo.disable repo.removeDisable repo.duplication
  repo.delete_doi repo.move repo.update_resource_group repo.update_settings repo.add_variable repo.update_variable
  repo.remove_variable repo.add_variables repo.remove_variables repo.delete_lfs_file repo.add_trusted_publisher
  repo.remove_trusted_publisher spaces.add_storage spaces.remove_storage spaces.set_volumes spaces.remove_volumes
  spaces.update_hardware spaces.update_sleep_time resource_group.create resource_group.add_users
  resource_group.remove_users resource_group.change_role resource_group.settings resource_group.delete jobs.create
  jobs.cancel jobs.update_labels jobs.update_expose scheduled_job.create scheduled_job.delete scheduled_job.resume
  scheduled_job.suspend scheduled_job.run scheduled_job.update_schedule scheduled_job.update_labels
  org.service_account.create org.service_account.delete org.service_account.token.create
  org.service_account.token.delete org.service_account.token.rotate org.service_account.token.update oauth.token
  `
    .trim()
    .split(/\s+/),
);

export const auditLog = list(
  given({
    _id: objectId,
    createdAt: timestamp,
    type: auditLogType,
    "data?": {},
    message: string,
    "ip?": string,
    "location?": given({ formatted: string, "country?": string, "city?": string }),
    "userAgent?": string,
    author: given({
      _id: objectId,
      user: string,
      avatarUrl: string,
      type: oneOf("user", "system"),
      "deleted?": boolean,
    }),
    "token?": given({
      type: constant("access_token"),
      id: string,
      "role?": oneOf("read", "write", "fineGrained"),
      "last4?": string,
      deleted: boolean,
    }),
    "oauth?": given({ clientId: string, "name?": string }),
  }),
);

const scope = oneOf("all", "read_plus");
const addedBy = { "addedBy?": string };
const titled = { id: objectId, slug: string, title: string, ...addedBy, private: boolean };
const named = { id: string, "name?": string, ...addedBy };

export const resourceGroup = given({
  id: objectId,
  name: string,
  "description?": anyOf(string, { type: "null" }),
  "autoJoin?": anyOf(given({ enabled: constant(true), role, "scope?": scope }), given({ enabled: constant(false) })),
  "spendLimits?": given({
    "total?": whole,
    "inferenceProviders?": whole,
    "spaces?": whole,
    "jobs?": whole,
    "endpoints?": whole,
  }),
  users: list(
    given({
      type: constant("user"),
      _id: objectId,
      fullname: string,
      name: string,
      avatarUrl: string,
      role,
      ...addedBy,
    }),
  ),
  resources: list(
    anyOf(
      given({ type: repoType, name: string, ...addedBy, private: boolean }),
      given({ type: constant("collection"), ...titled }),
      given({ type: constant("blog"), ...titled }),
      given({ type: constant("job"), ...named }),
      given({ type: constant("scheduled-job"), ...named }),
    ),
  ),
});

export const resourceGroupRequest = taken({
  name: { type: "string", minLength: 1, maxLength: 200 },
  "description?": { type: "string", maxLength: 500 },
  "users?": list(taken({ user: string, role }), { default: [] }),
  "repos?": list(repoId, { default: [] }),
  "autoJoin?": anyOf(taken({ enabled: constant(true), role, "scope?": scope }), taken({ enabled: constant(false) })),
});

const content = { resource: anyOf(repoType, constant("*")), scope: { type: "string", minLength: 1 } };

export const networkSecurity = given({
  enforceAuth: anyOf(boolean, constant("pending")),
  enforceIpRestriction: boolean,
  highRateLimits: boolean,
  ipRanges: list(string),
  blockedContents: list(given(content)),
  allowedContents: list(given(content)),
  keepReposMetadataVisible: boolean,
});

const cidrv4: Schema = {
  type: "string",
  pattern: "^(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|\\d?\\d)\\.?\\b){4}\\/(?:3[0-2]|[12]?\\d)$",
};
const cidrv6: Schema = { type: "string", pattern: "^[0-9a-fA-F:]+\\/(?:12[0-8]|1[01]\\d|\\d?\\d)$" };

export const networkSecurityChange = taken({
  "enforceAuth?": boolean,
  "enforceIpRestriction?": boolean,
  "highRateLimits?": boolean,
  "ipRanges?": list(anyOf(cidrv4, cidrv6)),
  "blockedContents?": list(taken(content)),
  "allowedContents?": list(taken(content)),
  "keepReposMetadataVisible?": boolean,
});

export const avatar = given({ avatarUrl: uri });

export const members = list(
  given({
    avatarUrl: string,
    fullname: string,
    isPro: boolean,
    user: string,
    type: constant("user"),
    "isFollowing?": boolean,
    _id: objectId,
    "role?": role,
    "resourceGroups?": list(given({ name: string, id: string, numUsers: number, role })),
    "twoFaEnabled?": boolean,
    "verifiedEmail?": anyOf(string, { type: "null" }),
    "isExternalCollaborator?": boolean,
  }),
);

/** The query parameters of the list of members. */
export const memberSearch: Record<string, Schema> = {
  search: string,
  email: { type: "string", format: "email" },
  cursor: string,
  limit: { default: 500, type: "integer", minimum: 10, maximum: 10000 },
};

export const memberRole = taken({
  role,
  "resourceGroups?": list(taken({ id: objectIdInEitherCase, role })),
});

const supported = given({ supported: boolean });

export const scimConfig = given({
  schemas: list(string),
  documentationUri: string,
  patch: supported,
  bulk: given({ supported: boolean, maxOperations: number, maxPayloadSize: number }),
  filter: given({ supported: boolean, maxResults: number }),
  changePassword: supported,
  sort: supported,
  etag: supported,
  authenticationSchemes: list(
    given({ type: string, name: string, description: string, specUri: string, documentationUri: string }),
  ),
  meta: given({ resourceType: string, location: string }),
});
