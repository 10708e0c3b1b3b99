import type { CallOptions } from "../operation.ts";
import { commitOperations } from "./commits.ts";
import type { RepositoryCommit } from "./create-commit.ts";
import type { RevisionOptions } from "./read-files.ts";
import { type RepositoryRefs, refOperations } from "./refs.ts";
import { repositoryOperations } from "./repositories.ts";
import type { RepositoryContext } from "./repository-context.ts";
import type { RepositoryInfo } from "./repository-info.ts";

/** Reads a repository at a revision. Default: the main branch. */
export function readInfo(
  { client, path }: RepositoryContext,
  { revision, signal }: RevisionOptions,
): Promise<RepositoryInfo> {
  const { transport } = client;
  if (revision === undefined) return transport.call(repositoryOperations.info, { params: path }, { signal });
  return transport.call(repositoryOperations.infoAtRevision, { params: { ...path, rev: revision } }, { signal });
}

/** Lists the refs of a repository, including pull requests. */
export function readRefs({ client, path }: RepositoryContext, { signal }: CallOptions): Promise<RepositoryRefs> {
  return client.transport.call(refOperations.list, { params: path, query: { include_prs: true } }, { signal });
}

/** Lists the commits of a revision. */
export function readCommitPages(
  { client, path }: RepositoryContext,
  { revision: rev = "main", signal }: RevisionOptions,
): AsyncGenerator<RepositoryCommit[], void, undefined> {
  return client.transport.pages(commitOperations.list, { params: { ...path, rev } }, { signal });
}

/** Changes the visibility of a repository. */
export async function setVisibility(
  { client, path }: RepositoryContext,
  { visibility, signal }: CallOptions & { visibility: "public" | "private" | "protected" },
): Promise<void> {
  await client.transport.call(repositoryOperations.updateSettings, { params: path, body: { visibility } }, { signal });
}
