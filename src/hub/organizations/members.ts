import * as z from "zod";
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
});

/** What a member may do from now on, in the organization and in some of its resource groups. */
export const memberRoleChange = z.object({
  role: organizationRole,
  resourceGroups: z.array(z.object({ id: objectIdInEitherCase, role: organizationRole })).optional(),
});

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
    request: { params: organizationName.extend({ username: z.string() }), body: jsonBody(memberRoleChange) },
    response: undocumentedBody,
  },
} as const satisfies Operations;
