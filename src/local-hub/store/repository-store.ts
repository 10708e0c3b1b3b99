import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { type RepoId, repoType } from "../../hub/schemas.ts";

const record = z.object({
  type: repoType,
  name: z.string(),
  id: z.string(),
  private: z.boolean(),
  /** Commit at the head of the main branch; a bucket has none. */
  headSha: z.string().optional(),
  /** Discussions and pull requests so far: the number of the latest. */
  discussions: z.number(),
});

/** A repository of a local Hub. */
export type StoredRepository = z.output<typeof record>;

/** The repositories of a local Hub. */
export class RepositoryStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get({ type, name }: RepoId): StoredRepository | undefined {
    const row = this.#database.prepare("SELECT record FROM repositories WHERE type = ? AND name = ?").get(type, name);
    return row && record.parse(JSON.parse(String(row.record)));
  }

  /** All of them, in the order of their types and names. */
  all(): StoredRepository[] {
    const rows = this.#database.prepare("SELECT record FROM repositories ORDER BY type, name").all();
    return rows.map((row) => record.parse(JSON.parse(String(row.record))));
  }

  /** Adds it, or writes over the one of the same type and name. */
  put(repository: StoredRepository): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO repositories (type, name, record) VALUES (?, ?, ?)")
      .run(repository.type, repository.name, JSON.stringify(repository));
  }

  delete({ type, name }: RepoId): void {
    this.#database.prepare("DELETE FROM repositories WHERE type = ? AND name = ?").run(type, name);
  }

  clear(): void {
    this.#database.exec("DELETE FROM repositories");
  }
}
