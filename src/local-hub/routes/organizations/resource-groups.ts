import type { OpenAPIHono, z } from "@hono/zod-openapi";
import { createRoute } from "@hono/zod-openapi";
import type { resourceGroupRequest } from "../../../hub/organizations/resource-groups.ts";
import { resourceGroupOperations } from "../../../hub/organizations/resource-groups.ts";
import { authorize } from "../../access.ts";
import { getOwner } from "../../accounts.ts";
import type { AuditLog } from "../../resources/audit-log.ts";
import {
  hasRepository,
  type KeyedResourceGroup,
  listAccessibleGroups,
  listResourceGroups,
  toResourceGroup,
} from "../../resources/resource-groups.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, createApiApp, invalid, requestOf } from "../api.ts";
import { describeRoute, errorResponses, jsonResponse } from "../openapi.ts";

/** The routes of the operations, as the document describes them. */
export const resourceGroupRoutes = {
  list: createRoute({
    ...describeRoute(resourceGroupOperations.list),
    description: "Enterprise only.",
    tags: ["resource-groups"],
    responses: {
      200: jsonResponse("The groups.", resourceGroupOperations.list.response),
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
    },
  }),
  create: createRoute({
    ...describeRoute(resourceGroupOperations.create),
    description: "Enterprise only.",
    tags: ["resource-groups"],
    responses: {
      200: jsonResponse("The new group.", resourceGroupOperations.create.response),
      ...errorResponses.invalid,
      ...errorResponses.unauthorized,
      ...errorResponses.forbidden,
      ...errorResponses.notFound,
      ...errorResponses.body,
    },
  }),
} as const;

/** What the routes of resource groups need. */
export interface ResourceGroupRoutesOptions {
  store: Store;
  auditLog: AuditLog;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  createId: () => string;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The operations on the resource groups of an organization (hub-api.md, Organizations). */
export function resourceGroupApi(options: ResourceGroupRoutesOptions): OpenAPIHono<ApiEnvironment> {
  const { store, auditLog, baseUrl, createId, now } = options;
  const app = createApiApp();

  app.openapi(resourceGroupRoutes.list, (context) => {
    const { name } = context.req.valid("param");
    const { caller } = context.var;
    const access = authorize({ store, caller, organization: name }, { role: "member", plan: "enterprise" });
    const groups = listAccessibleGroups(store, { ...access, user: caller.user });
    return context.json(
      groups.map((group) => toResourceGroup(group, { store, baseUrl })),
      200,
    );
  });

  app.openapi(resourceGroupRoutes.create, (context) => {
    const { name } = context.req.valid("param");
    const { caller } = context.var;
    const { organization } = authorize(
      { store, caller, organization: name },
      { role: "admin", plan: "enterprise", write: true },
    );
    const { users, repos, ...same } = context.req.valid("json");
    const others = listResourceGroups(store, organization);
    const problems = problemsOf({ ...same, users, repos }, { store, organization, others });
    if (problems.length > 0) throw invalid(problems);

    const addedBy = caller.user;
    const record = {
      ...same,
      // Two of one millisecond have an order as well.
      createdAt: Math.max(now(), (others.at(-1)?.record.createdAt ?? Number.NEGATIVE_INFINITY) + 1),
      users: users.map((user) => ({ ...user, addedBy })),
      repos: repos.map((repo) => ({ ...repo, addedBy })),
    };
    const group = { owner: organization, id: createId(), record };
    const entry = {
      organization,
      author: caller.user,
      request: requestOf(context),
    };
    const reference = { id: group.id, name: record.name };
    store.transaction(() => {
      store.resourceGroups.put(group);
      auditLog.record({
        ...entry,
        type: "resource_group.create",
        message: `Created the resource group ${record.name}`,
        data: reference,
      });
      for (const repo of repos) {
        auditLog.record({
          ...entry,
          type: "repo.update_resource_group",
          message: `Put the ${repo.type} ${repo.name} into the resource group ${record.name}`,
          data: { repo, resourceGroup: reference },
        });
      }
    });
    return context.json(toResourceGroup(group, { store, baseUrl }), 200);
  });

  return app;
}

interface Surroundings {
  store: Store;
  organization: string;
  /** The groups that there are already. */
  others: readonly KeyedResourceGroup[];
}

/** What is wrong with a request that has the right form, each with its field. */
function problemsOf(
  { name, users, repos }: z.output<typeof resourceGroupRequest>,
  { store, organization, others }: Surroundings,
): string[] {
  const problems: string[] = [];
  if (others.some(({ record }) => record.name === name)) {
    problems.push(`name: ${organization} has a resource group of this name: choose another`);
  }

  const seenUsers = new Set<string>();
  for (const [index, { user }] of users.entries()) {
    const field = `users[${index}].user`;
    if (seenUsers.has(user)) problems.push(`${field}: this user is there twice: leave one out`);
    else if (!store.members.get({ owner: organization, id: user })) {
      problems.push(`${field}: this is no member of ${organization}`);
    }
    seenUsers.add(user);
  }

  const seenRepos = new Set<string>();
  for (const [index, repo] of repos.entries()) {
    const field = `repos[${index}].name`;
    const key = `${repo.type}:${repo.name}`;
    const group = others.find((other) => hasRepository(other, repo));
    if (seenRepos.has(key)) problems.push(`${field}: this ${repo.type} is there twice: leave one out`);
    else if (getOwner(repo) !== organization)
      problems.push(`${field}: this ${repo.type} does not belong to ${organization}`);
    else if (!store.repositories.get(repo)) problems.push(`${field}: there is no ${repo.type} of this name`);
    else if (group) {
      problems.push(
        `${field}: this ${repo.type} is in the resource group ${group.record.name}, and can be in one only`,
      );
    }
    seenRepos.add(key);
  }
  return problems;
}
