import type { ReturnedResourceGroup } from "../../../hub/organizations/resource-groups.ts";
import type { RepoRef } from "../../../hub/schemas.ts";
import { accountId, formatFullName, getOwner } from "../../accounts.ts";
import type { KeyedRecord, StoredResourceGroup } from "../../store/records.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import type { Store } from "../../store/store.ts";
import { getAvatarUrl } from "../avatars.ts";

/** A resource group with its key. */
export type KeyedResourceGroup = KeyedRecord<StoredResourceGroup>;

/** Returns the resource groups of an organization, oldest first. */
export function listResourceGroups(store: Pick<Store, "resourceGroups">, organization: string): KeyedResourceGroup[] {
  return store.resourceGroups
    .listByOwner(organization)
    .sort((left, right) => left.record.createdAt - right.record.createdAt);
}

/** Returns the groups that a user can access: all for an admin, for others those in which they have a role. */
export function listAccessibleGroups(
  store: Pick<Store, "resourceGroups">,
  { organization, user, isAdmin }: { organization: string; user: string; isAdmin: boolean },
): KeyedResourceGroup[] {
  return listResourceGroups(store, organization).filter(
    ({ record }) => isAdmin || record.users.some((held) => held.user === user && held.role !== "no_access"),
  );
}

/** Whether a group contains a repository. */
export function hasRepository({ record }: KeyedResourceGroup, { type, name }: RepoRef): boolean {
  return record.repos.some((held) => held.type === type && held.name === name);
}

/**
 * Updates the groups of an organization after a repository was moved within it, deleted, or moved to another owner.
 */
export function syncResourceGroups(
  store: Pick<Store, "resourceGroups">,
  { before, after }: { before: StoredRepository; after: StoredRepository | undefined },
): void {
  if (after?.name === before.name) return;
  // A move replaces the repository that had the new name.
  if (after) replaceInGroup(store, { repo: after, by: [] });
  const stays = after !== undefined && getOwner(after) === getOwner(before);
  replaceInGroup(store, { repo: before, by: stays ? [after.name] : [] });
}

function replaceInGroup(store: Pick<Store, "resourceGroups">, { repo, by }: { repo: RepoRef; by: string[] }): void {
  const group = store.resourceGroups.listByOwner(getOwner(repo)).find((candidate) => hasRepository(candidate, repo));
  if (!group) return;
  const repos = group.record.repos.flatMap((held) =>
    held.type === repo.type && held.name === repo.name ? by.map((name) => ({ ...held, name })) : [held],
  );
  store.resourceGroups.put({ ...group, record: { ...group.record, repos } });
}

/** Converts a group to its API representation. Looks up whether its repositories are private. */
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
    // `repos` is the name from before 2026-07-01. It lists only repositories.
    resources: [...repos, ...others],
    repos,
  };
}
