import * as z from "zod/mini";
import type { Operations } from "./operation.ts";
import { objectId, organizationName, organizationRole, responseEnum, timestamp } from "./schemas.ts";

const billing = {
  email: z.optional(z.nullable(z.string())),
  canPay: z.optional(z.boolean()),
  billingMode: z.optional(responseEnum(["prepaid", "postpaid"])),
  periodEnd: z.optional(z.nullable(z.number())),
};

const organization = z.strictObject({
  type: z.literal("org"),
  id: z.string(),
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  ...billing,
  /** Missing if the organization has no paid plan. */
  plan: z.optional(responseEnum(["team", "enterprise", "plus", "academia"])),
  roleInOrg: z.optional(organizationRole),
  /** The reasons why the token has no access to the organization. */
  securityRestrictions: z.optional(z.array(responseEnum(["mfa", "token-policy", "token-revoked", "sso", "ip"]))),
  resourceGroups: z.optional(z.array(z.strictObject({ id: objectId, name: z.string(), role: organizationRole }))),
});

const entityTypes = [
  "dataset",
  "model",
  "space",
  "bucket",
  "kernel",
  "collection",
  "org",
  "user",
  "resource-group",
  "oauth-app",
] as const;

const accessToken = z.strictObject({
  displayName: z.string(),
  role: responseEnum(["read", "write", "god", "fineGrained"]),
  fineGrained: z.optional(
    z.strictObject({
      scoped: z.array(
        z.strictObject({
          entity: z.strictObject({ _id: objectId, name: z.optional(z.string()), type: responseEnum(entityTypes) }),
          permissions: z.array(z.string()),
        }),
      ),
      global: z.optional(z.array(responseEnum(["discussion.write", "post.write"]))),
      /** Whether the token can read all public gated repositories to which the user has access. */
      canReadGatedRepos: z.optional(z.boolean()),
    }),
  ),
  createdAt: timestamp,
});

/** The user of a token, and the permissions of the token. */
export const whoami = z.strictObject({
  type: z.literal("user"),
  id: z.string(),
  /** The username. */
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  ...billing,
  emailVerified: z.optional(z.boolean()),
  isPro: z.boolean(),
  orgs: z.array(organization),
  auth: z.strictObject({
    /** How the request was authenticated, such as `access_token`. */
    type: z.string(),
    accessToken: z.optional(accessToken),
    expiresAt: z.optional(timestamp),
    resource: z.optional(z.strictObject({ sub: z.string() })),
  }),
});

/** The user of a token, and the permissions of the token. */
export type Whoami = z.output<typeof whoami>;

const repositoryCounts = {
  numModels: z.optional(z.number()),
  numDatasets: z.optional(z.number()),
  numSpaces: z.optional(z.number()),
};

/** The public profile of a user. */
export const userOverview = z.strictObject({
  _id: objectId,
  /** The username. */
  user: z.string(),
  type: z.literal("user"),
  fullname: z.string(),
  avatarUrl: z.string(),
  isPro: z.boolean(),
  orgs: z.optional(
    z.array(z.strictObject({ id: z.string(), name: z.string(), fullname: z.string(), avatarUrl: z.string() })),
  ),
  ...repositoryCounts,
  createdAt: timestamp,
});

/** The public profile of an organization. */
export const organizationOverview = z.strictObject({
  _id: objectId,
  name: z.string(),
  type: z.literal("org"),
  fullname: z.string(),
  avatarUrl: z.string(),
  plan: z.optional(z.string()),
  numUsers: z.optional(z.number()),
  ...repositoryCounts,
});

/** The public profile of a user. */
export type UserOverview = z.output<typeof userOverview>;
/** The public profile of an organization. */
export type OrganizationOverview = z.output<typeof organizationOverview>;

/** The account operation, which the Hub published after the specification and before 2026-08-17. */
export const accountOperations = {
  whoami: {
    requestLine: "GET /api/whoami-v2",
    operationId: "whoami",
    summary: "Read the owner of the token",
    response: whoami,
  },
} as const satisfies Operations;

/** The operations on public profiles. */
export const profileOperations = {
  user: {
    requestLine: "GET /api/users/{username}/overview",
    operationId: "getUserOverview",
    summary: "Read the profile of a user",
    request: { params: z.object({ username: z.string() }) },
    response: userOverview,
  },
  organization: {
    requestLine: "GET /api/organizations/{name}/overview",
    operationId: "getOrganizationOverview",
    summary: "Read the profile of an organization",
    request: { params: organizationName },
    response: organizationOverview,
  },
} as const satisfies Operations;
