import type { RefChange } from "../../src/catch-up/cursor.ts";
import type { HubClient, HubRepository } from "../../src/client.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { HubState } from "./effects.ts";

interface SimulatedRepositoriesOptions {
  hubUrl: string;
  client: HubClient;
  owner: string;
  random: SeededRandom;
  /** Whether only main branches change, and repositories are created and renamed. */
  onlyMain: boolean;
  /** Whether branches are moved to other commits and deleted. */
  forcePushes: boolean;
}

interface Repository {
  name: string;
  /** The commits that were pushed to any branch, oldest first. */
  commits: string[];
  /** The present commit of each branch. */
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
        weight: 1,
        name: "open a discussion",
        make: () => repo.openDiscussion({ title: `Title ${text}`, text: "First", marker: text }),
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

  async #readRefs(repository: Repository): Promise<void> {
    const { branches } = await this.#repo(repository).refs();
    repository.refs = new Map(branches.map(({ ref, targetCommit }) => [ref, targetCommit]));
  }

  async #rename(repository: Repository, name: string): Promise<void> {
    const { owner } = this.#options;
    const names = { fromRepo: `${owner}/${repository.name}`, toRepo: `${owner}/${name}` };
    await this.#call("POST", "/api/repos/move", { ...names, type: "dataset" });
    repository.name = name;
  }

  async state(): Promise<HubState> {
    const state: HubState = new Map();
    for (const repository of this.#repositories) {
      const repo = this.#repo(repository);
      const { _id, id: name, private: isPrivate = false } = await repo.info();
      const { branches } = await repo.refs();
      const refs = new Map(branches.map(({ ref, targetCommit }) => [ref, targetCommit]));
      const discussions = new Map<number, { status: string; comments: string[] }>();
      for await (const { num } of repo.discussions()) {
        const { status, events } = await repo.discussion(num);
        const comments = events.flatMap((event) => (event.type === "comment" ? [event.id] : []));
        discussions.set(num, { status, comments });
      }
      state.set(_id, { name, isPrivate, refs, discussions });
    }
    return state;
  }

  #repo({ name }: Pick<Repository, "name">): HubRepository {
    return this.#options.client.repo({ type: "dataset", name: `${this.#options.owner}/${name}` });
  }

  #path({ name }: Repository, branch: string): string {
    return `/api/datasets/${this.#options.owner}/${name}/branch/${branch}`;
  }

  async #call(method: "POST" | "DELETE", path: string, body: object = {}): Promise<void> {
    const headers = { authorization: "Bearer hf_local", "content-type": "application/json" };
    const response = await fetch(this.#options.hubUrl + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    await response.body?.cancel();
  }
}
