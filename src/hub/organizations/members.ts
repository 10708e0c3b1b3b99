import * as z from "zod/mini";
import type { Operations } from "../operation.ts";
import { jsonBody } from "../operation.ts";
import type { SearchOf } from "../schemas.ts";
import {
  objectId,
  objectIdInEitherCase,
  organizationName,
  organizationRole,
  undocumentedBody,
  wholeNumber,
} from "../schemas.ts";

/** A member of an organization. */
export const organizationMember = z.strictObject({
  _id: objectId,
  avatarUrl: z.string(),
  fullname: z.string(),
  isPro: z.boolean(),
  /** The username. */
  user: z.string(),
  type: z.literal("user"),
  isFollowing: z.optional(z.boolean()),
  role: z.optional(organizationRole),
  resourceGroups: z.optional(
    z.array(z.strictObject({ name: z.string(), id: z.string(), numUsers: z.number(), role: organizationRole })),
  ),
  twoFaEnabled: z.optional(z.boolean()),
  /** Present only if the token belongs to an admin of an organization with a Team or Enterprise plan. */
  verifiedEmail: z.optional(z.nullable(z.string())),
  isExternalCollaborator: z.optional(z.boolean()),
});

/** The new role of a member in the organization and in some of its resource groups. */
export const memberRoleChange = z.object({
  role: organizationRole,
  resourceGroups: z.optional(z.array(z.object({ id: objectIdInEitherCase, role: organizationRole }))),
});

const search = z.object({
  search: z.optional(z.string()),
  email: z.optional(z.email("expected a complete email address")),
  cursor: z.optional(z.string()),
  limit: wholeNumber({ minimum: 10, maximum: 10_000, fallback: 500 }),
});

/** A member of an organization. */
export type OrganizationMember = z.output<typeof organizationMember>;
/** A search for members. `limit` is the page size, and `cursor` is the start of the page. */
export type MemberSearch = SearchOf<typeof search>;
/** The new role of a member in the organization and in some of its resource groups. */
export type MemberRoleChange = z.input<typeof memberRoleChange>;

/** The operations on the members of an organization (docs/reference/hub-api.md, Organizations). */
export const memberOperations = {
  list: {
    method: "get",
    path: "/api/organizations/{name}/members",
    operationId: "listOrganizationMembers",
    summary: "List the members of an organization",
    request: { params: organizationName, query: search },
    response: z.array(organizationMember),
  },
  setRole: {
    method: "put",
    path: "/api/organizations/{name}/members/{username}/role",
    operationId: "setMemberRole",
    summary: "Change the role of a member",
    request: {
      params: z.object({ ...organizationName.shape, username: z.string() }),
      body: jsonBody(memberRoleChange),
    },
    response: undocumentedBody,
  },
} as const satisfies Operations;
