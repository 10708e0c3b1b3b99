import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer, jsonBody } from "../json.ts";
import { type SearchOf, wholeNumber } from "../query.ts";
import { bearer, notShown, objectId, objectIdInEitherCase, refusals } from "../values.ts";
import { organizationName, organizationRole } from "./role.ts";

/** A member of an organization. */
export const organizationMember = z
  .strictObject({
    _id: objectId,
    avatarUrl: z.string(),
    fullname: z.string(),
    isPro: z.boolean(),
    /** The user's name. */
    user: z.string(),
    type: z.literal("user"),
    isFollowing: z.boolean().optional(),
    role: organizationRole.optional(),
    resourceGroups: z
      .array(z.strictObject({ name: z.string(), id: z.string(), numUsers: z.number(), role: organizationRole }))
      .optional(),
    twoFaEnabled: z.boolean().optional(),
    /** Only an admin of an organization with a Team or Enterprise plan is told. */
    verifiedEmail: z.string().nullable().optional(),
    isExternalCollaborator: z.boolean().optional(),
  })
  .openapi("OrganizationMember");

/** What a member may do from now on, in the organization and in some of its resource groups. */
export const memberRoleChange = z
  .object({
    role: organizationRole,
    resourceGroups: z.array(z.object({ id: objectIdInEitherCase, role: organizationRole })).optional(),
  })
  .openapi("MemberRoleChange");

const search = z.object({
  search: z.string().optional(),
  email: z.email("expected a whole e-mail address").optional(),
  cursor: z.string().optional(),
  limit: wholeNumber({ minimum: 10, maximum: 10_000, fallback: 500 }),
});

/** A member of an organization. */
export type OrganizationMember = z.output<typeof organizationMember>;
/** Which members; `limit` is how many come in one page, `cursor` where to go on. */
export type MemberSearch = SearchOf<typeof search>;
/** What a member may do from now on, in the organization and in some of its resource groups. */
export type MemberRoleChange = z.input<typeof memberRoleChange>;

/** The operations on the members of an organization (hub-api.md, Organizations). */
export const memberRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/organizations/{name}/members",
    operationId: "listOrganizationMembers",
    summary: "List the members of an organization",
    tags: ["orgs"],
    security: bearer,
    request: { params: organizationName, query: search },
    responses: {
      200: {
        headers: {
          Link: { description: 'The address of the next page, as rel="next".', schema: { type: "string" } },
        },
        ...jsonAnswer("A page of them.", z.array(organizationMember)),
      },
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
  setRole: createRoute({
    method: "put",
    path: "/api/organizations/{name}/members/{username}/role",
    operationId: "setMemberRole",
    summary: "Change the role of a member",
    description: "Needs a paid plan.",
    tags: ["orgs"],
    security: bearer,
    request: { params: organizationName.extend({ username: z.string() }), body: jsonBody(memberRoleChange) },
    responses: {
      200: jsonAnswer("It is changed.", notShown),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
      ...refusals.body,
    },
  }),
} as const;
