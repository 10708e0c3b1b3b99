import { Hono } from "hono";
import type * as z from "zod/mini";
import type { resourceGroupRequest } from "../../../hub/organizations/resource-groups.ts";
import { resourceGroupOperations } from "../../../hub/organizations/resource-groups.ts";
import { authorize } from "../../access.ts";
import { getOwner } from "../../accounts.ts";
import type { AuditLog } from "../../resources/organizations/audit-log.ts";
import {
  hasRepository,
  type KeyedResourceGroup,
  listAccessibleGroups,
  listResourceGroups,
  toResourceGroup,
} from "../../resources/organizations/resource-groups.ts";
import type { Store } from "../../store/store.ts";
import { type ApiEnvironment, invalid, requestOf } from "../authentication.ts";
import { describeRoute, serveRoute } from "../route.ts";

export const resourceGroupRoutes = {
  list: describeRoute(resourceGroupOperations.list, {
    tag: "resource-groups",
    description: "Enterprise only.",
    success: { description: "The resource groups." },
    errors: ["forbidden", "notFound"],
  }),
  create: describeRoute(resourceGroupOperations.create, {
    tag: "resource-groups",
    description: "Enterprise only.",
    success: { description: "The new resource group." },
    errors: ["invalid", "forbidden", "notFound"],
  }),
} as const;

export interface ResourceGroupRoutesOptions {
  store: Store;
  auditLog: AuditLog;
  /** The base URL of the local Hub, without a trailing slash. */
  hubUrl: string;
  createId: () => string;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Serves the operations on the resource groups of an organization (docs/reference/hub-api.md, Organizations). */
export function resourceGroupApi(options: ResourceGroupRoutesOptions): Hono<ApiEnvironment> {
  const { store, auditLog, hubUrl, createId, now } = options;
  const app = new Hono<ApiEnvironment>();

  serveRoute(app, resourceGroupRoutes.list, ({ params }, context) => {
    const { name } = params;
    const { caller } = context.var;
    const access = authorize({ store, caller, organization: name }, { role: "member", plan: "enterprise" });
    const groups = listAccessibleGroups(store, { ...access, user: caller.user });
    return groups.map((group) => toResourceGroup(group, { store, hubUrl }));
  });

  serveRoute(app, resourceGroupRoutes.create, ({ params, body }, context) => {
    const { name } = params;
    const { caller } = context.var;
    const { organization } = authorize(
      { store, caller, organization: name },
      { role: "admin", plan: "enterprise", write: true },
    );
    const { users, repos, ...fields } = body;
    const groups = listResourceGroups(store, organization);
    const problems = problemsOf({ ...fields, users, repos }, { store, organization, groups });
    if (problems.length > 0) throw invalid(problems);

    const addedBy = caller.user;
    const record = {
      ...fields,
      // Unique, so that groups of the same millisecond have an order.
      createdAt: Math.max(now(), (groups.at(-1)?.record.createdAt ?? Number.NEGATIVE_INFINITY) + 1),
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
    return toResourceGroup(group, { store, hubUrl });
  });

  return app;
}

interface ExistingGroups {
  store: Store;
  organization: string;
  groups: readonly KeyedResourceGroup[];
}

/** Finds the conflicts of a valid request with existing data. Each problem starts with its field. */
function problemsOf(
  { name, users, repos }: z.output<typeof resourceGroupRequest>,
  { store, organization, groups }: ExistingGroups,
): string[] {
  const problems: string[] = [];
  if (groups.some(({ record }) => record.name === name)) {
    problems.push(`name: ${organization} already has a resource group with this name. Choose another name`);
  }

  const seenUsers = new Set<string>();
  for (const [index, { user }] of users.entries()) {
    const field = `users[${index}].user`;
    if (seenUsers.has(user)) problems.push(`${field}: this user is listed twice. Remove one`);
    else if (!store.members.get({ owner: organization, id: user })) {
      problems.push(`${field}: this user is not a member of ${organization}`);
    }
    seenUsers.add(user);
  }

  const seenRepos = new Set<string>();
  for (const [index, repo] of repos.entries()) {
    const field = `repos[${index}].name`;
    const key = `${repo.type}:${repo.name}`;
    const group = groups.find((other) => hasRepository(other, repo));
    if (seenRepos.has(key)) problems.push(`${field}: this ${repo.type} is listed twice. Remove one`);
    else if (getOwner(repo) !== organization)
      problems.push(`${field}: this ${repo.type} does not belong to ${organization}`);
    else if (!store.repositories.get(repo)) problems.push(`${field}: this ${repo.type} does not exist`);
    else if (group) {
      problems.push(`${field}: this ${repo.type} is already in the resource group ${group.record.name}`);
    }
    seenRepos.add(key);
  }
  return problems;
}
