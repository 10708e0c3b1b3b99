import { z } from "@hono/zod-openapi";

/** The roles that every organization has; others are its own. */
export const organizationRoles = ["admin", "write", "contributor", "read", "no_access"] as const;

/** A role in an organization or in a resource group: one of five, or the name of a custom one. */
export type OrganizationRole = (typeof organizationRoles)[number] | (string & {});

/** The schema of a role; its type keeps the known ones, so that editors complete them. */
export const organizationRole: z.ZodType<OrganizationRole, OrganizationRole> = z.union(
  [z.enum(organizationRoles), z.string().min(1)],
  `expected a role: ${organizationRoles.join(", ")}, or the name of a custom one`,
);

/** The name of an organization, as a part of the path. */
export const organizationName = z.object({ name: z.string() });
