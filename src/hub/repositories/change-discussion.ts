import type { CallOptions } from "../operation.ts";
import { discussionOperations } from "./discussions.ts";
import { checkNumber, readDiscussion } from "./read-discussions.ts";
import { observe, type RepositoryContext } from "./repository-context.ts";
import { sendOnce } from "./send-once.ts";

/** Changes the status of a discussion, unless it has the status. */
export async function setStatus(
  context: RepositoryContext,
  num: number,
  { status, comment, signal }: CallOptions & { status: "open" | "closed"; comment?: string | undefined },
): Promise<void> {
  const { client, path } = context;
  const params = { ...path, num: checkNumber(num) };
  const hasStatus = async () => ((await readDiscussion(context, num, { signal })).status === status ? true : undefined);
  if (await hasStatus()) return;
  const body = { status, ...(comment !== undefined && { comment }) };
  await sendOnce<unknown>(client.transport, {
    send: () => client.transport.call(discussionOperations.setStatus, { params, body }, { signal }),
    find: hasStatus,
    signal,
  });
}

/** Changes the title of a discussion, unless it has the title. */
export async function setTitle(
  context: RepositoryContext,
  num: number,
  { title, signal }: CallOptions & { title: string },
): Promise<void> {
  const { client, path } = context;
  const params = { ...path, num: checkNumber(num) };
  const hasTitle = async () => ((await readDiscussion(context, num, { signal })).title === title ? true : undefined);
  if (await hasTitle()) return;
  await sendOnce<unknown>(client.transport, {
    send: () => client.transport.call(discussionOperations.setTitle, { params, body: { title } }, { signal }),
    find: hasTitle,
    signal,
  });
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
  return observe(context, {
    send: () =>
      sendOnce<MergeResult>(client.transport, {
        async send() {
          await client.transport.call(discussionOperations.merge, { params, body }, { signal });
          return (await find()) ?? { oid: undefined };
        },
        find,
        signal,
      }),
    made: ({ oid }) => (oid === undefined ? [] : [{ kind: "commit", id: oid }]),
  });
}
