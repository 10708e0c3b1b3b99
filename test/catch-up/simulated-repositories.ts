import * as z from "zod/mini";
import type { RefChange } from "../../src/catch-up/cursor.ts";
import type { HubClient, HubRepository } from "../../src/client.ts";
import type { LocalHub } from "../../src/local-hub.ts";
import { changeFile } from "../support/bucket-files.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { HubState, RepositoryState } from "./effects.ts";

/** The bucket whose files change. */
export const bucketName = "me/files";

interface SimulatedRepositoriesOptions {
  hub: LocalHub;
  client: HubClient;
  owner: string;
  random: SeededRandom;
  /** Whether no other refs than main branches change, and repositories are created and renamed. */
  onlyMain: boolean;
  /** Whether branches are moved to other commits, branches and tags are deleted, and files get an earlier content again. */
  forcePushes: boolean;
}

interface Repository {
  name: string;
  /** The commits that were pushed to any branch, oldest first. */
  commits: string[];
  /** The present commit of each branch, tag, and pull request. */
  refs: Map<string, string>;
}

/** The repositories of a world, and random changes of them. */
export class SimulatedRepositories {
  readonly #options: SimulatedRepositoriesOptions;
  readonly #repositories: Repository[] = [];
  #names = 0;

  constructor(options: SimulatedRepositoriesOptions) {
    this.#options = options;
  }

  async create(name: string): Promise<void> {
    await this.#call("POST", "/api/repos/create", { name, type: "dataset" });
    const repository: Repository = { name, commits: [], refs: new Map() };
    await this.#readRefs(repository);
    repository.commits.push(...repository.refs.values());
    this.#repositories.push(repository);
  }

  /** Makes a change, and returns a description. `isAllowed`: whether a branch may be moved. */
  async change(isAllowed: (change: RefChange) => boolean = () => true): Promise<string> {
    const { random, onlyMain, forcePushes } = this.#options;
    const repository = random.pick(this.#repositories);
    const { name } = repository;
    const repo = this.#repo(repository);
    const branch = onlyMain || random.chance(0.6) ? "main" : random.pick(["dev", "next"]);
    const num = 1 + random.below(2);
    const tag = forcePushes ? `v${random.below(2)}` : `v${this.#names}`;
    const text = `${this.#names++}`;
    const changes: { weight: number; name: string; make: () => Promise<unknown> }[] = [
      {
        weight: 5,
        name: `push ${branch}`,
        make: async () => {
          const { oid } = await repo.commit({ message: "Write", files: { "data.csv": text }, branch });
          repository.commits.push(oid);
          return oid;
        },
      },
      {
        // The other branches need a start.
        weight: forcePushes || branch !== "main" ? 3 : 0,
        name: `move ${branch}`,
        make: async () => {
          const startingPoint = random.pick(repository.commits.slice(-4));
          const ref = `refs/heads/${branch}`;
          const oldSha = repository.refs.get(ref) ?? null;
          if (!forcePushes && oldSha !== null) return "not allowed";
          if (!isAllowed({ ref, oldSha, newSha: startingPoint })) return "not allowed";
          await this.#call("POST", this.#path(repository, branch), { startingPoint, overwrite: true });
          return startingPoint;
        },
      },
      {
        weight: branch === "main" || !forcePushes ? 0 : 1.5,
        name: `delete ${branch}`,
        make: () => this.#call("DELETE", this.#path(repository, branch)),
      },
      {
        weight: onlyMain ? 0 : 1,
        name: `tag ${tag}`,
        make: () => this.#call("POST", this.#path(repository, random.pick(repository.commits), "tag"), { tag }),
      },
      {
        weight: onlyMain || !forcePushes ? 0 : 1,
        name: `delete tag ${tag}`,
        make: () => this.#call("DELETE", this.#path(repository, tag, "tag")),
      },
      {
        weight: onlyMain ? 0 : 1.5,
        name: "open a pull request or push to it",
        make: () => {
          const files = { "pull.csv": text };
          return repo.openPullRequest({ title: `Pull ${text}`, files, marker: `pull-${random.below(2)}` });
        },
      },
      {
        weight: 1,
        name: "open a discussion",
        make: () => repo.openDiscussion({ title: `Title ${text}`, text: "First", marker: text }),
      },
      {
        weight: onlyMain ? 0 : 2,
        name: "write a file of the bucket",
        make: () => this.#changeFile({ body: forcePushes ? random.pick(["1", "2", "3"]) : text }),
      },
      {
        weight: onlyMain ? 0 : 1,
        name: "delete a file of the bucket",
        make: () => this.#changeFile({ method: "DELETE" }),
      },
      { weight: 1, name: "comment", make: () => repo.comment(num, `Comment ${text}`) },
      { weight: 1, name: "set a status", make: () => repo.setStatus(num, random.pick(["open", "closed"])) },
      { weight: 1, name: "set the visibility", make: () => repo.setVisibility(random.pick(["private", "public"])) },
      { weight: onlyMain ? 1 : 0, name: "rename", make: () => this.#rename(repository, `name-${this.#names % 6}`) },
      { weight: onlyMain ? 0.5 : 0, name: "create", make: () => this.create(`new-${text}`) },
    ];
    const change = random.pickWeighted(changes);
    // Many changes are refused, such as the deletion of a branch that does not exist.
    const result = await change.make().catch(() => "refused");
    await this.#readRefs(repository);
    return `${name}: ${change.name}${typeof result === "string" ? ` (${result})` : ""}`;
  }

  #changeFile(change: Parameters<typeof changeFile>[2]): Promise<void> {
    const { hub, random } = this.#options;
    return changeFile(hub, `files/${random.pick(["a.csv", "b.csv"])}`, change);
  }

  async #readRefs(repository: Repository): Promise<void> {
    repository.refs = await readRefs(this.#repo(repository));
  }

  async #rename(repository: Repository, name: string): Promise<void> {
    const { owner } = this.#options;
    const names = { fromRepo: `${owner}/${repository.name}`, toRepo: `${owner}/${name}` };
    await this.#call("POST", "/api/repos/move", { ...names, type: "dataset" });
    repository.name = name;
  }

