import type { KnownRepoId } from "../../hub/contract/repositories.ts";
import { objectIdOf } from "../accounts.ts";
import type { StoredRepository } from "../store/repository-store.ts";

const seeds: readonly (KnownRepoId & { discussions: number; private?: true })[] = [
  { type: "dataset", name: "acme/reviews", discussions: 12 },
  { type: "dataset", name: "acme/salaries", discussions: 2, private: true },
  { type: "dataset", name: "acme/translations", discussions: 0 },
  { type: "model", name: "acme/sentiment", discussions: 7 },
  { type: "space", name: "acme/playground", discussions: 4 },
  { type: "bucket", name: "acme/uploads", discussions: 1 },
  { type: "kernel", name: "acme/rotary", discussions: 3 },
  { type: "dataset", name: "local-user/notes", discussions: 5 },
  { type: "model", name: "local-user/drafts", discussions: 0, private: true },
];

/** The repositories with which a local Hub starts: every type, some private, and one of acme that is in no group. */
export function seedRepositories(): StoredRepository[] {
  return seeds.map(({ type, name, discussions, private: isPrivate = false }) => {
    const id = seededRepositoryId({ type, name });
    const repository = { type, name, id, private: isPrivate, discussions };
    // A bucket has no commits.
    return type === "bucket" ? repository : { ...repository, headSha: `${objectIdOf(`head ${id}`)}${id}`.slice(0, 40) };
  });
}

/** The id of one of these repositories: the same in every local Hub. */
export function seededRepositoryId({ type, name }: KnownRepoId): string {
  return objectIdOf(`repository ${type}:${name}`);
}
