import { discussionStatuses } from "../../payload/names.ts";
import { localUser } from "../accounts.ts";
import { discussionId } from "../events/recorded-event.ts";
import { deriveId } from "../ids.ts";
import { hasContent, mainRef } from "../repository-content.ts";
import type { StoredNotification } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { memberName } from "./organizations.ts";

/** The creation time of the first example discussion. It is fixed, so that discussions are the same in every local Hub. */
const firstCreatedAt = Date.UTC(2026, 0, 31, 10);
const intervalMs = 3_600_000;

/**
 * Stores the discussions and pull requests of the example notifications, each with a first comment. The pull requests have no
 * commits of their own.
 */
export function seedDiscussions(
  { repositories, discussions, content }: Pick<Store, "repositories" | "discussions" | "content">,
  subjects: readonly StoredNotification["about"][],
): void {
  for (const [index, about] of subjects.entries()) {
    const repository = about.type === "repo" ? repositories.get(about.repo) : undefined;
    if (about.type !== "repo" || !repository || !hasContent(repository.type)) continue;
    const { num, title, isPullRequest } = about.discussion;
    const status = discussionStatuses.find((known) => known === about.discussion.status) ?? "open";
    const { id: repositoryId, headSha = "" } = repository;
    const id = discussionId({ repositoryId, num });
    const createdAt = firstCreatedAt + num * intervalMs;
    const author = repository.private ? localUser : memberName(index);
    const merged = status === "merged" ? { mergeCommitId: headSha } : {};
    discussions.put({
      ...{ repositoryId, num, id, title, status, isPullRequest, author, createdAt, pinned: false },
      ...(isPullRequest && { changes: { base: mainRef, ...merged }, baseCommit: headSha }),
    });
    const event = { id: deriveId(`first comment ${id}`), type: "comment", author, createdAt } as const;
    discussions.addEvent(
      { repositoryId, num },
      { ...event, content: title, hidden: false, updatedAt: createdAt, edits: [] },
    );
    if (isPullRequest) content.setRefs(repositoryId, [{ name: `refs/pr/${num}`, oid: headSha }]);
  }
}
