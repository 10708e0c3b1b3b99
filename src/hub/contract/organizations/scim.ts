import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer } from "../json.ts";
import { bearer, refusals } from "../values.ts";
import { organizationName } from "./role.ts";

const isSupported = z.boolean();

/** What the SCIM interface of an organization can do. What else the answer holds is not shown, nor is what `sort` does. */
export const scimConfig = z
  .looseObject({
    schemas: z.array(z.string()),
    documentationUri: z.string(),
    patch: z.strictObject({ supported: isSupported }),
    bulk: z.strictObject({ supported: isSupported, maxOperations: z.number(), maxPayloadSize: z.number() }),
    filter: z.strictObject({ supported: isSupported, maxResults: z.number() }),
    changePassword: z.strictObject({ supported: isSupported }),
    sort: z.looseObject({}),
  })
  .openapi("ScimServiceProviderConfig");

/**
 * A user as an identity provider describes one: the attributes that the Hub supports, and no others (hub-api.md,
 * Authentication). An e-mail of SCIM may have a type; the Hub supports none, so it is refused here. What SCIM wraps
 * around every resource, `schemas` and `meta`, is no attribute of a user: take it off before.
 *
 * @example
 * ```ts
 * scimUser.parse({ userName: "ada", externalId: "00u1", emails: [{ value: "ada@acme.example" }], active: true });
 * ```
 */
export const scimUser = z.strictObject({
  /** Username of the user. */
  userName: z.string().optional(),
  name: z
    .strictObject({
      /** First name. */
      givenName: z.string().optional(),
      /** Last name. */
      familyName: z.string().optional(),
    })
    .optional(),
  /** E-mail addresses, without a type. */
  emails: z.array(z.strictObject({ value: z.email(), primary: z.boolean().optional() })).optional(),
  /** The identity provider's unique identifier, by which accounts are matched: see {@link scimMatching}. */
  externalId: z.string().optional(),
  /** The Hub's own identifier. */
  id: z.string().optional(),
  /** Whether the user is provisioned. */
  active: z.boolean().optional(),
});

/**
 * How the Hub knows that who signs in is who was provisioned: what the identity provider sends at single sign-on as
 * `samlAttribute` must be what it sends over SCIM as `scimKey`. The first that fits the provider counts.
 */
export const scimMatching = [
  {
    identityProvider: "Microsoft Entra ID",
    samlAttribute: "http://schemas.microsoft.com/identity/claims/objectidentifier",
    scimKey: "externalId",
  },
  { identityProvider: "any other", samlAttribute: "NameID, or a unique identifier", scimKey: "externalId" },
] as const satisfies readonly { identityProvider: string; samlAttribute: string; scimKey: keyof ScimUser }[];

/** What the SCIM interface of an organization can do. */
export type ScimConfig = z.output<typeof scimConfig>;
/** A user as an identity provider describes one. */
export type ScimUser = z.output<typeof scimUser>;

/** The operation on SCIM (hub-api.md, Organizations). */
export const scimRoutes = {
  config: createRoute({
    method: "get",
    path: "/api/organizations/{name}/scim/v2/ServiceProviderConfig",
    operationId: "getScimConfig",
    summary: "Read the SCIM configuration of an organization",
    description: "Enterprise Plus only, for an owner of the organization whose token may write to it.",
    tags: ["scim"],
    security: bearer,
    request: { params: organizationName },
    responses: {
      200: jsonAnswer("What it can do.", scimConfig),
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
} as const;
