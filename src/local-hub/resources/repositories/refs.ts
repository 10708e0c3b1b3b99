import type { RepositoryRefs } from "../../../hub/repositories/refs.ts";
import { CodedException } from "../../error-response.ts";
import type { Commit } from "../../git/commit-store.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import type { Store } from "../../store/store.ts";
import { updateRefs } from "./commit-changes.ts";

/** Lists the branches, tags, converted files, and optionally pull requests of a repository. */
export function listRefs(
  store: Pick<Store, "content">,
  { repository, includePullRequests }: { repository: StoredRepository; includePullRequests: boolean },
): RepositoryRefs {
  const refs = store.content.refs(repository.id);
  const withPrefix = (prefix: string) =>
    refs
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, oid }) => ({ name: name.slice(prefix.length), ref: name, targetCommit: oid }));
  return {
    branches: withPrefix("refs/heads/"),
    tags: withPrefix("refs/tags/"),
    converts: withPrefix("refs/convert/"),
    ...(includePullRequests && { pullRequests: withPrefix("refs/pr/") }),
  };
}

/** Creates a commit without parents and files, for a new empty branch. */
export function createEmptyCommit(
  { store, now }: Pick<HubContext, "store" | "now">,
  { repository, user }: { repository: StoredRepository; user: string },
): Commit {
  const details = { title: "initial commit", message: "", author: user, date: now() };
  return store.content.createCommit(repository.id, { parents: [], changes: [], ...details });
}

/**
 * Replaces the commits of a branch with one commit that has the same files. Fires `repo.content` update.
 *
 * @throws `HTTPException` 404 with the code `RevisionNotFound` if the branch does not exist.
 */
export function squashHistory(
  context: HubContext,
  {
    repository,
    branch,
    title,
    user,
  }: { repository: StoredRepository; branch: string; title?: string | undefined; user: string },
): void {
  const { content } = context.store;
  const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
  const head = content.getRef(repository.id, ref);
  const before = head === undefined ? undefined : content.getCommit(repository.id, head);
  if (!before) throw new CodedException(404, { code: "RevisionNotFound", message: `Invalid rev id: ${branch}` });
  const changes = Array.from(content.list(before.tree, { recursive: true }))
    .filter(({ type }) => type === "file")
    .map((entry) => ({ path: entry.path, entry }));
  const details = { title: title ?? `Super-squash branch '${branch}'`, message: "", author: user, date: context.now() };
  const squashed = content.createCommit(repository.id, { parents: [], changes, ...details });
  updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha: before.oid, newSha: squashed.oid }] });
}
