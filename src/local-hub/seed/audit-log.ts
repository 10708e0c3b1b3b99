import { type SpecifiedAuditLogType, specifiedAuditLogTypes } from "../../hub/organizations/audit-log-types.ts";
import { localUser, organizationNames, otherUser } from "../accounts.ts";
import type { StoredAuditEvent } from "../store/audit-log-store.ts";
import { mainOrganization, memberName } from "./organizations.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** The age of the oldest event. */
const periodMs = 90 * dayMs;

const frequentTypes = [
  "org.sso_login",
  "jobs.create",
  "repo.update_settings",
  "org.add_user",
  "scheduled_job.run",
] as const;

const formerUser = "former-user";
const authors = [localUser, memberName(0), memberName(1), otherUser, formerUser];

type Origin = Pick<StoredAuditEvent, "ip" | "location" | "userAgent" | "token" | "oauth">;

const paris = { formatted: "Paris, France", country: "FR", city: "Paris" };
const oregon = { formatted: "Boardman, Oregon, United States", country: "US", city: "Boardman" };
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const script = "huggingface_hub/1.2.0; python/3.13.1";

/** Example origins. The addresses are reserved for documentation (RFC 5737, RFC 3849), and the tokens do not exist. */
const origins: readonly Origin[] = [
  { ip: "192.0.2.10", location: paris, userAgent: browser },
  { ip: "198.51.100.23", location: oregon, userAgent: script, token: accessToken("a1", "write", { last4: "kQ7d" }) },
  { ip: "2001:db8::17", location: { formatted: "Germany", country: "DE" }, userAgent: browser },
  { ip: "203.0.113.5", userAgent: script, token: accessToken("a2", "fineGrained", { last4: "x2Lm" }) },
  { ip: "192.0.2.77", location: paris, token: accessToken("a3", "read", { deleted: true }) },
  { ip: "203.0.113.80", location: { formatted: "Unknown" }, oauth: { clientId: "acme-dashboard", name: "Dashboard" } },
  { userAgent: script, oauth: { clientId: "6a0c2f4e-1b7d-4a5c" } },
];

function accessToken(
  number: string,
  role: "read" | "write" | "fineGrained",
  { deleted = false, last4 }: { deleted?: boolean; last4?: string },
): NonNullable<Origin["token"]> {
  const id = number.padStart(24, "6a0c2f4e1b7d93a5c8e0");
  return { type: "access_token", id, deleted, role, ...(last4 !== undefined && { last4 }) };
}

/** Creates example events of all organizations, oldest first. */
export function seedAuditLog({ now }: { now: number }): StoredAuditEvent[] {
  const others = organizationNames.filter((name) => name !== mainOrganization);
  return [...others.flatMap((name) => foundingEvents(name, now)), ...mainEvents(now)].map((event, number) => ({
    ...event,
    id: number.toString(16).padStart(24, "6a0c2f4e1b7d93a5c8e0f000"),
  }));
}

type NewEvent = Omit<StoredAuditEvent, "id">;

function foundingEvents(organization: string, now: number): NewEvent[] {
  const event = { organization, author: localUser, at: now - periodMs, ...origins[0] };
  return [
    { ...event, type: "org.create", message: "Created the organization", data: { name: organization } },
    {
      ...event,
      type: "org.add_user",
      message: `Added ${localUser}`,
      data: { user: localUser, role: "admin" },
    },
  ];
}

/** Creates one event of each type, with frequent events in between. */
function mainEvents(now: number): NewEvent[] {
  const events: [SpecifiedAuditLogType, ExampleEvent][] = [];
  for (const [index, type] of specifiedAuditLogTypes.entries()) {
    events.push([type, exampleEvents[type]]);
    const frequentType = frequentTypes[index % (frequentTypes.length + 1)];
    if (frequentType !== undefined) events.push([frequentType, repeatEvent(frequentType, index)]);
  }
  return events.map(([type, event], index) => ({
    organization: mainOrganization,
    type,
    at: now - periodMs + Math.floor(((index + 1) * periodMs) / (events.length + 1)),
    ...describeOrigin(event, index),
  }));
}

function repeatEvent(type: SpecifiedAuditLogType, number: number): ExampleEvent {
  if (type !== "org.add_user") return exampleEvents[type];
  const user = memberName(number);
  return { message: `Added ${user}`, data: { user, role: "read" } };
}

function describeOrigin(
  { bySystem, ...event }: ExampleEvent,
  index: number,
): Omit<NewEvent, "organization" | "type" | "at"> {
  if (bySystem) return event;
  // With seven origins and five authors, all combinations occur.
  const author = authors[index % authors.length];
  return {
    ...event,
    author,
    ...(author === formerUser && { isAuthorDeleted: true }),
    ...origins[index % origins.length],
  };
}

/** An event without an author and a time. */
interface ExampleEvent {
  message: string;
  data?: Record<string, unknown>;
  /** Whether the Hub itself is the author. Default: a user. */
  bySystem?: true;
}

