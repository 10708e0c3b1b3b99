import { createHash, randomBytes } from "node:crypto";

export interface Caller {
  user: string;
  /** `fineGrained` tokens can read everything that the user can read, but cannot write to organizations. */
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

/** The token of the server of a dev session: that of the developer, so that recordings can leave out the changes of handlers. */
export const serverToken = "hf_server";

const callers: ReadonlyMap<string, Caller> = new Map(
  [...developmentTokens, { token: serverToken, user: localUser, tokenRole: "write" as const }].map(
    ({ token, user, tokenRole }) => [token, { user, tokenRole, tokenId: deriveTokenId(token) }],
  ),
);

const organizations: ReadonlyMap<string, Plan> = new Map<string, Plan>([
  ["acme", "enterprise-plus"],
  ["enterprise-org", "enterprise"],
  ["team-org", "team"],
  ["free-org", "free"],
]);

/** The organizations of a local Hub. */
export const organizationNames: readonly string[] = [...organizations.keys()];

export function findCaller(token: string): Caller | undefined {
  return callers.get(token);
}

export function findCallerByTokenId(id: string): Caller | undefined {
  return [...callers.values()].find(({ tokenId }) => tokenId === id);
}

export function getPlan(organization: string): Plan | undefined {
  return organizations.get(organization);
}

/** `undefined` if the name is unknown. */
export function getAccountKind(name: string): "user" | "org" | undefined {
  if (organizations.has(name)) return "org";
  return name === localUser || name === otherUser ? "user" : undefined;
}

/** Returns a name in its own case, because the Hub compares names regardless of case. */
export function toAccountName(name: string): string {
  const lowercase = name.toLowerCase();
  return getAccountKind(lowercase) ? lowercase : name;
}

/** Empty for repositories without an owner, such as `gpt2`. */
export function getOwner({ name }: { name: string }): string {
  return toAccountName(name.slice(0, Math.max(name.indexOf("/"), 0)));
}

/** Derives the ID of a user or an organization from the name. The ID is the same in every local Hub. */
export function accountId(name: string): string {
  return deriveId(`account ${name}`);
}

/** Derives the full name of a user, such as `Ada Lovelace` for `ada-lovelace`. */
export function formatFullName(user: string): string {
  return user.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => (dash && " ") + letter.toUpperCase());
}

export function deriveTokenId(token: string): string {
  return deriveId(`token ${token}`);
}

export const tokenUsers: readonly string[] = [...new Set(developmentTokens.map(({ user }) => user))];

/** The bytes for the next IDs. Requesting them for each ID would take a tenth of the time of an event. */
let pool = randomBytes(0);
let used = 0;
const poolBytes = 8 * 1024;

/** Creates a random ID in the Hub's format. */
export function createId(): string {
  return takeHex(12);
}

export function createSha(): string {
  return takeHex(20);
}

function takeHex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(poolBytes);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}

/** Derives an ID from a text. The same text always results in the same ID. */
export function deriveId(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** The key is the same on every local Hub, and is not valid on the real Hub. It has the access of the token. */
export function deriveAccessKey(token: string) {
  const digest = (purpose: string) => createHash("sha256").update(`${purpose} ${token}`);
  return {
    accessKeyId: `HFAK${digest("access key").digest("hex").slice(0, 16).toUpperCase()}`,
    secretAccessKey: digest("secret access key").digest("base64url").slice(0, 40),
  };
}

const keys = developmentTokens.map(({ token }) => ({ ...deriveAccessKey(token), token }));

export function findAccessKey(accessKeyId: string): { secretAccessKey: string; caller: Caller } | undefined {
  const key = keys.find((candidate) => candidate.accessKeyId === accessKeyId);
  const caller = key && findCaller(key.token);
  return caller && { secretAccessKey: key.secretAccessKey, caller };
}

export function getAvatarUrl(name: string, { hubUrl }: { hubUrl: string }): string {
  return `${hubUrl}/avatars/${encodeURIComponent(name)}.svg`;
}
