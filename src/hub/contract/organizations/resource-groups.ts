import { createRoute, z } from "@hono/zod-openapi";
import { jsonAnswer, jsonBody } from "../json.ts";
import { repoId, repoType } from "../repositories.ts";
import { bearer, objectId, refusals } from "../values.ts";
import { organizationName, organizationRole } from "./role.ts";

/** Whether new members of the organization join, and as what. */
export const autoJoin = z.discriminatedUnion(
  "enabled",
  [z.strictObject({ enabled: z.literal(true), role: organizationRole }), z.strictObject({ enabled: z.literal(false) })],
  'expected { "enabled": true, "role": … } or { "enabled": false }',
);

/** Some repositories of an organization, and who may do what with them. */
export const resourceGroup = z
  .strictObject({
    id: objectId,
    name: z.string(),
    description: z.string().nullable().optional(),
    autoJoin: autoJoin.optional(),
    users: z.array(
      z.strictObject({
        type: z.literal("user"),
        _id: objectId,
        fullname: z.string(),
        name: z.string(),
        avatarUrl: z.string(),
        role: organizationRole,
        addedBy: z.string().optional(),
      }),
    ),
    repos: z.array(
      z.strictObject({ name: z.string(), type: repoType, private: z.boolean(), addedBy: z.string().optional() }),
    ),
  })
  .openapi("ResourceGroup");

/** A resource group that is to be made. */
export const resourceGroupRequest = z
  .strictObject({
    name: z.string().min(1).max(200),
    description: z.string().max(500).optional(),
    /** By the name of the user. */
    users: z.array(z.strictObject({ user: z.string(), role: organizationRole })).default([]),
    repos: z.array(repoId).default([]),
    autoJoin: autoJoin.optional(),
  })
  .openapi("ResourceGroupRequest");

/** Some repositories of an organization, and who may do what with them. */
export type ResourceGroup = z.output<typeof resourceGroup>;
/** A resource group that is to be made. */
export type ResourceGroupRequest = z.input<typeof resourceGroupRequest>;

const path = "/api/organizations/{name}/resource-groups";

/** The operations on the resource groups of an organization (hub-api.md, Organizations). */
export const resourceGroupRoutes = {
  list: createRoute({
    method: "get",
    path,
    operationId: "listResourceGroups",
    summary: "List the resource groups that you can access",
    description: "Enterprise only.",
    tags: ["resource-groups"],
    security: bearer,
    request: { params: organizationName },
    responses: {
      200: jsonAnswer("The groups.", z.array(resourceGroup)),
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
    },
  }),
  create: createRoute({
    method: "post",
    path,
    operationId: "createResourceGroup",
    summary: "Create a resource group",
    description: "Enterprise only.",
    tags: ["resource-groups"],
    security: bearer,
    request: { params: organizationName, body: jsonBody(resourceGroupRequest) },
    responses: {
      200: jsonAnswer("The new group.", resourceGroup),
      ...refusals.invalid,
      ...refusals.unauthorized,
      ...refusals.forbidden,
      ...refusals.notFound,
      ...refusals.body,
    },
  }),
} as const;
