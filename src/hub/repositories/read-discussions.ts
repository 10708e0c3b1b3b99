import type { CallOptions } from "../operation.ts";
import { argumentInvalid } from "../validation/arguments.ts";
import {
  type DiscussionDetails,
  type DiscussionEvent,
  type DiscussionSummary,
  discussionOperations,
} from "./discussions.ts";
import type { RepositoryContext } from "./repository-context.ts";

/** A filter for discussions. */
export interface DiscussionSearch extends CallOptions {
  /** Default: both. */
  type?: "discussion" | "pull_request" | undefined;
  /** `open` includes drafts, and `closed` includes merged pull requests. Default: both. */
  status?: "open" | "closed" | undefined;
  /** The name of the user who opened the discussion. */
  author?: string | undefined;
}

export async function* readDiscussionPages(
  { client, path }: RepositoryContext,
  { type, status, author, signal }: DiscussionSearch,
): AsyncGenerator<DiscussionSummary[], void, undefined> {
  const filter = { ...(type && { type }), ...(status && { status }), ...(author && { author }) };
  let read = 0;
  for (let p = 0; ; p += 1) {
    const input = { params: path, query: { p, ...filter } };
    const { discussions, count } = await client.transport.call(discussionOperations.list, input, { signal });
    yield discussions;
    read += discussions.length;
    if (discussions.length === 0 || read >= count) return;
  }
}

export function readDiscussion(
  { client, path }: RepositoryContext,
  num: number,
  { signal }: CallOptions,
): Promise<DiscussionDetails> {
  return client.transport.call(discussionOperations.get, { params: { ...path, num: checkNumber(num) } }, { signal });
}

/** A comment in a discussion or pull request. */
export type CommentEvent = Extract<DiscussionEvent, { type: "comment" }>;

/** Returns the comments among the events of a discussion. The first comment is the description. */
export function commentsIn(events: readonly DiscussionEvent[]): CommentEvent[] {
  return events.filter((event) => event.type === "comment");
}

/**
 * Converts the number of a discussion to a path parameter.
 *
 * @throws `ARGUMENT_INVALID`
 */
export function checkNumber(num: number): string {
  if (Number.isSafeInteger(num) && num > 0) return String(num);
  throw argumentInvalid([{ field: "num", problem: "expected the number of a discussion" }]);
}
