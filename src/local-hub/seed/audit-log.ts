import { type SpecifiedAuditLogType, specifiedAuditLogTypes } from "../../hub/contract/organizations/audit-log.ts";
import { localUser, organizationNames, otherUser } from "../accounts.ts";
import type { StoredAuditEvent } from "../store/audit-log-store.ts";
import { type Happening, happenings } from "./audit-happenings.ts";
import { busyOrganization, memberName } from "./members.ts";
import type { SeedOptions } from "./seed-options.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** How long ago the first thing was done, in milliseconds. */
const periodMs = 90 * dayMs;

/** What is done again and again. */
const everyday = ["org.sso_login", "jobs.create", "repo.update_settings", "org.add_user", "scheduled_job.run"] as const;

const formerUser = "former-user";
const authors = [localUser, memberName(0), memberName(1), otherUser, formerUser];

type Origin = Pick<StoredAuditEvent, "ip" | "location" | "userAgent" | "token" | "oauth">;

const paris = { formatted: "Paris, France", country: "FR", city: "Paris" };
const oregon = { formatted: "Boardman, Oregon, United States", country: "US", city: "Boardman" };
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const script = "huggingface_hub/1.2.0; python/3.13.1";

/** From where things are done, on addresses that are nobody's (RFC 5737, RFC 3849), with tokens that are none. */
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

/** What has been done in the organizations before a local Hub starts, the oldest first. */
export function seedAuditLog({ now }: SeedOptions): StoredAuditEvent[] {
  const others = organizationNames.filter((name) => name !== busyOrganization);
  return [...others.flatMap((name) => foundingOf(name, now)), ...logOfBusy(now)].map((event, number) => ({
    ...event,
    id: number.toString(16).padStart(24, "6a0c2f4e1b7d93a5c8e0f000"),
  }));
}

type NewEvent = Omit<StoredAuditEvent, "id">;

function foundingOf(organization: string, now: number): NewEvent[] {
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

/** Everything that there is once, and what is done every day in between. */
function logOfBusy(now: number): NewEvent[] {
  const story: [SpecifiedAuditLogType, Happening][] = [];
  for (const [index, type] of specifiedAuditLogTypes.entries()) {
    story.push([type, happenings[type]]);
    const often = everyday[index % (everyday.length + 1)];
    if (often !== undefined) story.push([often, again(often, index)]);
  }
  return story.map(([type, happening], index) => ({
    organization: busyOrganization,
    type,
    at: now - periodMs + Math.floor(((index + 1) * periodMs) / (story.length + 1)),
    ...described(happening, index),
  }));
}

function again(type: SpecifiedAuditLogType, number: number): Happening {
  if (type !== "org.add_user") return happenings[type];
  const user = memberName(number);
  return { message: `Added ${user}`, data: { user, role: "read" } };
}

function described({ bySystem, ...told }: Happening, index: number): Omit<NewEvent, "organization" | "type" | "at"> {
  if (bySystem) return told;
  // Seven origins to five authors: each of them is seen with each of those.
  const author = authors[index % authors.length];
  return {
    ...told,
    author,
    ...(author === formerUser && { isAuthorDeleted: true }),
    ...origins[index % origins.length],
  };
}
