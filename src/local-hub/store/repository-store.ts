import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { type RepoRef, repoType } from "../../hub/schemas.ts";

export const mainRef = "refs/heads/main";

/** Whether the local Hub stores the content of repositories of this type: commits, branches, and tags. */
export function hasContent(type: string): boolean {
  return type === "model" || type === "dataset" || type === "space";
}

/** Whether two names are the same to the Hub, which compares names regardless of case. */
export function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

const record = z.object({
  type: repoType,
  name: z.string(),
  id: z.string(),
  private: z.boolean(),
  /** The number of the latest discussion or pull request. */
  discussions: z.number(),
  createdAt: z.number(),
  /** Whether users must request access to the files, and whether the requests are approved automatically. */
  gated: z.union([z.literal(false), z.enum(["auto", "manual"])]),
  discussionsDisabled: z.boolean(),
  sdk: z.string().optional(),
  /**
   * The head commit of the main branch when the repository was read. Derived from the refs, except for kernels, whose content is
   * not stored. Missing for buckets, which have no commits.
   */
  headSha: z.string().optional(),
});

export type StoredRepository = z.output<typeof record> & {
  /** The date of the head commit, or else of the creation, in milliseconds since the epoch. Derived, like `headSha`. */
  lastModified: number;
};

/** Returns a repository with default settings. */
export function newRepository({
  createdAt,
  ...given
}: Pick<StoredRepository, "type" | "name" | "id" | "private" | "createdAt">): StoredRepository {
  const settings = { gated: false, discussionsDisabled: false } as const;
  return { ...given, discussions: 0, createdAt, lastModified: createdAt, ...settings };
}

const select = `
  SELECT repositories.record, refs.oid AS head, commits.record ->> 'date' AS date FROM repositories
  LEFT JOIN refs ON refs.repository_id = repositories.record ->> 'id' AND refs.name = '${mainRef}'
  LEFT JOIN commits ON commits.repository_id = refs.repository_id AND commits.oid = refs.oid`;

/** Stores the repositories, and the previous names of moved repositories. */
export class RepositoryStore {
  readonly #database: DatabaseSync;
  readonly #statements;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  get({ type, name }: RepoRef): StoredRepository | undefined {
    const row = this.#statements.get.get(type, name);
    return row && parse(row);
  }

  /** Returns the repository with an ID, which it keeps when it is moved. */
  getById(id: string): StoredRepository | undefined {
    const row = this.#statements.getById.get(id);
    return row && parse(row);
  }

  /** Returns the repository that was moved away from this name. */
  findMoved({ type, name }: RepoRef): StoredRepository | undefined {
    const row = this.#statements.findMoved.get(type, name);
    return row && parse(row);
  }

  all(): StoredRepository[] {
    return this.#statements.all.all().map(parse);
  }

  /** Adds a repository. Replaces a repository with the same type and name. Ignores derived properties. */
  put({ lastModified: _derived, ...repository }: z.output<typeof record> & { lastModified?: number }): void {
    const { type, name, headSha, ...others } = repository;
    const stored = { type, name, ...others, ...(!hasContent(type) && headSha !== undefined && { headSha }) };
    this.#statements.put.run(type, name, JSON.stringify(stored));
    // The new repository has the name now, so that the name no longer leads to a moved repository.
    this.#statements.deleteMoved.run(type, name);
  }

  /** Gives a repository another name. The previous names lead to the repository until another repository gets the name. */
  move(repository: StoredRepository, name: string): void {
    this.#statements.delete.run(repository.type, repository.name);
    this.put({ ...repository, name });
    this.#statements.addMoved.run(repository.type, repository.name, repository.id);
  }

  /** Deletes a repository and its previous names, but not its content. */
  delete({ type, name, id }: RepoRef & { id: string }): void {
    this.#statements.delete.run(type, name);
    this.#statements.deleteMovedOf.run(id);
  }

  clear(): void {
    this.#database.exec("DELETE FROM repositories; DELETE FROM moved_repositories");
  }
}

function prepareStatements(database: DatabaseSync) {
  return {
    get: database.prepare(`${select} WHERE repositories.type = ? AND repositories.name = ?`),
    getById: database.prepare(`${select} WHERE repositories.record ->> 'id' = ?`),
    findMoved: database.prepare(
      `${select} JOIN moved_repositories AS moved ON moved.repository_id = repositories.record ->> 'id'
        WHERE moved.type = ? AND moved.name = ?`,
    ),
    all: database.prepare(`${select} ORDER BY repositories.type, repositories.name`),
    put: database.prepare("INSERT OR REPLACE INTO repositories (type, name, record) VALUES (?, ?, ?)"),
    delete: database.prepare("DELETE FROM repositories WHERE type = ? AND name = ?"),
    addMoved: database.prepare(
      "INSERT OR REPLACE INTO moved_repositories (type, name, repository_id) VALUES (?, ?, ?)",
    ),
    deleteMoved: database.prepare("DELETE FROM moved_repositories WHERE type = ? AND name = ?"),
    deleteMovedOf: database.prepare("DELETE FROM moved_repositories WHERE repository_id = ?"),
  };
}

function parse({ record: json, head, date }: Record<string, unknown>): StoredRepository {
  const repository = record.parse(JSON.parse(String(json)));
  return {
    ...repository,
    ...(typeof head === "string" && { headSha: head }),
    lastModified: typeof date === "number" ? date : repository.createdAt,
  };
}
