import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { hashObject, objectIdLength } from "./tree-store.ts";

const record = z.object({
  tree: z.string(),
  parents: z.array(z.string()).readonly(),
  title: z.string(),
  /** The description below the title. May be empty. */
  message: z.string(),
  author: z.string(),
  date: z.number(),
  /**
   * The date, but later than the `order` of all parents. Commits sorted by `order` are sorted by date, and each commit is before
   * its parents even if dates are equal or clocks differ.
   */
  order: z.number(),
});

export interface Commit extends Omit<z.output<typeof record>, "order"> {
  oid: string;
}

interface OrderedCommit {
  commit: Commit;
  order: number;
}

/** The key of a commit. Commits can only be read through their repository, because other repositories can be private. */
export interface CommitKey {
  repositoryId: string;
  oid: string;
}

/** The shortest prefix of a commit ID that identifies a commit, as in git. */
const minPrefixLength = 7;

/** The maximum number of commits in the cache. A push reads the head of its branch several times. */
const maxCachedCommits = 1_000;

export class CommitStore {
  readonly #statements;
  readonly #cache = new Map<string, OrderedCommit>();

  constructor(database: DatabaseSync) {
    this.#statements = {
      get: database.prepare("SELECT record FROM commits WHERE repository_id = ? AND oid = ?"),
      put: database.prepare("INSERT OR IGNORE INTO commits (repository_id, oid, record) VALUES (?, ?, ?)"),
      find: database.prepare("SELECT oid FROM commits WHERE repository_id = ? AND oid >= ? AND oid < ? LIMIT 2"),
    };
  }

  get(key: CommitKey): Commit | undefined {
    return this.#read(key)?.commit;
  }

  findByPrefix(repositoryId: string, prefix: string): Commit | undefined {
    if (!/^[0-9a-f]+$/.test(prefix) || prefix.length < minPrefixLength || prefix.length > objectIdLength)
      return undefined;
    // "g" follows the hexadecimal digits.
    const [only, other] = this.#statements.find.all(repositoryId, prefix, `${prefix}g`);
    return only && !other ? this.get({ repositoryId, oid: String(only.oid) }) : undefined;
  }

  /** Stores a commit. Returns the stored commit if it exists already: IDs depend only on the seconds of the date. */
  put(repositoryId: string, commit: Omit<Commit, "oid">): Commit {
    const oid = hashCommit(commit);
    const existing = this.get({ repositoryId, oid });
    if (existing) return existing;
    const { tree, parents, title, message, author, date } = commit;
    const orders = parents.map((parent) => this.#read({ repositoryId, oid: parent })?.order ?? 0);
    const order = Math.max(date, ...orders.map((parentOrder) => parentOrder + 1));
    this.#statements.put.run(repositoryId, oid, JSON.stringify({ tree, parents, title, message, author, date, order }));
    return this.#remember({ repositoryId, oid }, { commit: { oid, ...commit }, order }).commit;
  }

  /** Forgets commits that were deleted, or that a rolled-back transaction did not store. */
  clearCache(): void {
    this.#cache.clear();
  }

  /** Returns a commit and all its ancestors, newest first. Each commit is before its parents. */
  *history(key: CommitKey): Generator<Commit> {
    for (const { commit } of this.#walk(key.repositoryId, [key.oid])) yield commit;
  }

  /** Returns the newest common ancestor of two commits. Reads only commits that are newer than the result. */
  mergeBase(repositoryId: string, one: string, other: string): string | undefined {
    for (const { commit, isShared } of this.#walk(repositoryId, [one, other])) if (isShared) return commit.oid;
    return undefined;
  }

  /** Visits commits and their ancestors once, newest first, and returns which of them all of the first commits contain. */
  *#walk(repositoryId: string, oids: readonly string[]): Generator<{ commit: Commit; isShared: boolean }> {
    /** The newest commit is last. Only unmerged branches wait, so the list is short. */
    const waiting: (OrderedCommit & { sources: Set<number> })[] = [];
    const add = (oid: string, sources: ReadonlySet<number>) => {
      const existing = waiting.find(({ commit }) => commit.oid === oid);
      if (existing) {
        for (const source of sources) existing.sources.add(source);
        return;
      }
      const read = this.#read({ repositoryId, oid });
      if (!read) return;
      const place = waiting.findLastIndex(({ order }) => order <= read.order) + 1;
      waiting.splice(place, 0, { ...read, sources: new Set(sources) });
    };
    for (const [source, oid] of oids.entries()) add(oid, new Set([source]));
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      yield { commit: next.commit, isShared: next.sources.size === oids.length };
      // All children of a commit are visited before it, so no commit is added after its visit.
      for (const parent of next.commit.parents) add(parent, next.sources);
    }
  }

  #read(key: CommitKey): OrderedCommit | undefined {
    const { repositoryId, oid } = key;
    const cached = this.#cache.get(`${repositoryId} ${oid}`);
    if (cached) return cached;
    const row = this.#statements.get.get(repositoryId, oid);
    if (!row) return undefined;
    const { order, ...commit } = record.parse(JSON.parse(String(row.record)));
    return this.#remember(key, { commit: { oid, ...commit }, order });
  }

  #remember({ repositoryId, oid }: CommitKey, read: OrderedCommit): OrderedCommit {
    if (this.#cache.size >= maxCachedCommits) this.clearCache();
    this.#cache.set(`${repositoryId} ${oid}`, read);
    return read;
  }
}

function hashCommit({ tree, parents, title, message, author, date }: Omit<Commit, "oid">): string {
  const signature = `${author} <${author}@users.noreply.localhost> ${Math.floor(date / 1_000)} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  lines.push(`author ${signature}`, `committer ${signature}`, "", title, ...(message === "" ? [] : ["", message]), "");
  return hashObject("commit", Buffer.from(lines.join("\n")));
}
