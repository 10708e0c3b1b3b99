import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { hashObject, objectIdLength } from "./object-id.ts";

const record = z.object({
  tree: z.string(),
  parents: z.array(z.string()).readonly(),
  title: z.string(),
  /** The description below the title. May be empty. */
  message: z.string(),
  /** The name of the user. */
  author: z.string(),
  /** Milliseconds since the epoch. */
  date: z.number(),
});

/** A commit of a repository. */
export interface Commit extends z.output<typeof record> {
  oid: string;
}

/** The key of a commit. Commits can only be read through their repository, because other repositories can be private. */
export interface CommitKey {
  repositoryId: string;
  oid: string;
}

/** The shortest prefix of a commit ID that identifies a commit, as in git. */
const minPrefixLength = 7;

/** Stores commits and their history. */
export class CommitStore {
  readonly #statements;

  constructor(database: DatabaseSync) {
    this.#statements = {
      get: database.prepare("SELECT record FROM commits WHERE repository_id = ? AND oid = ?"),
      put: database.prepare("INSERT OR IGNORE INTO commits (repository_id, oid, record) VALUES (?, ?, ?)"),
      find: database.prepare("SELECT oid FROM commits WHERE repository_id = ? AND oid >= ? AND oid < ? LIMIT 2"),
    };
  }

  get({ repositoryId, oid }: CommitKey): Commit | undefined {
    const row = this.#statements.get.get(repositoryId, oid);
    return row && { oid, ...record.parse(JSON.parse(String(row.record))) };
  }

  /** Returns the commit with this ID or unique start of an ID. */
  findByPrefix(repositoryId: string, prefix: string): Commit | undefined {
    if (!/^[0-9a-f]+$/.test(prefix) || prefix.length < minPrefixLength || prefix.length > objectIdLength)
      return undefined;
    // "g" follows the hexadecimal digits.
    const [only, other] = this.#statements.find.all(repositoryId, prefix, `${prefix}g`);
    return only && !other ? this.get({ repositoryId, oid: String(only.oid) }) : undefined;
  }

  put(repositoryId: string, commit: Omit<Commit, "oid">): Commit {
    const { tree, parents, title, message, author, date } = commit;
    const oid = hashCommit(commit);
    this.#statements.put.run(repositoryId, oid, JSON.stringify({ tree, parents, title, message, author, date }));
    return { oid, ...commit };
  }

  /** Returns a commit and all its ancestors, newest first. */
  *history({ repositoryId, oid }: CommitKey): Generator<Commit> {
    const first = this.get({ repositoryId, oid });
    const waiting = first ? [first] : [];
    const seen = new Set([oid]);
    for (let commit = waiting.pop(); commit; commit = waiting.pop()) {
      yield commit;
      for (const parentId of commit.parents) {
        const parent = seen.has(parentId) ? undefined : this.get({ repositoryId, oid: parentId });
        if (!parent) continue;
        seen.add(parentId);
        const { date } = parent;
        // The newest commit is last. Only unmerged branches wait, so the list is short.
        const place = waiting.findLastIndex((other) => other.date < date) + 1;
        waiting.splice(place, 0, parent);
      }
    }
  }

  /** Returns the newest common ancestor of two commits, or `undefined` if their histories are unrelated. */
  mergeBase(repositoryId: string, one: string, other: string): string | undefined {
    const ancestors = new Set(Array.from(this.history({ repositoryId, oid: one }), ({ oid }) => oid));
    for (const { oid } of this.history({ repositoryId, oid: other })) if (ancestors.has(oid)) return oid;
    return undefined;
  }
}

function hashCommit({ tree, parents, title, message, author, date }: Omit<Commit, "oid">): string {
  const signature = `${author} <${author}@users.noreply.localhost> ${Math.floor(date / 1_000)} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  lines.push(`author ${signature}`, `committer ${signature}`, "", title, ...(message === "" ? [] : ["", message]), "");
  return hashObject("commit", Buffer.from(lines.join("\n")));
}
