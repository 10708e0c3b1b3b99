import type { ReturnedResourceGroup } from "../../hub/organizations/resource-groups.ts";
import type { RepoId } from "../../hub/schemas.ts";
import { accountId, fullNameOf, ownerOf } from "../accounts.ts";
import type { KeyedRecord, StoredResourceGroup } from "../store/records.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { Store } from "../store/store.ts";
import { avatarUrlOf } from "./avatars.ts";

/** A resource group, and where it is stored. */
export type KeyedResourceGroup = KeyedRecord<StoredResourceGroup>;

/** The resource groups of an organization, the oldest first. */
export function resourceGroupsOf(store: Pick<Store, "resourceGroups">, organization: string): KeyedResourceGroup[] {
  return store.resourceGroups.of(organization).sort((left, right) => left.record.createdAt - right.record.createdAt);
}

/** Those that a member can access: an admin all, others those in which they may do anything. */
export function accessibleGroups(
  store: Pick<Store, "resourceGroups">,
  { organization, user, isAdmin }: { organization: string; user: string; isAdmin: boolean },
): KeyedResourceGroup[] {
  return resourceGroupsOf(store, organization).filter(
    ({ record }) => isAdmin || record.users.some((held) => held.user === user && held.role !== "no_access"),
  );
}

/** Whether a repository is in a group. */
export function holdsRepository({ record }: KeyedResourceGroup, { type, name }: RepoId): boolean {
  return record.repos.some((held) => held.type === type && held.name === name);
}

/** Lets the groups of an organization follow a repository that moves within it, and forget one that is gone from it. */
export function followInGroups(
  store: Pick<Store, "resourceGroups">,
  { before, after }: { before: StoredRepository; after: StoredRepository | undefined },
): void {
  if (after?.name === before.name) return;
  // What was there under the new name is no more.
  if (after) replaceInGroup(store, { repo: after, by: [] });
  const stays = after !== undefined && ownerOf(after) === ownerOf(before);
  replaceInGroup(store, { repo: before, by: stays ? [after.name] : [] });
}

function replaceInGroup(store: Pick<Store, "resourceGroups">, { repo, by }: { repo: RepoId; by: string[] }): void {
  const group = store.resourceGroups.of(ownerOf(repo)).find((candidate) => holdsRepository(candidate, repo));
  if (!group) return;
  const repos = group.record.repos.flatMap((held) =>
    held.type === repo.type && held.name === repo.name ? by.map((name) => ({ ...held, name })) : [held],
  );
  store.resourceGroups.put({ ...group, record: { ...group.record, repos } });
}

/** A group as it is answered: whether its repositories are private is looked up, so that it is always true. */
export function toAnswer(
  { id, record }: KeyedResourceGroup,
  { store, baseUrl }: { store: Pick<Store, "repositories">; baseUrl: string },
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
      fullname: fullNameOf(user),
      name: user,
      avatarUrl: avatarUrlOf(user, { baseUrl }),
      ...same,
    })),
    // The name of today, and the one from before 2026-07-01, under which repositories alone are listed.
    resources: [...repos, ...others],
    repos,
  };
}
