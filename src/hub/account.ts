import * as z from "zod";
import type { Operations } from "./operation.ts";
import { objectId, openEnum, organizationRole, timestamp } from "./schemas.ts";

const billing = {
  email: z.string().nullable().optional(),
  canPay: z.boolean().optional(),
  billingMode: openEnum(["prepaid", "postpaid"]).optional(),
  periodEnd: z.number().nullable().optional(),
};

const organization = z.strictObject({
  type: z.literal("org"),
  id: z.string(),
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  ...billing,
  /** Left out for an organization without a paid plan. */
  plan: openEnum(["team", "enterprise", "plus", "academia"]).optional(),
  roleInOrg: organizationRole.optional(),
  /** What keeps this token from the organization. */
  securityRestrictions: z.array(openEnum(["mfa", "token-policy", "token-revoked", "sso", "ip"])).optional(),
  resourceGroups: z.array(z.strictObject({ id: objectId, name: z.string(), role: organizationRole })).optional(),
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
  role: openEnum(["read", "write", "god", "fineGrained"]),
  fineGrained: z
    .strictObject({
      scoped: z.array(
        z.strictObject({
          entity: z.strictObject({ _id: objectId, name: z.string().optional(), type: openEnum(entityTypes) }),
          permissions: z.array(z.string()),
        }),
      ),
      global: z.array(openEnum(["discussion.write", "post.write"])).optional(),
      /** Whether it may read every public gated repository to which the user has access. */
      canReadGatedRepos: z.boolean().optional(),
    })
    .optional(),
  createdAt: timestamp,
});

/** The user that a token belongs to, and what the token allows. */
export const whoami = z.strictObject({
  type: z.literal("user"),
  id: z.string(),
  /** The user name. */
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  ...billing,
  emailVerified: z.boolean().optional(),
  isPro: z.boolean(),
  orgs: z.array(organization),
  auth: z.strictObject({
    /** How the request was authenticated, such as `access_token`. */
    type: z.string(),
    accessToken: accessToken.optional(),
    expiresAt: timestamp.optional(),
    resource: z.strictObject({ sub: z.string() }).optional(),
  }),
});

/** The user that a token belongs to, and what the token allows. */
export type Whoami = z.output<typeof whoami>;

/** The operation on accounts. The specification lists none; the Hub publishes it since 2026-08-17 at the latest. */
export const accountOperations = {
  whoami: {
    method: "get",
    path: "/api/whoami-v2",
    operationId: "whoami",
    summary: "Read the owner of the token",
    response: whoami,
  },
} as const satisfies Operations;
