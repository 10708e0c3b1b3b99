import type { Bound } from "../bounds.ts";
import {
  boolean,
  noOtherFields,
  object,
  objectBody,
  objectId,
  oneOf,
  optional,
  required,
  text,
  timestamp,
} from "../fields.ts";

/** The 84 event types, copied from hub-api.md group by group. */
export const auditLogTypes = `
  billing.update_payment_method billing.create_customer billing.remove_payment_method billing.aws_add
  billing.aws_remove billing.gcp_add billing.gcp_remove billing.marketplace_approve billing.cancel_subscription
  billing.renew_subscription billing.start_subscription billing.un_cancel_subscription billing.update_subscription
  billing.update_subscription_plan
  collection.create collection.delete
  org.add_user org.change_role org.create org.delete org.restore org.invite_user org.invite.accept org.invite.email
  org.join.from_domain org.join.automatic org.leave org.remove_user org.rename org.rotate_token org.sso_login
  org.sso_join org.update_join_settings org.update_settings org.token_approval.enabled org.token_approval.disabled
  org.token_approval.authorization_request org.token_approval.authorization_request.authorized
  org.token_approval.authorization_request.revoked org.token_approval.authorization_request.denied
  org.custom_role.create org.custom_role.update org.custom_role.delete
  repo.add_secrets repo.remove_secrets repo.add_secret repo.update_secret repo.remove_secret repo.create repo.delete
  repo.disable repo.removeDisable repo.duplication repo.delete_doi repo.move repo.update_resource_group
  repo.update_settings repo.add_variable repo.update_variable repo.remove_variable repo.add_variables
  repo.remove_variables repo.delete_lfs_file
  spaces.add_storage spaces.remove_storage spaces.set_volumes spaces.remove_volumes spaces.update_hardware
  spaces.update_sleep_time
  resource_group.create resource_group.add_users resource_group.remove_users resource_group.change_role
  resource_group.settings resource_group.delete
  jobs.create jobs.cancel scheduled_job.create scheduled_job.delete scheduled_job.resume scheduled_job.suspend
  scheduled_job.run scheduled_job.update_schedule
  oauth.token
`
  .trim()
  .split(/\s+/);

/** An event with every field. */
export const auditLogEventBody = {
  _id: "0123456789abcdef01234567",
  createdAt: "2026-09-01T12:34:56Z",
  type: "org.add_user",
  data: { user: "ada" },
  message: "Added ada.",
  ip: "192.0.2.1",
  location: { formatted: "Paris, FR", country: "FR", city: "Paris" },
  userAgent: "curl/8",
  author: {
    _id: "0123456789abcdef01234567",
    user: "ada",
    avatarUrl: "/avatars/ada.svg",
    type: "user",
    deleted: false,
  },
  token: { type: "access_token", id: "token-1", deleted: false, role: "write", last4: "abcd" },
  oauth: { clientId: "client-1", name: "App" },
};

/** The rules of the specification for an event of the audit log. */
export const auditLogEventBounds: Bound[] = [
  ...required({
    _id: objectId,
    createdAt: timestamp,
    type: oneOf(auditLogTypes),
    message: text,
    author: object,
    "author._id": objectId,
    "author.user": text,
    "author.avatarUrl": text,
    "author.type": oneOf(["user", "system"]),
    "location.formatted": text,
    "token.deleted": boolean,
    "oauth.clientId": text,
  }),
  ...optional({
    ip: text,
    userAgent: text,
    location: object,
    "location.country": text,
    "location.city": text,
    "author.deleted": boolean,
    token: object,
    "token.type": oneOf(["access_token"]),
    "token.id": text,
    "token.role": oneOf(["read", "write", "fineGrained"]),
    "token.last4": text,
    oauth: object,
    "oauth.name": text,
  }),
  {
    rule: "is any JSON, if given",
    at: "data",
    accepted: [undefined, null, "x", 1, true, [], [{}], {}, { stranger: { deep: [null] } }],
    refused: [],
  },
  ...noOtherFields(["", "author", "location", "token", "oauth"]),
  objectBody,
];
