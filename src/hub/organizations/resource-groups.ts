import * as z from "zod";
import { repoTypes } from "../../payload/schema.ts";
import type { CallOptions, Operations } from "../operation.ts";
import { jsonBody } from "../operation.ts";
import { objectId, openEnum, organizationName, organizationRole, repoId, requestEnum } from "../schemas.ts";
import type { Transport } from "../transport.ts";

const scopes = ["all", "read_plus"] as const;
const isAutomatic = { enabled: z.literal(true), role: organizationRole };
const isManual = { enabled: z.literal(false) };
const expectedAutoJoin = 'expected { "enabled": true, "role": … } or { "enabled": false }';

/** Whether new members of the organization join, in which role, and which of them. */
export const autoJoin = z.discriminatedUnion(
  "enabled",
  [z.object({ ...isAutomatic, scope: requestEnum(scopes).optional() }), z.object(isManual)],
  expectedAutoJoin,
);

const answeredAutoJoin = z.discriminatedUnion(
  "enabled",
  [z.strictObject({ ...isAutomatic, scope: openEnum(scopes).optional() }), z.strictObject(isManual)],
  expectedAutoJoin,
);

const addedBy = z.string().optional();
const titled = { id: objectId, slug: z.string(), title: z.string(), private: z.boolean(), addedBy };
const named = { id: z.string(), name: z.string().optional(), addedBy };
const repository = z.strictObject({ type: z.enum(repoTypes), name: z.string(), private: z.boolean(), addedBy });

/** Something that belongs to a resource group. */
export const resource = z.discriminatedUnion("type", [
  repository,
  z.strictObject({ type: z.literal("collection"), ...titled }),
  z.strictObject({ type: z.literal("blog"), ...titled }),
  z.strictObject({ type: z.literal("job"), ...named }),
  z.strictObject({ type: z.literal("scheduled-job"), ...named }),
]);

/** The published document states no unit. */
const spendLimit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

/** Resources of an organization, and who may do what with them. */
export const resourceGroup = z
  .strictObject({
    id: objectId,
    name: z.string(),
    description: z.string().nullable().optional(),
    autoJoin: answeredAutoJoin.optional(),
    spendLimits: z
      .strictObject({
        total: spendLimit,
        inferenceProviders: spendLimit,
        spaces: spendLimit,
        jobs: spendLimit,
        endpoints: spendLimit,
      })
      .optional(),
    users: z.array(
      z.strictObject({
        type: z.literal("user"),
        _id: objectId,
        fullname: z.string(),
        name: z.string(),
        avatarUrl: z.string(),
        role: organizationRole,
        addedBy,
      }),
    ),
    resources: z.array(resource).optional(),
    /** Before 2026-07-01, in place of `resources`. */
    repos: z.array(repository).optional(),
  })
  .refine(({ resources, repos }) => resources !== undefined || repos !== undefined, {
    path: ["resources"],
    error: "it is missing",
  })
  .meta({ anyOf: [{ required: ["resources"] }, { required: ["repos"] }] });

/** A resource group to create. */
export const resourceGroupRequest = z.object({
  name: z.string().min(1).max(200),
  description: z.string().max(500).optional(),
  /** By the name of the user. */
  users: z.array(z.object({ user: z.string(), role: organizationRole })).default([]),
  repos: z.array(repoId).default([]),
  autoJoin: autoJoin.optional(),
});

/** Something that belongs to a resource group; `type` tells what it is. A newer Hub may return further types. */
export type Resource = z.output<typeof resource>;
/** A resource group as the Hub returns it: with `resources`, or before 2026-07-01 with `repos`. */
export type ReturnedResourceGroup = z.output<typeof resourceGroup>;
/** Resources of an organization, and who may do what with them. */
export type ResourceGroup = Omit<ReturnedResourceGroup, "resources"> & {
  /** Repositories, collections, blog articles and jobs. */
  resources: Resource[];
};
/** A resource group to create. */
export type ResourceGroupRequest = z.input<typeof resourceGroupRequest>;

const path = "/api/organizations/{name}/resource-groups";

/** The operations on the resource groups of an organization (hub-api.md, Organizations). */
export const resourceGroupOperations = {
  list: {
    method: "get",
    path,
    operationId: "listResourceGroups",
    summary: "List the resource groups that you can access",
    request: { params: organizationName },
    response: z.array(resourceGroup),
  },
  create: {
    method: "post",
    path,
    operationId: "createResourceGroup",
    summary: "Create a resource group",
    request: { params: organizationName, body: jsonBody(resourceGroupRequest) },
    response: resourceGroup,
  },
} as const satisfies Operations;

/** The resource groups of organizations: `hub.organizations.resourceGroups`. */
export class HubResourceGroups {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the resource groups that you can access. */
  async list(name: string, options?: CallOptions): Promise<ResourceGroup[]> {
    const groups = await this.#transport.call(resourceGroupOperations.list, { params: { name } }, options);
    return groups.map(withResources);
  }

  /**
   * Creates a resource group. The call is retried only if the Hub cannot have processed it.
   *
   * @example
   * ```ts
   * await hub.organizations.resourceGroups.create("acme", {
   *   name: "vision",
   *   users: [{ user: "ada", role: "write" }],
   *   repos: [{ type: "dataset", name: "acme/images" }],
   *   autoJoin: { enabled: true, role: "read" },
   * });
   * ```
   */
  async create(name: string, request: ResourceGroupRequest, options?: CallOptions): Promise<ResourceGroup> {
    const input = { params: { name }, body: request };
    return withResources(await this.#transport.call(resourceGroupOperations.create, input, options));
  }
}

/** Before 2026-07-01 the Hub returned the repositories of a group as `repos`, and nothing else of it. */
function withResources(group: ReturnedResourceGroup): ResourceGroup {
  return { ...group, resources: group.resources ?? group.repos ?? [] };
}
