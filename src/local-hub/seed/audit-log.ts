import { type SpecifiedAuditLogType, specifiedAuditLogTypes } from "../../hub/organizations/audit-log-types.ts";
import { localUser, organizationNames, otherUser } from "../accounts.ts";
import type { StoredAuditEvent } from "../store/audit-log-store.ts";
import { mainOrganization, memberName } from "./organizations.ts";

const dayMs = 24 * 60 * 60 * 1000;
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
    { ...event, type: "org.add_user", message: `Added ${localUser}`, data: { user: localUser, role: "admin" } },
  ];
}

function mainEvents(now: number): NewEvent[] {
  const events: [SpecifiedAuditLogType, ExampleEvent][] = [];
  for (const [index, type] of specifiedAuditLogTypes.entries()) {
    events.push([type, exampleEvent(type, index)]);
    const frequentType = frequentTypes[index % (frequentTypes.length + 1)];
    if (frequentType !== undefined) events.push([frequentType, exampleEvent(frequentType, index)]);
  }
  return events.map(([type, event], index) => ({
    organization: mainOrganization,
    type,
    at: now - periodMs + Math.floor(((index + 1) * periodMs) / (events.length + 1)),
    ...describeOrigin(event, index),
  }));
}

function describeOrigin({ bySystem, ...event }: ExampleEvent, index: number) {
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

interface ExampleEvent {
  message: string;
  data?: Record<string, unknown>;
  /** Whether the Hub itself is the author. Default: a user. */
  bySystem?: true;
}

const systemTypes: ReadonlySet<string> = new Set([
  ...["billing.create_customer", "billing.marketplace_approve", "billing.renew_subscription", "org.join.automatic"],
  ...["org.restore", "repo.disable", "repo.removeDisable", "scheduled_job.run"],
]);

const repositories = [
  { type: "dataset", name: "acme/reviews" },
  { type: "model", name: "acme/sentiment" },
  { type: "space", name: "acme/playground" },
  { type: "kernel", name: "acme/rotary" },
];

/** Creates an event whose message is the name of its type in words, such as `Resource group: add users`. */
function exampleEvent(type: SpecifiedAuditLogType, number: number): ExampleEvent {
  const [subject = "", ...action] = type.split(".").map((part) => part.replace(/_|(?=[A-Z])/g, " ").toLowerCase());
  return {
    message: `${subject.charAt(0).toUpperCase()}${subject.slice(1)}: ${action.join(" ")}`,
    ...exampleData(subject, number),
    ...(systemTypes.has(type) && { bySystem: true }),
  };
}

function exampleData(subject: string, number: number): Pick<ExampleEvent, "data"> {
  switch (subject) {
    case "repo":
    case "spaces":
      return { data: { repo: repositories[number % repositories.length] } };
    case "org":
      return { data: { user: memberName(number), role: "read" } };
    case "resource group":
      return { data: { id: "6a0c2f4e1b7d93a5c8e0f216", name: "Reviews" } };
    case "scheduled job":
      return { data: { scheduledJobId: "6a0c2f4e1b7d93a5c8e0f2a1", schedule: "0 2 * * *" } };
    default:
      return {};
  }
}
