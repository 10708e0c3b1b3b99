import type { CallOptions } from "../operation.ts";
import { discussionOperations } from "./discussions.ts";
import {
  checkMarker,
  isSameMarker,
  type Marker,
  markComment,
  markDescription,
  readDescriptionMarker,
  readMarker,
} from "./marker.ts";
import { type CommentEvent, checkNumber, commentsIn, readDiscussion } from "./read-discussions.ts";
import { markerOf, observe, type RepositoryContext, repositoryKey, signatureOf } from "./repository-context.ts";
import { sendOnce } from "./send-once.ts";

/** A comment to write. */
export interface CommentUpsert extends CallOptions {
  /** A name for the purpose of the comment. The comment with the same marker in the discussion is edited. */
  marker: string;
  /** The text, in Markdown. */
  text: string;
}

/** A comment that was written or found. */
export interface UpsertedComment {
  id: string;
  /** Whether this call added the comment. `false`: it was found by its marker. */
  created: boolean;
}

export async function addComment(
  context: RepositoryContext,
  num: number,
  { text, signal }: CallOptions & { text: string },
): Promise<{ id: string }> {
  const mark = signatureOf(context);
  const signed = mark ? markComment(text, mark) : text;
  const id = await observe(context, {
    send: () => postComment(context, num, { text: signed, signal }),
    made: (made) => [{ kind: "comment", id: made }],
  });
  return { id };
}

export async function upsertComment(
  context: RepositoryContext,
  num: number,
  { marker: name, text, signal }: CommentUpsert,
): Promise<UpsertedComment> {
  const marker = markerOf(context, checkMarker(name));
  const marked = markComment(text, marker);
  const { transport, markedCalls } = context.client;
  return markedCalls.run(`comment ${repositoryKey(context)} ${checkNumber(num)} ${name}`, async () => {
    const found = await findComment(context, num, { marker, signal });
    if (found) {
      // Hidden comments stay hidden, because a person has hidden them.
      const { hidden, latest } = found.data;
      if (!hidden && latest.raw.trimEnd() !== marked)
        await sendEdit(context, num, { id: found.id, text: marked, signal });
      return { id: found.id, created: false };
    }
    const id = await observe(context, {
      send: () =>
        sendOnce(transport, {
          send: () => postComment(context, num, { text: marked, signal }),
          find: async () => (await findComment(context, num, { marker, signal }))?.id,
          signal,
        }),
      made: (made) => [{ kind: "comment", id: made }],
    });
    return { id, created: true };
  });
}

export async function editComment(
  context: RepositoryContext,
  num: number,
  { id, text, signal }: CallOptions & { id: string; text: string },
): Promise<void> {
  // Without its marker, the comment would not be found again.
  const { events } = await readDiscussion(context, num, { signal });
  const before = commentsIn(events).find((comment) => comment.id === id)?.data.latest.raw ?? "";
  const [mark, description] = [readMarker(before) ?? signatureOf(context), readDescriptionMarker(before)];
  const marked = description ? markDescription(text, description) : mark ? markComment(text, mark) : text;
  if (before.trimEnd() !== marked.trimEnd()) await sendEdit(context, num, { id, text: marked, signal });
}

export async function hideComment(
  { client, path }: RepositoryContext,
  num: number,
  { id, signal }: CallOptions & { id: string },
): Promise<void> {
  const params = { ...path, num: checkNumber(num), commentId: id };
  await client.transport.call(discussionOperations.hideComment, { params }, { signal, idempotent: true });
}

async function postComment(
  { client, path }: RepositoryContext,
  num: number,
  { text, signal }: CallOptions & { text: string },
): Promise<string> {
  const input = { params: { ...path, num: checkNumber(num) }, body: { comment: text } };
  const { newMessage } = await client.transport.call(discussionOperations.comment, input, { signal });
  return newMessage.id;
}

async function sendEdit(
  { client, path }: RepositoryContext,
  num: number,
  { id, text, signal }: CallOptions & { id: string; text: string },
): Promise<void> {
  const input = { params: { ...path, num: checkNumber(num), commentId: id }, body: { content: text } };
  await client.transport.call(discussionOperations.editComment, input, { signal, idempotent: true });
}

/** Finds the newest comment of this account with a marker. */
async function findComment(
  context: RepositoryContext,
  num: number,
  { marker, signal }: CallOptions & { marker: Marker },
): Promise<CommentEvent | undefined> {
  const { events } = await readDiscussion(context, num, { signal });
  const marked = commentsIn(events).filter(({ data }) => isSameMarker(readMarker(data.latest.raw), marker));
  if (marked.length === 0) return undefined;
  // Other users can copy a marker.
  const author = await context.client.accountName(signal);
  return marked.findLast((comment) => comment.author?.name === author);
}
