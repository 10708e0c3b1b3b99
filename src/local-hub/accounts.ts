import { objectIdOf } from "./ids.ts";
import type { Store } from "./store/store.ts";

/** Who a request comes from. */
export interface Caller {
  /** Name of the user. */
  user: string;
  /**
   * What the token allows: `read` may only read; `fineGrained` may write what is the user's own, and only read
   * organizations.
   */
  tokenRole: "read" | "write" | "fineGrained";
  /** Names the token, and does not tell it. */
  tokenId: string;
}

/** What an organization pays for, the cheapest first: each has what those before it have. */
export const plans = ["free", "team", "enterprise", "enterprise-plus"] as const;
/** What an organization pays for. */
export type Plan = (typeof plans)[number];

/** The user to whom a local Hub belongs: the developer. */
export const localUser = "local-user";
/** Somebody else, to see what others see. */
export const otherUser = "other-user";

/** The tokens that a local Hub knows. They open nothing anywhere else. */
export const developmentTokens: readonly (Omit<Caller, "tokenId"> & { token: string; meaning: string })[] = [
  { token: "hf_local", user: localUser, tokenRole: "write", meaning: "may write; owner of every organization" },
  { token: "hf_read", user: localUser, tokenRole: "read", meaning: "may only read" },
  { token: "hf_fine", user: localUser, tokenRole: "fineGrained", meaning: "may write, but to no organization" },
  { token: "hf_other", user: otherUser, tokenRole: "write", meaning: "may write; a plain member of acme" },
];

const callers: ReadonlyMap<string, Caller> = new Map(
  developmentTokens.map(({ token, user, tokenRole }) => [token, { user, tokenRole, tokenId: tokenIdOf(token) }]),
);

const organizations: ReadonlyMap<string, Plan> = new Map<string, Plan>([
  ["acme", "enterprise-plus"],
  ["enterprise-org", "enterprise"],
  ["team-org", "team"],
  ["free-org", "free"],
]);

/** The names of the organizations of a local Hub. */
export const organizationNames: readonly string[] = [...organizations.keys()];

/** The caller that a token stands for, if there is such a token. */
export function callerOf(token: string): Caller | undefined {
  return callers.get(token);
}

/** The caller that a token of this id stands for, if there is such a token. */
export function callerOfTokenId(id: string): Caller | undefined {
  return [...callers.values()].find(({ tokenId }) => tokenId === id);
}

/** What an organization pays for; `undefined` where there is none of this name. */
export function planOf(organization: string): Plan | undefined {
  return organizations.get(organization);
}

/** What a name belongs to; undefined for a name that nobody has: it may be a user's or an organization's. */
export function accountKind(name: string): "user" | "org" | undefined {
  if (organizations.has(name)) return "org";
  return name === localUser || name === otherUser ? "user" : undefined;
}

/** The name of the user or organization to whom a repository belongs. */
export function ownerOf({ name }: { name: string }): string {
  return name.slice(0, name.indexOf("/"));
}

/** The id of a user or an organization: made from the name, so that it is the same in every local Hub. */
export function accountId(name: string): string {
  return objectIdOf(`account ${name}`);
}

/** The name of a user as one writes it: `Ada Lovelace` of `ada-lovelace`. */
export function fullNameOf(user: string): string {
  return user.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => (dash && " ") + letter.toUpperCase());
}

/** The id of a token, from which the token cannot be told. */
export function tokenIdOf(token: string): string {
  return objectIdOf(`token ${token}`);
}

/** Everybody who has a token of a local Hub. */
export const tokenUsers: readonly string[] = [...new Set(developmentTokens.map(({ user }) => user))];

/** The name of the user who has this id: somebody with a token, or a member of an organization. */
export function userOfId(store: Store, id: string): string | undefined {
  const hasId = (user: string) => accountId(user) === id;
  const found = tokenUsers.find(hasId);
  if (found !== undefined) return found;
  for (const organization of organizationNames) {
    const member = store.members.of(organization).find(({ id: user }) => hasId(user));
    if (member) return member.id;
  }
  return undefined;
}
