import { HubError } from "../../core/errors.ts";
import type { CallOptions } from "../operation.ts";
import { commitOperations } from "./commits.ts";
import { type CommitFiles, readCommitFiles } from "./committed-files.ts";
import { checkMessage, checkUploadModes, compareWithHead, createCommit, encodeCommit } from "./create-commit.ts";
import type { DiscussionSummary } from "./discussions.ts";
import { findMarked, isOpen, keepMarker } from "./marked-discussions.ts";
import { checkMarker, markDescription } from "./marker.ts";
import { markerOf, observe, type RepositoryContext, repositoryKey } from "./repository-context.ts";
import { sendOnce } from "./send-once.ts";

/** A pull request to open. */
export interface PullRequestRequest extends CallOptions {
  /** The title, with 3 to 200 characters. It is also the message of the commit. */
  title: string;
  /** The first comment, in Markdown. */
  description?: string | undefined;
  /** The files to write and delete, compared to `main`. */
  files: CommitFiles;
  /** A name for the purpose of the pull request. A pull request with the same marker is found again, even with another title. */
  marker: string;
}

/** A pull request that was opened or found. */
export interface OpenedPullRequest {
  num: number;
  /** Whether this call opened the pull request. `false`: it was found by its marker. */
  created: boolean;
  /** The status, such as `open`. A found pull request can be closed or merged. */
  status: DiscussionSummary["status"];
  /** The ref with the commits of the pull request, such as `refs/pr/1`. */
  ref: string;
}

export async function openPullRequest(
  context: RepositoryContext,
  { title, description = "", files, marker: name, signal }: PullRequestRequest,
): Promise<OpenedPullRequest | undefined> {
  checkMessage(title);
  const { client, path } = context;
  const marker = markerOf(context, checkMarker(name));
  const writes = readCommitFiles(files);
  const find = () => findMarked(context, { marker, title, type: "pull_request", signal });
  return client.markedCalls.run(`pull request ${repositoryKey(context)} ${name}`, async () => {
    const found = await find();
    if (found && isOpen(found)) {
      await createCommit(context, { message: title, files, branch: refOf(found.num), marker: name, signal });
    }
    // A closed pull request was rejected. A merged pull request does not prevent another one with newer files.
    if (found && found.status !== "merged") return toOpened(found);
    const { needed } = await compareWithHead(context, { writes, branch: "main", signal });
    if (needed.length === 0) return found && toOpened(found);
    await checkUploadModes(context, { needed, branch: "main", createPullRequest: true, signal });
    const encodedBody = encodeCommit({ message: title, description: markDescription(description, marker), needed });
    const input = { params: { ...path, rev: "main" }, query: { create_pr: true } };
    const { opened } = await observe(context, {
      send: () =>
        sendOnce(client.transport, {
          async send() {
            const answer = await client.transport.call(commitOperations.create, input, { signal, encodedBody });
            const opened = toOpened({ num: numberIn(answer.pullRequestUrl), status: "open" }, { created: true });
            keepMarker(context, opened.num, marker);
            return { opened, commit: answer.commitOid };
          },
          async find() {
            const made = await find();
            if (!made || made.status === "merged") return undefined;
            const { head } = await compareWithHead(context, { writes, branch: refOf(made.num), signal });
            return { opened: toOpened(made, { created: true }), commit: head };
          },
          signal,
        }),
      made: ({ opened, commit }) => [
        { kind: "discussion", id: String(opened.num) },
        { kind: "commit", id: commit },
      ],
    });
    return opened;
  });
}

function refOf(num: number): string {
  return `refs/pr/${num}`;
}

function toOpened(
  { num, status }: Pick<DiscussionSummary, "num" | "status">,
  { created = false }: { created?: boolean } = {},
): OpenedPullRequest {
  return { num, status, created, ref: refOf(num) };
}

/** Returns the number at the end of the URL of a pull request. */
function numberIn(url: string | undefined): number {
  const [, number] = /\/discussions\/(\d+)\/?$/.exec(url ?? "") ?? [];
  if (number !== undefined) return Number(number);
  throw new HubError("The Hub opened a pull request, but did not return its number. Look for it on the Hub.", {
    code: "HUB_RESPONSE_INVALID",
  });
}
