import {
  type RepositoryDetails,
  type RepositoryInfo,
  type RepositoryKey,
  type RepositoryList,
  repositoryKey,
} from "../../console/protocol/hub.ts";
import type { ConsoleResource } from "../../console/server/console.ts";
import { readQuery } from "../../console/server/requests.ts";
import { repoRef } from "../../hub/schemas.ts";
import { isWatching } from "../events/webhook-selection.ts";
import type { Commit } from "../git/commit-store.ts";
import type { HubContext } from "../hub-context.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { triggerCommand } from "./commands.ts";
import { nameOfWebhook } from "./describe-webhook.ts";
import { notFound } from "./not-found.ts";

/** The maximum number of repositories in the list. */
const maxListed = 1_000;
/** The maximum number of commits of a repository. */
const maxCommits = 50;
/** The maximum number of discussions of a repository. */
const maxDiscussions = 200;

/** The routes of the repositories. */
export function repositoriesApi(hub: HubContext): ConsoleResource {
  return (app) => {
    app.get("/repositories", (context) => {
      const all = hub.store.repositories.all();
      return context.json<RepositoryList>({
        repositories: all.slice(0, maxListed).map(toRepositoryInfo),
        unlisted: Math.max(0, all.length - maxListed),
        pushCommand: triggerCommand(hub),
      });
    });

    app.get("/repositories/one", (context) => {
      const repository = findRepository(hub, readQuery(context, repositoryKey));
      return context.json(toRepositoryDetails(hub, repository));
    });
  };
}

/** @throws `NOT_FOUND`. */
function findRepository({ store }: HubContext, { type, name }: RepositoryKey): StoredRepository {
  const repo = repoRef.safeParse({ type, name });
  const found = repo.success ? store.repositories.get(repo.data) : undefined;
  if (!found) throw notFound("This repository does not exist. It may have been moved or deleted. Reload the list.");
  return found;
}

function toRepositoryInfo(repository: StoredRepository): RepositoryInfo {
  const { type, name, private: isPrivate, createdAt, lastModified, headSha, discussions } = repository;
  return { type, name, isPrivate, createdAt, lastModified, ...(headSha !== undefined && { headSha }), discussions };
}

function toRepositoryDetails({ store, hubUrl }: HubContext, repository: StoredRepository): RepositoryDetails {
  const { id, type, name, headSha } = repository;
  const head = headSha === undefined ? undefined : store.content.getCommit(id, headSha);
  const commits = head ? take(store.content.history(id, head.oid), maxCommits + 1) : [];
  const comments = store.discussions.countComments(id);
  const watching = store.webhooks.all().filter((webhook) => isWatching(webhook, { repo: { type, name } }));
  return {
    ...toRepositoryInfo(repository),
    refs: store.content.refs(id).map((ref) => ({ name: ref.name, sha: ref.oid })),
    commits: commits.slice(0, maxCommits).map(({ oid, title, message, author, date }) => {
      return { sha: oid, title, message, author, at: date };
    }),
    hasMoreCommits: commits.length > maxCommits,
    discussionList: store.discussions
      .list(id)
      .slice(0, maxDiscussions)
      .map(({ num, title, status, isPullRequest, pinned, author, createdAt }) => ({
        ...{ num, title, status, isPullRequest, isPinned: pinned, author, at: createdAt },
        comments: comments.get(num) ?? 0,
      })),
    webhooks: watching.map((webhook) => ({ id: webhook.id, name: nameOfWebhook(webhook) })),
    pushCommand: triggerCommand({ hubUrl }, { watched: [{ type, name }] }),
  };
}

function take(commits: Iterable<Commit>, count: number): Commit[] {
  const taken: Commit[] = [];
  for (const commit of commits) {
    if (taken.length === count) break;
    taken.push(commit);
  }
  return taken;
}
