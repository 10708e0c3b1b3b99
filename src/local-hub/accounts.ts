import { createHash } from "node:crypto";

/** What the access of a token, or of a member of an organization, allows. */
type Role = "read" | "write" | "admin";

/** Who a request comes from. */
export interface Caller {
  /** Name of the user. */
  user: string;
  /** A token of role `read` may only read. */
  tokenRole: "read" | "write";
}

/** What an organization pays for. */
type Plan = "free" | "team" | "enterprise" | "enterprise-plus";

interface Organization {
  plan: Plan;
  members: Readonly<Record<string, Role>>;
}

/** The user to whom a local Hub belongs: the developer. */
export const localUser = "local-user";
const otherUser = "other-user";

/** The tokens that a local Hub knows. They open nothing anywhere else. */
export const developmentTokens: readonly (Caller & { token: string; meaning: string })[] = [
  { token: "hf_local", user: localUser, tokenRole: "write", meaning: "may write; owner of every organization" },
  { token: "hf_read", user: localUser, tokenRole: "read", meaning: "may only read" },
  { token: "hf_other", user: otherUser, tokenRole: "write", meaning: "may write; a plain member of acme" },
];

const callers: ReadonlyMap<string, Caller> = new Map(developmentTokens.map((known) => [known.token, known]));

const organizations: ReadonlyMap<string, Organization> = new Map<string, Organization>([
  ["acme", { plan: "enterprise-plus", members: { [localUser]: "admin", [otherUser]: "read" } }],
  ["enterprise-org", { plan: "enterprise", members: { [localUser]: "admin" } }],
  ["team-org", { plan: "team", members: { [localUser]: "admin" } }],
  ["free-org", { plan: "free", members: { [localUser]: "admin" } }],
]);

/** The caller that a token stands for, if there is such a token. */
export function callerOf(token: string): Caller | undefined {
  return callers.get(token);
}

/** What a name belongs to; undefined for a name that nobody has: it may be a user's or an organization's. */
export function accountKind(name: string): "user" | "org" | undefined {
  if (organizations.has(name)) return "org";
  return name === localUser || name === otherUser ? "user" : undefined;
}

/** Whether a user may read the private repositories of `owner`. Whatever nobody else owns is the developer's. */
export function canReadPrivate({ user, owner }: { user: string; owner: string }): boolean {
  if (user === owner || organizations.get(owner)?.members[user] !== undefined) return true;
  return user === localUser && accountKind(owner) === undefined;
}

/** The id of a user or an organization: made from the name, so that it is the same in every local Hub. */
export function accountId(name: string): string {
  return objectIdOf(`account ${name}`);
}

/** An id that is always the same for the same text. */
export function objectIdOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
