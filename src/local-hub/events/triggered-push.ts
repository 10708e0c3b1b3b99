import type { Commit } from "../git/commit-store.ts";
import type { ContentStore, FileChange } from "../git/content-store.ts";
import type { HubContext } from "../hub-context.ts";
import { mainRef } from "../repository-content.ts";
import { commitChanges, updateRefs } from "../resources/repositories/commit-changes.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { ParsedEvent } from "./event-request.ts";

interface TriggeredPush {
  repository: StoredRepository;
  /** The refs of the event. Default: the main branch. */
  updatedRefs: ParsedEvent["updatedRefs"];
  /** The name of the user. */
  user: string;
}

/**
 * Pushes to refs: adds a commit to each branch, and creates and deletes branches and tags. If the new commit of a ref exists, the
 * ref is set to this commit. Refs of pull requests that do not exist stay missing, and the main branch is not deleted.
 */
export function pushToRefs(
  context: HubContext,
  { repository, updatedRefs = [{ ref: mainRef, newSha: "" }], user }: TriggeredPush,
): void {
  const { content } = context.store;
  for (const { ref, newSha } of updatedRefs) {
    const oldSha = content.getRef(repository.id, ref) ?? null;
    const set = (sha: string | null) =>
      updateRefs(context, { repository, user, updatedRefs: [{ ref, oldSha, newSha: sha }] });
    const head = content.resolve(repository.id, oldSha === null ? mainRef : ref);
    if (!head || (oldSha === null && /^refs\/pr\//.test(ref))) continue;
    if (newSha === null) {
      if (oldSha !== null && ref !== mainRef) set(null);
      continue;
    }
    const target = content.getCommit(repository.id, newSha);
    if (target || ref.startsWith("refs/tags/")) {
      set((target ?? head).oid);
      continue;
    }
    if (oldSha === null) set(head.oid);
    const changes = createPush(content, { head, name: repository.name });
    commitChanges(context, { repository, ref, changes, title: "Update the data", message: "", user });
  }
}

/**
 * Returns the changes of a push: a new version of the file `data/latest.txt`, which contains the number of the push, and a card
 * without metadata if there is no `README.md`.
 */
export function createPush(content: ContentStore, { head, name }: { head: Commit; name: string }): FileChange[] {
  const path = content.find(head.tree, "data")?.type === "file" ? "latest.txt" : "data/latest.txt";
  const entry = content.find(head.tree, path);
  const text = entry?.type === "file" ? Buffer.from(content.read(entry)).toString() : "";
  const pushed = Number(/^push: (\d{1,9})$/m.exec(text)?.[1] ?? 0);
  const data = { path, content: Buffer.from(`push: ${pushed + 1}\n`) };
  if (content.find(head.tree, "README.md")) return [data];
  return [data, { path: "README.md", content: Buffer.from(`# ${name}\n`) }];
}
