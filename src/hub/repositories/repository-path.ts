import * as z from "zod/mini";
import { repositoryName } from "../../payload/names.ts";
import type { KnownRepoRef, RepoRef } from "../schemas.ts";
import { fieldInvalid } from "../validation/arguments.ts";

/** The types of repositories with commits, as in paths of the API. */
export const repositoryPathTypes = ["models", "datasets", "spaces"] as const;

/** A type of repositories with commits, as in paths of the API. */
export type RepositoryPathType = (typeof repositoryPathTypes)[number];

const name = z.string().check(z.minLength(1));

/** The path parameters of an operation on a repository. */
export const repositoryPath = z.object({
  repoType: z.enum(repositoryPathTypes),
  /** Empty for the oldest repositories, such as `gpt2`, whose names have no owner. */
  namespace: z.string(),
  repo: name,
});

/** The path parameters of an operation on a repository at a revision: a branch, a tag, a ref such as `refs/pr/1`, or a commit. */
export const revisionPath = z.object({ ...repositoryPath.shape, rev: name });

/** The path parameters of an operation on a repository. */
export type RepositoryPath = z.output<typeof repositoryPath>;

const types = { models: "model", datasets: "dataset", spaces: "space" } as const satisfies Record<
  RepositoryPathType,
  KnownRepoRef["type"]
>;

/**
 * Converts a repository to path parameters.
 *
 * @throws `ARGUMENT_INVALID` if the name is neither `owner/name` nor `name`, or the repository has no commits, such as a bucket.
 */
export function toRepositoryPath({ type, name }: RepoRef): RepositoryPath {
  const repoType = repositoryPathTypes.find((pathType) => types[pathType] === type);
  if (!repoType) throw fieldInvalid("type", "expected model, dataset, or space");
  const [, namespace = "", repo] = repositoryName.exec(name) ?? [];
  if (!repo) throw fieldInvalid("name", 'expected "owner/name"');
  return { repoType, namespace, repo };
}

/** Converts path parameters to a repository. */
export function toRepoRef({ repoType, namespace, repo }: RepositoryPath): KnownRepoRef {
  return { type: types[repoType], name: namespace === "" ? repo : `${namespace}/${repo}` };
}
