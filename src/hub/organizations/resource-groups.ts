import * as z from "zod/mini";
import { repoTypes } from "../../payload/names.ts";
import { type CallOptions, jsonBody, type Operations } from "../operation.ts";
import {
  objectId,
  organizationName,
  organizationRole,
  repoRef,
  requestEnum,
  responseEnum,
  withJsonRule,
} from "../schemas.ts";
import type { Transport } from "../transport/transport.ts";

const scopes = ["all", "read_plus"] as const;
const enabledAutoJoin = { enabled: z.literal(true), role: organizationRole };
const disabledAutoJoin = { enabled: z.literal(false) };
const expectedAutoJoin = 'expected { "enabled": true, "role": … } or { "enabled": false }';

/** Whether new members of the organization join the group automatically, and the role of these members. */
export const autoJoin = z.discriminatedUnion(
  "enabled",
  [z.object({ ...enabledAutoJoin, scope: z.optional(requestEnum(scopes)) }), z.object(disabledAutoJoin)],
  expectedAutoJoin,
);

const returnedAutoJoin = z.discriminatedUnion(
  "enabled",
  [z.strictObject({ ...enabledAutoJoin, scope: z.optional(responseEnum(scopes)) }), z.strictObject(disabledAutoJoin)],
  expectedAutoJoin,
);

const addedBy = z.optional(z.string());
const titledResource = { id: objectId, slug: z.string(), title: z.string(), private: z.boolean(), addedBy };
const namedResource = { id: z.string(), name: z.optional(z.string()), addedBy };
const repository = z.strictObject({ type: z.enum(repoTypes), name: z.string(), private: z.boolean(), addedBy });

/** A resource of a resource group. */
export const resource = z.discriminatedUnion("type", [
  repository,
  z.strictObject({ type: z.literal("collection"), ...titledResource }),
  z.strictObject({ type: z.literal("blog"), ...titledResource }),
  z.strictObject({ type: z.literal("job"), ...namedResource }),
  z.strictObject({ type: z.literal("scheduled-job"), ...namedResource }),
]);

/** The Hub does not document the unit of this limit. */
const spendLimit = z.optional(z.int().check(z.minimum(0), z.maximum(Number.MAX_SAFE_INTEGER)));

/** A group of resources of an organization, with its own members and roles. */
export const resourceGroup = withJsonRule(
  z
    .strictObject({
      id: objectId,
      name: z.string(),
      description: z.optional(z.nullable(z.string())),
      autoJoin: z.optional(returnedAutoJoin),
      spendLimits: z.optional(
        z.strictObject({
          total: spendLimit,
          inferenceProviders: spendLimit,
          spaces: spendLimit,
          jobs: spendLimit,
          endpoints: spendLimit,
        }),
      ),
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
      resources: z.optional(z.array(resource)),
      /** The name of `resources` before 2026-07-01. */
      repos: z.optional(z.array(repository)),
    })
    .check(
      z.refine(({ resources, repos }) => resources !== undefined || repos !== undefined, {
        path: ["resources"],
        error: "required",
      }),
    ),
  { anyOf: [{ required: ["resources"] }, { required: ["repos"] }] },
);

/** A resource group to create. */
export const resourceGroupRequest = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  description: z.optional(z.string().check(z.maxLength(500))),
  /** The members, by username. */
  users: z._default(z.array(z.object({ user: z.string(), role: organizationRole })), []),
  repos: z._default(z.array(repoRef), []),
  autoJoin: z.optional(autoJoin),
});

/** A resource of a resource group. The fields depend on `type`. The Hub can add types. */
export type Resource = z.output<typeof resource>;
/** A resource group as the Hub returns it. Before 2026-07-01, the Hub returned `repos` instead of `resources`. */
export type ReturnedResourceGroup = z.output<typeof resourceGroup>;
/** A group of resources of an organization, with its own members and roles. */
export type ResourceGroup = Omit<ReturnedResourceGroup, "resources"> & {
  /** Repositories, collections, blog articles, and jobs. */
  resources: Resource[];
};
/** A resource group to create. */
export type ResourceGroupRequest = z.input<typeof resourceGroupRequest>;

const path = "/api/organizations/{name}/resource-groups";

/** The operations on the resource groups of an organization (docs/reference/hub-api.md, Organizations). */
export const resourceGroupOperations = {
  list: {
    requestLine: `GET ${path}`,
    operationId: "listResourceGroups",
    summary: "List the resource groups that you can access",
    request: { params: organizationName },
    response: z.array(resourceGroup),
  },
  create: {
    requestLine: `POST ${path}`,
    operationId: "createResourceGroup",
    summary: "Create a resource group",
    request: { params: organizationName, body: jsonBody(resourceGroupRequest) },
    response: resourceGroup,
  },
} as const satisfies Operations;

/** The methods of `hub.organizations.resourceGroups` for the resource groups of organizations. */
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
   * Creates a resource group. The call is retried only if the Hub cannot have processed the call.
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

/** Adds `resources` if they are missing. Before 2026-07-01, the Hub returned only repositories, in the field `repos`. */
function withResources(group: ReturnedResourceGroup): ResourceGroup {
  return { ...group, resources: group.resources ?? group.repos ?? [] };
}
