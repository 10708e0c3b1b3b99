import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { discussionStatuses } from "../../payload/names.ts";

const time = z.number();
const userName = z.string();
const status = z.enum(discussionStatuses);

const discussion = z.object({
  repositoryId: z.string(),
  num: z.number(),
  id: z.string(),
  title: z.string(),
  status,
  isPullRequest: z.boolean(),
  author: userName,
  createdAt: time,
  pinned: z.boolean(),
  /** Only for pull requests: the target branch, and the merge commit after a merge. */
  changes: z.object({ base: z.string(), mergeCommitId: z.string().optional() }).optional(),
  /** Only for pull requests: the ID of the commit from which the ref started. */
  baseCommit: z.string().optional(),
});

const event = { id: z.string(), author: userName, createdAt: time };

const comment = z.object({
  ...event,
  type: z.literal("comment"),
  content: z.string(),
  hidden: z.boolean(),
  hiddenBy: userName.optional(),
  updatedAt: time,
  /** The users who edited the comment, once per edit. */
  edits: z.array(userName),
});

const discussionEvent = z.discriminatedUnion("type", [
  comment,
  z.object({ ...event, type: z.literal("status-change"), status }),
  z.object({ ...event, type: z.literal("title-change"), from: z.string(), to: z.string() }),
  z.object({ ...event, type: z.literal("pinning-change"), pinned: z.boolean() }),
]);

export type StoredDiscussion = z.output<typeof discussion>;
export type StoredComment = z.output<typeof comment>;
export type StoredDiscussionEvent = z.output<typeof discussionEvent>;

export type DiscussionKey = Pick<StoredDiscussion, "repositoryId" | "num">;

export class DiscussionStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get({ repositoryId, num }: DiscussionKey): StoredDiscussion | undefined {
    const select = this.#database.prepare("SELECT record FROM discussions WHERE repository_id = ? AND num = ?");
    const row = select.get(repositoryId, num);
    return row && discussion.parse(JSON.parse(String(row.record)));
  }

  /** Returns the discussions of a repository, newest first. */
  list(repositoryId: string): StoredDiscussion[] {
    const rows = this.#database
      .prepare("SELECT record FROM discussions WHERE repository_id = ? ORDER BY num DESC")
      .all(repositoryId);
    return rows.map(({ record }) => discussion.parse(JSON.parse(String(record))));
  }

  put(stored: StoredDiscussion): void {
    this.#database
      .prepare("INSERT OR REPLACE INTO discussions (repository_id, num, record) VALUES (?, ?, ?)")
      .run(stored.repositoryId, stored.num, JSON.stringify(stored));
  }

  delete({ repositoryId, num }: DiscussionKey): void {
    this.#database.prepare("DELETE FROM discussions WHERE repository_id = ? AND num = ?").run(repositoryId, num);
    this.#database.prepare("DELETE FROM discussion_events WHERE repository_id = ? AND num = ?").run(repositoryId, num);
  }

  deleteRepository(repositoryId: string): void {
    this.#database.prepare("DELETE FROM discussions WHERE repository_id = ?").run(repositoryId);
    this.#database.prepare("DELETE FROM discussion_events WHERE repository_id = ?").run(repositoryId);
  }

  /** Returns the events of a discussion, oldest first. */
  events({ repositoryId, num }: DiscussionKey): StoredDiscussionEvent[] {
    const rows = this.#database
      .prepare("SELECT record FROM discussion_events WHERE repository_id = ? AND num = ? ORDER BY sequence")
      .all(repositoryId, num);
    return rows.map(({ record }) => discussionEvent.parse(JSON.parse(String(record))));
  }

  /** Returns the number of comments by discussion, including the descriptions. */
  countComments(repositoryId: string): ReadonlyMap<number, number> {
    const rows = this.#database
      .prepare(
        `SELECT num, count(*) AS comments FROM discussion_events
          WHERE repository_id = ? AND record ->> 'type' = 'comment' GROUP BY num`,
      )
      .all(repositoryId);
    return new Map(rows.map(({ num, comments }) => [Number(num), Number(comments)]));
  }

  getComment({ repositoryId, num }: DiscussionKey, id: string): StoredComment | undefined {
    const row = this.#database
      .prepare("SELECT record FROM discussion_events WHERE repository_id = ? AND num = ? AND id = ?")
      .get(repositoryId, num, id);
    const found = row && discussionEvent.parse(JSON.parse(String(row.record)));
    return found?.type === "comment" ? found : undefined;
  }

  addEvent({ repositoryId, num }: DiscussionKey, added: StoredDiscussionEvent): void {
    this.#database
      .prepare("INSERT INTO discussion_events (repository_id, num, id, record) VALUES (?, ?, ?, ?)")
      .run(repositoryId, num, added.id, JSON.stringify(added));
  }

  updateEvent(updated: StoredDiscussionEvent): void {
    this.#database
      .prepare("UPDATE discussion_events SET record = ? WHERE id = ?")
      .run(JSON.stringify(updated), updated.id);
  }

  clear(): void {
    this.#database.exec("DELETE FROM discussions; DELETE FROM discussion_events");
  }
}
