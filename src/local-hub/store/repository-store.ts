import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { type RepoRef, repoType } from "../../hub/schemas.ts";

const record = z.object({
  type: repoType,
  name: z.string(),
  id: z.string(),
  private: z.boolean(),
  /** The head commit of the main branch. Missing for buckets, which have no commits. */
  headSha: z.string().optional(),
  /** The number of the latest discussion or pull request. */
  discussions: z.number(),
});

/** A repository. */
export type StoredRepository = z.output<typeof record>;

/** Stores the repositories. */
export class RepositoryStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get({ type, name }: RepoRef): StoredRepository | undefined {
    const row = this.#database.prepare("SELECT record FROM repositories WHERE type = ? AND name = ?").get(type, name);
    return row && record.parse(JSON.parse(String(row.record)));
  }

  /** Returns all repositories, sorted by type and name. */
  all(): StoredRepository[] {
    const rows = this.#database.prepare("SELECT record FROM repositories ORDER BY type, name").all();
    return rows.map((row) => record.parse(JSON.parse(String(row.record))));
  }

  /** Adds a repository. Replaces a repository with the same type and name. */
  put(repository: StoredRepository): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO repositories (type, name, record) VALUES (?, ?, ?)")
      .run(repository.type, repository.name, JSON.stringify(repository));
  }

  delete({ type, name }: RepoRef): void {
    this.#database.prepare("DELETE FROM repositories WHERE type = ? AND name = ?").run(type, name);
  }

  clear(): void {
    this.#database.exec("DELETE FROM repositories");
  }
}
