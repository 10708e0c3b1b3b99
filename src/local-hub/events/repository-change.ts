import type { PayloadEdit } from "../../payload/samples.ts";
import type { StoredRepository } from "../store/repository-store.ts";

/** A change of a branch, a tag, or another ref. */
export interface UpdatedRef {
  /** The full name, such as `refs/heads/main`. */
  ref: string;
  /** `null` if the ref was created. */
  oldSha: string | null;
  /** `null` if the ref was deleted. */
  newSha: string | null;
}

/** A file of a bucket that was added, replaced, or deleted. */
export type UpdatedFile =
  | { path: string; action: "add"; xetHash: string; size: number }
  | { path: string; action: "delete" };

/** The discussion or pull request of a change. */
export interface ChangedDiscussion {
  id: string;
  num: number;
  title: string;
  status: string;
  isPullRequest: boolean;
  /** The name of the user. */
  author: string;
  pinned?: boolean | undefined;
  /** Only for pull requests. */
  changes?: { base: string; mergeCommitId?: string | undefined } | undefined;
}

/** The comment of a change. */
export interface ChangedComment {
  id: string;
  /** The name of the user. */
  author: string;
  content: string;
  hidden: boolean;
}

/** A stored change to a repository, which fires one event. */
export interface RepositoryChange {
  scope: string;
  action: string;
  /** The name of the user who made the change. */
  user: string;
  /** The repository before the change. `undefined` if the change created the repository. */
  before: StoredRepository | undefined;
  /** The repository after the change. `undefined` if the change deleted the repository. */
  after: StoredRepository | undefined;
  /** The new name of a moved repository. */
  movedTo?: { name: string } | undefined;
  /** The changed refs of the scope `repo.content`. */
  updatedRefs?: readonly UpdatedRef[] | undefined;
  /** The changed files of the scope `repo.content` of a bucket. */
  updatedFiles?: readonly UpdatedFile[] | undefined;
  /** The settings of the scope `repo.config` that the Hub reports. By default, no settings. */
  updatedConfig?: { private?: boolean | undefined } | undefined;
  /** The discussion of the scope `discussion` and narrower scopes. */
  discussion?: ChangedDiscussion | undefined;
  /** The comment of the scope `discussion.comment`, and of a new discussion. */
  comment?: ChangedComment | undefined;
  /** Fields that override fields of the payload. */
  overrides?: object | undefined;
  /** Edits of the payload. They affect only the deliveries. */
  edits?: readonly PayloadEdit[] | undefined;
}

/** Returns the repository of a change. If the change moved the repository, the repository has the previous name. */
export function changedRepository({ before, after }: Pick<RepositoryChange, "before" | "after">): StoredRepository {
  const repository = after ?? before;
  if (!repository) throw new TypeError("A change needs a repository before or after the change.");
  return { ...repository, name: before?.name ?? repository.name };
}