  async state(): Promise<HubState> {
    const repositories = new Map<string, RepositoryState>();
    for (const repository of this.#repositories) {
      const repo = this.#repo(repository);
      const { _id, id: name, private: isPrivate = false } = await repo.info();
      const refs = await readRefs(repo);
      const discussions = new Map<number, { status: string; comments: string[] }>();
      for await (const { num } of repo.discussions()) {
        const { status, events } = await repo.discussion(num);
        const comments = events.flatMap((event) => (event.type === "comment" ? [event.id] : []));
        discussions.set(num, { status, comments });
      }
      repositories.set(_id, { name, isPrivate, refs, discussions });
    }
    const response = await this.#options.client.fetch(`/api/buckets/${bucketName}/tree`);
    const entries = z.array(z.object({ path: z.string(), xetHash: z.string() })).parse(await response.json());
    return { repositories, files: new Map(entries.map(({ path, xetHash }) => [path, xetHash])) };
  }

  #repo({ name }: Pick<Repository, "name">): HubRepository {
    return this.#options.client.repo({ type: "dataset", name: `${this.#options.owner}/${name}` });
  }

  #path({ name }: Repository, revision: string, kind: "branch" | "tag" = "branch"): string {
    return `/api/datasets/${this.#options.owner}/${name}/${kind}/${revision}`;
  }

  async #call(method: "POST" | "DELETE", path: string, body: object = {}): Promise<void> {
    const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
    const response = await fetch(this.#options.hub.url + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    await response.body?.cancel();
  }
}

async function readRefs(repo: HubRepository): Promise<Map<string, string>> {
  const lists = await repo.refs();
  const refs = Object.values(lists).flatMap((list) => list ?? []);
  return new Map(refs.map(({ ref, targetCommit }) => [ref, targetCommit]));
}
