import { deriveId } from "./ids.ts";
import type { Store } from "./store/store.ts";

/** The user and token of a request. */
export interface Caller {
  /** The name of the user. */
  user: string;
  /**
   * `fineGrained` tokens can read everything that the user can read, but can write only to the user's resources, not to
   * resources of organizations.
   */
  tokenRole: "read" | "write" | "fineGrained";
  /** Identifies the token without revealing it. */
  tokenId: string;
}

/** The plans of organizations, cheapest first. Each plan includes the features of the cheaper plans. */
export const plans = ["free", "team", "enterprise", "enterprise-plus"] as const;
export type Plan = (typeof plans)[number];

/** The developer who runs the local Hub. */
export const localUser = "local-user";
/** A second user, for tests of the access that other users have. */
export const otherUser = "other-user";

/** The tokens of a local Hub. They are not valid on the real Hub. */
export const developmentTokens: readonly (Omit<Caller, "tokenId"> & { token: string; meaning: string })[] = [
  { token: "hf_local", user: localUser, tokenRole: "write", meaning: "can write; owns every organization" },
  { token: "hf_read", user: localUser, tokenRole: "read", meaning: "can only read" },
  { token: "hf_fine", user: localUser, tokenRole: "fineGrained", meaning: "can write, except to organizations" },
  { token: "hf_other", user: otherUser, tokenRole: "write", meaning: "can write; member of acme" },
];

const callers: ReadonlyMap<string, Caller> = new Map(
  developmentTokens.map(({ token, user, tokenRole }) => [token, { user, tokenRole, tokenId: deriveTokenId(token) }]),
);

const organizations: ReadonlyMap<string, Plan> = new Map<string, Plan>([
  ["acme", "enterprise-plus"],
  ["enterprise-org", "enterprise"],
  ["team-org", "team"],
  ["free-org", "free"],
]);

/** The organizations of a local Hub. */
export const organizationNames: readonly string[] = [...organizations.keys()];

/** Returns the caller of a token, or `undefined` if the token is unknown. */
export function findCaller(token: string): Caller | undefined {
  return callers.get(token);
}

/** Returns the caller of the token with this ID, or `undefined` if the ID is unknown. */
export function findCallerByTokenId(id: string): Caller | undefined {
  return [...callers.values()].find(({ tokenId }) => tokenId === id);
}

/** Returns the plan of an organization, or `undefined` if the organization is unknown. */
export function getPlan(organization: string): Plan | undefined {
  return organizations.get(organization);
}

/** Returns whether a name belongs to a user or an organization, or `undefined` if the name is unknown. */
export function getAccountKind(name: string): "user" | "org" | undefined {
  if (organizations.has(name)) return "org";
  return name === localUser || name === otherUser ? "user" : undefined;
}

/** Returns the user or organization that owns a repository. */
export function getOwner({ name }: { name: string }): string {
  return name.slice(0, name.indexOf("/"));
}

/** Derives the ID of a user or an organization from the name. The ID is the same in every local Hub. */
export function accountId(name: string): string {
  return deriveId(`account ${name}`);
}

/** Derives the full name of a user, such as `Ada Lovelace` for `ada-lovelace`. */
export function formatFullName(user: string): string {
  return user.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => (dash && " ") + letter.toUpperCase());
}

/** Derives the ID of a token. The ID does not reveal the token. */
export function deriveTokenId(token: string): string {
  return deriveId(`token ${token}`);
}

/** The users who have a token of the local Hub. */
export const tokenUsers: readonly string[] = [...new Set(developmentTokens.map(({ user }) => user))];

/** Finds a user by ID among the users with a token and the members of organizations. */
export function findUserById(store: Store, id: string): string | undefined {
  const hasId = (user: string) => accountId(user) === id;
  const found = tokenUsers.find(hasId);
  if (found !== undefined) return found;
  for (const organization of organizationNames) {
    const member = store.members.listByOwner(organization).find(({ id: user }) => hasId(user));
    if (member) return member.id;
  }
  return undefined;
}
