import type * as z from "zod/mini";
import type { ReturnedResourceGroup, resourceGroupRequest } from "../../../hub/organizations/resource-groups.ts";
import type { KnownRepoRef, RepoRef } from "../../../hub/schemas.ts";
import { accountId, formatFullName, getAvatarUrl, getOwner } from "../../accounts.ts";
import { invalidRequest } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import type { auditorOf } from "../../routes/route.ts";
import type { KeyedRecord, StoredResourceGroup } from "../../store/records.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import type { Store } from "../../store/store.ts";

export type KeyedResourceGroup = KeyedRecord<StoredResourceGroup>;

/** Returns the resource groups of an organization, oldest first. */
function listResourceGroups(store: Store, organization: string): KeyedResourceGroup[] {
  return store.resourceGroups
    .listByOwner(organization)
    .sort((left, right) => left.record.createdAt - right.record.createdAt);
}

/** An admin can access all groups. Other users can access groups in which they have a role. */
export function listAccessibleGroups(
  store: Store,
  { organization, user, isAdmin }: { organization: string; user: string; isAdmin: boolean },
): KeyedResourceGroup[] {
  return listResourceGroups(store, organization).filter(
    ({ record }) => isAdmin || record.users.some((held) => held.user === user && held.role !== "no_access"),
  );
}

function hasRepository({ record }: KeyedResourceGroup, { type, name }: RepoRef): boolean {
  return record.repos.some((held) => held.type === type && held.name === name);
}

/** Updates the groups of an organization after a repository was moved within the organization, moved to another owner, or deleted. */
export function syncResourceGroups(store: Store, before: StoredRepository, after: StoredRepository | undefined): void {
  if (after?.name === before.name) return;
  // A repository that already had the new name is replaced, so it is removed from its group.
  if (after) replaceInGroup(store, after, []);
  const stays = after !== undefined && getOwner(after) === getOwner(before);
  replaceInGroup(store, before, stays ? [after.name] : []);
}

function replaceInGroup(store: Store, repo: RepoRef, names: string[]): void {
  const group = store.resourceGroups.listByOwner(getOwner(repo)).find((candidate) => hasRepository(candidate, repo));
  if (!group) return;
  const repos = group.record.repos.flatMap((held) =>
    held.type === repo.type && held.name === repo.name ? names.map((name) => ({ ...held, name })) : [held],
  );
  store.resourceGroups.put({ ...group, record: { ...group.record, repos } });
}

/** Adds whether each repository is private. */
export function toResourceGroup(
  { id, record }: KeyedResourceGroup,
  { store, hubUrl }: { store: Pick<Store, "repositories">; hubUrl: string },
): ReturnedResourceGroup {
  const { name, description, autoJoin, users, others = [] } = record;
  const repos = record.repos.flatMap((repo) => {
    const found = store.repositories.get(repo);
    return found ? [{ ...repo, private: found.private }] : [];
  });
  return {
    id,
    name,
    ...(description !== undefined && { description }),
    ...(autoJoin && { autoJoin }),
    users: users.map(({ user, ...same }) => ({
      type: "user",
      _id: accountId(user),
      fullname: formatFullName(user),
      name: user,
      avatarUrl: getAvatarUrl(user, { hubUrl }),
      ...same,
    })),
    // `repos` is the name that the Hub used before 2026-07-01. It contains only repositories.
    resources: [...repos, ...others],
    repos,
  };
}

type ResourceGroupFields = z.output<typeof resourceGroupRequest>;

/** Records the group and its repositories in the audit log. @throws HTTPException 400 if the fields conflict with existing data. */
export function createResourceGroup(
  { store, createId, now }: HubContext,
  {
    organization,
    fields,
    addedBy,
    recordAction,
  }: {
    organization: string;
    fields: ResourceGroupFields;
    addedBy: string;
    recordAction: ReturnType<typeof auditorOf>;
  },
): KeyedResourceGroup {
  const { users, repos, ...others } = fields;
  const groups = listResourceGroups(store, organization);
  const problems = problemsOf(fields, store, organization, groups);
  if (problems.length > 0) throw invalidRequest(problems);

  const record = {
    ...others,
    // Creation times are unique, so that groups that were created in the same millisecond have an order.
    createdAt: Math.max(now(), (groups.at(-1)?.record.createdAt ?? Number.NEGATIVE_INFINITY) + 1),
    users: users.map((user) => ({ ...user, addedBy })),
    repos: repos.map((repo) => ({ ...repo, addedBy })),
  };
  const group = { owner: organization, id: createId(), record };
  const reference = { id: group.id, name: record.name };
  store.transaction(() => {
    store.resourceGroups.put(group);
    const created = `Created the resource group ${record.name}`;
    recordAction({ type: "resource_group.create", message: created, data: reference });
    for (const repo of repos) {
      const message = `Put the ${repo.type} ${repo.name} into the resource group ${record.name}`;
      const data = { repo, resourceGroup: reference };
      recordAction({ type: "repo.update_resource_group", message, data });
    }
  });
  return group;
}

/** Does nothing without an ID. */
export function addToResourceGroup(store: Store, repo: KnownRepoRef, id: string | null | undefined, addedBy: string) {
  if (!id) return;
  const group = { owner: getOwner(repo), id: id.toLowerCase() };
  const record = store.resourceGroups.get(group);
  if (!record) throw invalidRequest([`resourceGroupId: ${group.owner} has no resource group with this ID`]);
  const { type, name } = repo;
  store.resourceGroups.put({ ...group, record: { ...record, repos: [...record.repos, { type, name, addedBy }] } });
}

/** Finds conflicts between a valid request and existing data. Each problem starts with the name of the invalid field. */
function problemsOf(
  { name, users, repos }: ResourceGroupFields,
  store: Store,
  organization: string,
  groups: readonly KeyedResourceGroup[],
): string[] {
  const problems: string[] = [];
  if (groups.some(({ record }) => record.name === name)) {
    problems.push(`name: ${organization} already has a resource group with this name. Choose another name`);
  }

  const seenUsers = new Set<string>();
  for (const [index, { user }] of users.entries()) {
    const field = `users[${index}].user`;
    if (seenUsers.has(user)) problems.push(`${field}: this user is listed twice. Remove one of the entries`);
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
    if (seenRepos.has(key)) problems.push(`${field}: this ${repo.type} is listed twice. Remove one of the entries`);
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
