import type { CallOptions } from "../operation.ts";
import { type DiscussionSummary, discussionOperations } from "./discussions.ts";
import { findMarked, keepMarker } from "./marked-discussions.ts";
import { checkMarker, markDescription } from "./marker.ts";
import { markerOf, observe, type RepositoryContext, repositoryKey } from "./repository-context.ts";
import { sendOnce } from "./send-once.ts";

/** A discussion to open. */
export interface DiscussionRequest extends CallOptions {
  /** The title, with 3 to 200 characters. */
  title: string;
  /** The first comment, in Markdown. */
  description?: string | undefined;
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
  { title, description = "", marker: name, signal }: DiscussionRequest,
): Promise<OpenedDiscussion> {
  const { client, path } = context;
  const marker = markerOf(context, checkMarker(name));
  const body = { title, description: markDescription(description, marker), pullRequest: false };
  const find = async () => {
    const found = await findMarked(context, { marker, title, type: "discussion", signal });
    return found && { num: found.num, created: false, status: found.status };
  };
  return client.markedCalls.run(`discussion ${repositoryKey(context)} ${name}`, async () => {
    const found = await find();
    if (found) return found;
    return observe(context, {
      send: () =>
        sendOnce<OpenedDiscussion>(client.transport, {
          async send() {
            const { num } = await client.transport.call(
              discussionOperations.create,
              { params: path, body },
              { signal },
            );
            keepMarker(context, num, marker);
            return { num, created: true, status: "open" };
          },
          async find() {
            const made = await find();
            return made && { ...made, created: true };
          },
          signal,
        }),
      made: ({ num }) => [{ kind: "discussion", id: String(num) }],
    });
  });
}