const reviews = { type: "dataset", name: "acme/reviews" };
const sentiment = { type: "model", name: "acme/sentiment" };
const playground = { type: "space", name: "acme/playground" };
const rotary = { type: "kernel", name: "acme/rotary" };
const group = { id: "6a0c2f4e1b7d93a5c8e0f216", name: "Reviews" };
const reviewer = { name: "reviewer", permissions: ["repo.content.read", "discussion.write"] };
const scheduled = { scheduledJobId: "6a0c2f4e1b7d93a5c8e0f2a1" };

/** One event of each type, oldest first. */
const exampleEvents: Readonly<Record<SpecifiedAuditLogType, ExampleEvent>> = {
  "org.create": { message: "Created the organization", data: { name: "acme-labs" } },
  "org.rename": { message: "Renamed the organization to acme", data: { from: "acme-labs", to: "acme" } },
  "billing.create_customer": { message: "Created the billing account", bySystem: true },
  "billing.update_payment_method": { message: "Changed the payment method", data: { last4: "4242" } },
  "billing.start_subscription": { message: "Started the plan Team", data: { plan: "team" } },
  "org.invite_user": { message: "Invited alan-adams", data: { user: "alan-adams", role: "write" } },
  "org.invite.email": { message: "Invited hopper@example.com", data: { email: "hopper@example.com" } },
  "org.invite.accept": { message: "Accepted an invitation", data: { role: "write" } },
  "org.add_user": { message: "Added other-user", data: { user: "other-user", role: "read" } },
  "org.change_role": {
    message: "Changed the role of ada-adams from write to admin",
    data: { user: "ada-adams", from: "write", to: "admin" },
  },
  "org.update_settings": { message: "Changed the description", data: { description: "Reviews, read by machines" } },
  "org.update_join_settings": {
    message: "Allowed people to join by their email domain",
    data: { domain: "acme.example" },
  },
  "org.join.from_domain": { message: "Joined by the email domain acme.example", data: { domain: "acme.example" } },
  "org.rotate_token": { message: "Replaced the token of the organization" },
  "repo.create": { message: "Created the dataset acme/reviews", data: { repo: reviews } },
  "collection.create": { message: "Created the collection Sentiment", data: { slug: "acme/sentiment-6a0c2f4e" } },
  "repo.duplication": {
    message: "Duplicated the space acme/playground",
    data: { repo: playground, to: "acme/try-out" },
  },
  "repo.move": { message: "Moved the model acme/mood to acme/sentiment", data: { repo: sentiment, from: "acme/mood" } },
  "repo.update_settings": {
    message: "Changed the settings of the model acme/sentiment",
    data: { repo: sentiment, updatedConfig: { private: false } },
  },
  "repo.add_secret": { message: "Added a secret to acme/playground", data: { repo: playground, key: "DATABASE_URL" } },
  "repo.update_secret": { message: "Changed a secret in acme/playground", data: { repo: playground, key: "API_KEY" } },
  "repo.add_secrets": { message: "Added 2 secrets to acme/playground", data: { repo: playground, keys: ["A", "B"] } },
  "repo.remove_secret": {
    message: "Removed a secret from acme/playground",
    data: { repo: playground, key: "API_KEY" },
  },
  "repo.remove_secrets": { message: "Removed all secrets from acme/playground", data: { repo: playground } },
  "repo.add_variable": { message: "Added a variable to acme/playground", data: { repo: playground, key: "LEVEL" } },
  "repo.update_variable": {
    message: "Changed a variable in acme/playground",
    data: { repo: playground, key: "LEVEL" },
  },
  "repo.add_variables": {
    message: "Added 2 variables to acme/playground",
    data: { repo: playground, keys: ["C", "D"] },
  },
  "repo.remove_variable": { message: "Removed a variable from acme/playground", data: { repo: playground, key: "C" } },
  "repo.remove_variables": { message: "Removed all variables from acme/playground", data: { repo: playground } },
  "spaces.update_hardware": {
    message: "Changed the hardware of acme/playground to t4-small",
    data: { flavor: "t4-small" },
  },
  "spaces.update_sleep_time": { message: "Set the sleep time of acme/playground to 1 hour", data: { seconds: 3_600 } },
  "spaces.add_storage": {
    message: "Added 20 GB of storage to acme/playground",
    data: { repo: playground, tier: "small" },
  },
  "spaces.remove_storage": { message: "Removed the storage from acme/playground", data: { repo: playground } },
  "spaces.set_volumes": {
    message: "Mounted acme/uploads in acme/playground",
    data: { repo: playground, volumes: [{ type: "bucket", source: "acme/uploads", mountPath: "/data" }] },
  },
  "spaces.remove_volumes": { message: "Removed the volumes from acme/playground", data: { repo: playground } },
  "billing.update_subscription_plan": {
    message: "Changed the plan to Enterprise Plus",
    data: { from: "team", to: "enterprise-plus" },
  },
  "billing.update_subscription": { message: "Changed the number of seats to 1200", data: { seats: 1_200 } },
  "org.sso_join": { message: "Joined through single sign-on", data: { provider: "saml" } },
  "org.sso_login": { message: "Signed in through single sign-on", data: { provider: "saml" } },
  "org.join.automatic": {
    message: "Added joan-adams from the directory",
    data: { user: "joan-adams" },
    bySystem: true,
  },
  "org.custom_role.create": { message: "Created the role reviewer", data: reviewer },
  "org.custom_role.update": { message: "Changed the role reviewer", data: reviewer },
  "org.custom_role.delete": { message: "Deleted the role auditor", data: { name: "auditor" } },
  "org.token_approval.enabled": { message: "Enabled the approval of tokens" },
  "org.token_approval.authorization_request": { message: "Requested the approval of a token" },
  "org.token_approval.authorization_request.authorized": { message: "Approved a token of alan-adams" },
  "org.token_approval.authorization_request.denied": { message: "Denied a token of other-user" },
  "org.token_approval.authorization_request.revoked": { message: "Revoked the access of a token of alan-adams" },
  "org.token_approval.disabled": { message: "Disabled the approval of tokens" },
  "resource_group.create": { message: "Created the resource group Reviews", data: group },
  "resource_group.add_users": {
    message: "Added 2 users to the resource group Reviews",
    data: { ...group, users: ["other-user", "alan-adams"] },
  },
  "repo.update_resource_group": {
    message: "Moved the dataset acme/reviews to the resource group Reviews",
    data: { repo: reviews, resourceGroup: group },
  },
  "resource_group.change_role": {
    message: "Changed the role of alan-adams in the resource group Reviews to write",
    data: { ...group, user: "alan-adams", from: "read", to: "write" },
  },
  "resource_group.settings": { message: "Allowed new members to join the resource group Reviews", data: group },
  "resource_group.remove_users": {
    message: "Removed grace-adams from the resource group Reviews",
    data: { ...group, users: ["grace-adams"] },
  },
  "resource_group.delete": { message: "Deleted the resource group Drafts", data: { name: "Drafts" } },
  "jobs.create": { message: "Started a job on a10g-small", data: { flavor: "a10g-small" } },
  "jobs.cancel": { message: "Canceled a job", data: { jobId: "6a0c2f4e1b7d93a5c8e0f2b3" } },
  "scheduled_job.create": { message: "Scheduled a job for every night", data: { ...scheduled, schedule: "0 2 * * *" } },
  "scheduled_job.run": { message: "Started a scheduled job", data: scheduled, bySystem: true },
  "scheduled_job.update_schedule": {
    message: "Moved a scheduled job to every Monday",
    data: { ...scheduled, schedule: "0 2 * * 1" },
  },
  "scheduled_job.suspend": { message: "Suspended a scheduled job", data: scheduled },
  "scheduled_job.resume": { message: "Resumed a scheduled job", data: scheduled },
  "scheduled_job.delete": { message: "Deleted a scheduled job", data: scheduled },
  "oauth.token": { message: "Granted an app access to the organization", data: { scopes: ["openid", "read-repos"] } },
  "repo.delete_lfs_file": {
    message: "Deleted a large file from acme/sentiment",
    data: { repo: sentiment, size: 4_294_967_296 },
  },
  "repo.delete_doi": {
    message: "Deleted the DOI of acme/reviews",
    data: { repo: reviews, doi: "10.5555/acme-reviews" },
  },
  "repo.disable": { message: "Disabled the kernel acme/rotary", data: { repo: rotary }, bySystem: true },
  "repo.removeDisable": { message: "Enabled the kernel acme/rotary again", data: { repo: rotary }, bySystem: true },
  "repo.delete": { message: "Deleted the space acme/try-out", data: { repo: { type: "space", name: "acme/try-out" } } },
  "collection.delete": { message: "Deleted the collection Drafts", data: { slug: "acme/drafts-6a0c2f4f" } },
  "org.remove_user": { message: "Removed former-user", data: { user: "former-user" } },
  "org.leave": { message: "Left the organization" },
  "billing.aws_add": { message: "Connected an AWS account" },
  "billing.aws_remove": { message: "Disconnected the AWS account" },
  "billing.gcp_add": { message: "Connected a Google Cloud account" },
  "billing.gcp_remove": { message: "Disconnected the Google Cloud account" },
  "billing.marketplace_approve": { message: "Approved a purchase on a marketplace", bySystem: true },
  "billing.remove_payment_method": { message: "Removed a payment method", data: { last4: "4444" } },
  "billing.cancel_subscription": { message: "Canceled the plan at the end of the period" },
  "billing.un_cancel_subscription": { message: "Kept the plan after all" },
  "billing.renew_subscription": { message: "Renewed the plan for another period", bySystem: true },
  "org.delete": { message: "Deleted the organization", data: { name: "acme" } },
  "org.restore": { message: "Restored the organization", data: { name: "acme" }, bySystem: true },
};
