import type { CallOptions } from "../operation.ts";
import { type DiscussionDetails, type DiscussionSummary, discussionOperations } from "./discussions.ts";
import {
  checkMarker,
  isSameMarker,
  type Marker,
  markComment,
  markDescription,
  readDescriptionMarker,
  readMarker,
} from "./marker.ts";
import {
  type CommentEvent,
  checkNumber,
  commentsIn,
  findMarked,
  keepMarker,
  readDiscussion,
} from "./read-discussions.ts";
import {
  markerOf,
  observe,
  type RepositoryContext,
  repositoryKey,
  sendOnce,
  signatureOf,
} from "./repository-context.ts";

/** A discussion to open. */
export interface DiscussionRequest extends CallOptions {
  /** The title, with 3 to 200 characters. */
  title: string;
  /** The first comment, in Markdown. */
  text?: string | undefined;
  /** A name for the purpose of the discussion. A discussion with the same marker is found again, even with another title. */
  marker: string;
}

/** A discussion that was opened or found. */
export interface OpenedDiscussion {
  num: number;
  /** Whether this call opened the discussion. `false`: it was found by its marker. */
  created: boolean;
  /** The status, such as `open`. A found discussion can be closed. */
  status: DiscussionSummary["status"];
}

export async function openDiscussion(
  context: RepositoryContext,
  { title, text = "", marker: name, signal }: DiscussionRequest,
): Promise<OpenedDiscussion> {
  const { client, path } = context;
  const marker = markerOf(context, checkMarker(name));
  const body = { title, description: markDescription(text, marker), pullRequest: false };
  const find = async () => {
    const found = await findMarked(context, { marker, title, type: "discussion", signal });
    return found && { num: found.num, created: false, status: found.status };
  };
  return client.markedCalls.run(`discussion ${repositoryKey(context)} ${name}`, signal, async () => {
    const found = await find();
    if (found) return found;
    return observe<OpenedDiscussion>(context, {
      async send() {
        const { num } = await client.transport.call(discussionOperations.create, { params: path, body }, { signal });
        keepMarker(context, num, marker);
        return { num, created: true, status: "open" };
      },
      async find() {
        const made = await find();
        return made && { ...made, created: true };
      },
      signal,
      made: ({ num }) => [{ kind: "discussion", id: String(num) }],
    });
  });
}

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
    signal,
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
  const { markedCalls } = context.client;
  return markedCalls.run(`comment ${repositoryKey(context)} ${checkNumber(num)} ${name}`, signal, async () => {
    const found = await findComment(context, num, { marker, signal });
    if (found) {
      // Hidden comments stay hidden, because a person has hidden them.
      const { hidden, latest } = found.data;
      if (!hidden && latest.raw.trimEnd() !== marked)
        await sendEdit(context, num, { id: found.id, text: marked, signal });
      return { id: found.id, created: false };
    }
    const id = await observe(context, {
      send: () => postComment(context, num, { text: marked, signal }),
      find: async () => (await findComment(context, num, { marker, signal }))?.id,
      signal,
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

/** Changes the status of a discussion, unless it has the status. */
export async function setStatus(
  context: RepositoryContext,
  num: number,
  { status, comment, signal }: CallOptions & { status: "open" | "closed"; comment?: string | undefined },
): Promise<void> {
  const params = { ...context.path, num: checkNumber(num) };
  const body = { status, ...(comment !== undefined && { comment }) };
  await changeOnce(context, num, {
    isDone: (discussion) => discussion.status === status,
    send: () => context.client.transport.call(discussionOperations.setStatus, { params, body }, { signal }),
    signal,
  });
}

/** Changes the title of a discussion, unless it has the title. */
export async function setTitle(
  context: RepositoryContext,
  num: number,
  { title, signal }: CallOptions & { title: string },
): Promise<void> {
  const params = { ...context.path, num: checkNumber(num) };
  await changeOnce(context, num, {
    isDone: (discussion) => discussion.title === title,
    send: () => context.client.transport.call(discussionOperations.setTitle, { params, body: { title } }, { signal }),
    signal,
  });
}

interface DiscussionChange extends CallOptions {
  isDone: (discussion: DiscussionDetails) => boolean;
  send: () => Promise<unknown>;
}

async function changeOnce(
  context: RepositoryContext,
  num: number,
  { isDone, send, signal }: DiscussionChange,
): Promise<void> {
  const find = async () => (isDone(await readDiscussion(context, num, { signal })) ? true : undefined);
  if (await find()) return;
  await sendOnce<unknown>(context.client.transport, { send, find, signal });
}

/** The result of a merge. */
export interface MergeResult {
  /** The ID of the merge commit, if the Hub returns it. */
  oid: string | undefined;
}

/** Merges a pull request, unless it is merged. */
export async function mergePullRequest(
  context: RepositoryContext,
  num: number,
  { comment, signal }: CallOptions & { comment?: string | undefined },
): Promise<MergeResult> {
  const { client, path } = context;
  const params = { ...path, num: checkNumber(num) };
  const find = async (): Promise<MergeResult | undefined> => {
    const { status, changes } = await readDiscussion(context, num, { signal });
    return status === "merged" ? { oid: changes?.mergeCommitId } : undefined;
  };
  const merged = await find();
  if (merged) return merged;
  const body = comment === undefined ? {} : { comment };
  return observe<MergeResult>(context, {
    async send() {
      await client.transport.call(discussionOperations.merge, { params, body }, { signal });
      return (await find()) ?? { oid: undefined };
    },
    find,
    signal,
    made: ({ oid }) => (oid === undefined ? [] : [{ kind: "commit", id: oid }]),
  });
}
