import type { CallOptions } from "../operation.ts";
import { fieldInvalid } from "../validation/arguments.ts";
import {
  type DiscussionDetails,
  type DiscussionEvent,
  type DiscussionSummary,
  discussionOperations,
} from "./discussions.ts";
import { isSameMarker, type Marker, readDescriptionMarker } from "./marker.ts";
import { type RepositoryContext, repositoryKey } from "./repository-context.ts";

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

/** Converts the number of a discussion to a path parameter. @throws `ARGUMENT_INVALID` */
export function checkNumber(num: number): string {
  if (Number.isSafeInteger(num) && num > 0) return String(num);
  throw fieldInvalid("num", "expected the number of a discussion");
}

/** The maximum number of the newest discussions in which the marker is searched. */
const maxListed = 1_000;
/** The maximum number of discussions whose descriptions are read, because each of them is a request. */
const maxRead = 100;
/** The maximum number of discussions whose markers are kept in memory. */
const maxKept = 10_000;

export interface MarkedSearch extends CallOptions {
  marker: Marker;
  /** The title that the discussion probably has. */
  title: string;
  type: "discussion" | "pull_request";
}

/**
 * Finds a discussion or pull request of this account by the marker in its description. Prefers those that are open, then those with
 * the title, then the newest. Reads at most 100 descriptions, and each of them once per client.
 */
export async function findMarked(
  context: RepositoryContext,
  { marker, title, type, signal }: MarkedSearch,
): Promise<DiscussionSummary | undefined> {
  const author = await context.client.accountName(signal);
  const own: DiscussionSummary[] = [];
  for await (const page of readDiscussionPages(context, { type, author, signal })) {
    // Other users can copy a marker. The Hub may ignore filters.
    own.push(
      ...page.filter((item) => item.author?.name === author && item.isPullRequest === (type === "pull_request")),
    );
    if (own.length >= maxListed) break;
  }
  const rank = (item: DiscussionSummary) => (isOpen(item) ? 0 : 2) + (item.title === title ? 0 : 1);
  own.sort((left, right) => rank(left) - rank(right) || right.num - left.num);
  let remaining = maxRead;
  for (const item of own) {
    const kept = keptMarker(context, item.num);
    if (kept === undefined && remaining === 0) continue;
    if (kept === undefined) remaining -= 1;
    const found = kept === undefined ? await readMarkerOf(context, item.num, signal) : kept;
    if (found && isSameMarker(found, marker)) return item;
  }
  return undefined;
}

/** Whether a discussion or pull request can still change. */
export function isOpen({ status }: Pick<DiscussionSummary, "status">): boolean {
  return status === "open" || status === "draft";
}

/** Returns the marker in a description, `null` for none, or `undefined` if the description has not been read. */
function keptMarker(context: RepositoryContext, num: number): Marker | null | undefined {
  return context.client.descriptionMarkers.get(keyOf(context, num));
}

/** Keeps the marker in the description of a discussion, so that it is not read again. */
export function keepMarker(context: RepositoryContext, num: number, marker: Marker | null): void {
  const { descriptionMarkers } = context.client;
  const [oldest] = descriptionMarkers.keys();
  if (descriptionMarkers.size >= maxKept && oldest !== undefined) descriptionMarkers.delete(oldest);
  descriptionMarkers.set(keyOf(context, num), marker);
}

async function readMarkerOf(
  context: RepositoryContext,
  num: number,
  signal: AbortSignal | undefined,
): Promise<Marker | null> {
  const { events } = await readDiscussion(context, num, { signal });
  const description = commentsIn(events)[0]?.data;
  const marker = readDescriptionMarker(description?.latest.raw ?? "") ?? null;
  // The text of a hidden description is not readable, but the description can become visible again.
  if (marker || description?.hidden !== true) keepMarker(context, num, marker);
  return marker;
}

function keyOf(context: RepositoryContext, num: number): string {
  return `${repositoryKey(context)} ${num}`;
}
