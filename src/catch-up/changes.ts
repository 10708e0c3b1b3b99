import type { DiscussionDetails, DiscussionSummary } from "../hub/repositories/discussions.ts";
import { commentsIn } from "../hub/repositories/read-discussions.ts";
import type { KnownScope } from "../payload/names.ts";
import { deepMerge, samplePayload } from "../payload/samples.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { AcceptedChanges } from "./accepted.ts";
import { type BucketFiles, listFiles, missedFiles, unpackFiles } from "./bucket-state.ts";
import type { RefChange, RepositoryCursor } from "./cursor.ts";
import type { ListedRepository, RefState } from "./repository-state.ts";

/*
 * What an endpoint missed is the difference between two states: the state up to which deliveries were accepted, and the state that the
 * Hub has now. The accepted deliveries are read from the inbox, and advance the first state before the two are compared.
 */

export interface MissedChange {
  scope: KnownScope;
  action: "create" | "update" | "move";
  /** The name before a move. Otherwise the present name. */
  name: string;
  updatedRefs?: readonly RefChange[];
  updatedFiles?: WebhookPayload["updatedFiles"];
  updatedFilesTruncated?: boolean | undefined;
  movedTo?: { name: string; owner: { id: string } };
  updatedConfig?: { private: boolean };
  discussion?: ReturnType<typeof discussionFields>;
  comment?: ReturnType<typeof commentFields>;
}

export interface PresentState {
  repository: ListedRepository;
  /** Missing if the endpoint receives no `repo` events, or nothing has changed since the last run. */
  refs?: RefState | undefined;
  /** Like `refs`, of a bucket. */
  files?: BucketFiles | undefined;
  /** Missing if the endpoint receives no `discussion` events, or discussions are disabled. */
  discussions?: readonly DiscussionSummary[] | undefined;
}

interface Comparison {
  /** `undefined` for a repository that was created since the last run. */
  cursor: RepositoryCursor | undefined;
  present: PresentState;
  accepted: AcceptedChanges;
  /** Whether the endpoint receives events of the domain `repo`. */
  hasRepoEvents: boolean;
  readDiscussion: (num: number) => Promise<DiscussionDetails>;
  ownerId: (name: string) => Promise<string>;
}

/** Returns the changes that no accepted delivery contains, in the order in which the Hub would have sent them. */
export async function findMissedChanges(comparison: Comparison): Promise<MissedChange[]> {
  const repositoryChanges = comparison.hasRepoEvents ? await missedRepositoryChanges(comparison) : [];
  return [...repositoryChanges, ...(await missedDiscussionChanges(comparison))];
}

async function missedRepositoryChanges({ cursor, present, accepted, ownerId }: Comparison): Promise<MissedChange[]> {
  const { repository, refs, files } = present;
  const { name, isPrivate } = repository;
  const missed: MissedChange[] = [];
  if (!cursor && !accepted.keys.has("create")) missed.push({ scope: "repo", action: "create", name });
  const knownName = accepted.name ?? cursor?.name ?? accepted.created?.name ?? name;
  if (knownName !== name) {
    const owner = { id: await ownerId(ownerOf(name)) };
    missed.push({ scope: "repo", action: "move", name: knownName, movedTo: { name, owner } });
  }
  if ((accepted.isPrivate ?? cursor?.isPrivate ?? isPrivate) !== isPrivate) {
    missed.push({ scope: "repo.config", action: "update", name, updatedConfig: { private: isPrivate } });
  }
  if (files && (!cursor || cursor.bucket)) {
    const { bucket } = cursor ?? {};
    const known = { states: bucket ? await unpackFiles(bucket.files) : new Map(), uploadedAt: bucket?.uploadedAt ?? 0 };
    const updatedFiles = missedFiles(known, files, accepted);
    const change = { scope: "repo.content", action: "update", name } as const;
    if (updatedFiles.length > 0) missed.push({ ...change, ...listFiles(updatedFiles) });
  }
  if (!refs || (cursor && !cursor.refs)) return missed;
  const names = new Set([...refs.keys(), ...Object.keys(cursor?.refs ?? {}), ...accepted.refs.keys()]);
  const firstCommit = accepted.created?.commit;
  const known = cursor?.refs ?? (firstCommit === undefined ? {} : { "refs/heads/main": firstCommit });
  for (const ref of names) {
    const range = { from: known[ref] ?? null, to: refs.get(ref) ?? null };
    for (const { from, to } of missedRanges(accepted.refs.get(ref) ?? [], range)) {
      const updatedRefs = [{ ref, oldSha: from, newSha: to }];
      missed.push({ scope: "repo.content", action: "update", name, updatedRefs });
    }
  }
  return missed;
}

interface Range {
  from: string | null;
  to: string | null;
}

/**
 * Returns the parts of a range that the accepted changes do not cover. The changes must be those since the start, and none after the end.
 *
 * Follows the changes from the start, each once, and then backwards from the end: the Hub promises no order, so the last change may have
 * arrived and an earlier one not. Commits can occur several times, because a force push can restore an earlier commit. What was
 * accepted besides, such as a force push whose reversal was lost, is connected, so that its last change leads to the end.
 */
export function missedRanges(accepted: readonly RefChange[], { from, to }: Range): Range[] {
  const remaining = accepted.map((change, order) => ({ ...change, order }));
  /** The order of the last accepted change that was followed. */
  let latest = -1;
  const take = (matches: (change: RefChange) => boolean) => {
    const index = remaining.findIndex(matches);
    const [taken] = index === -1 ? [] : remaining.splice(index, 1);
    latest = Math.max(latest, taken?.order ?? -1);
    return taken;
  };
  // Loops, because a busy repository can have thousands of changes.
  const follow = (start: string | null): string | null => {
    let end = start;
    for (let next = take(({ oldSha }) => oldSha === end); next; next = take(({ oldSha }) => oldSha === end)) {
      end = next.newSha;
    }
    return end;
  };
  const followBack = (end: string | null, until?: string | null): string | null => {
    let start = end;
    while (start !== until) {
      const previous = take(({ newSha }) => newSha === start);
      if (!previous) break;
      start = previous.oldSha;
    }
    return start;
  };
  const missed: Range[] = [];
  let position = follow(from);
  const moveTo = (commit: string | null) => {
    if (position !== commit) missed.push({ from: position, to: commit });
    position = commit;
  };
  remaining.reverse();
  const end = followBack(to, position);
  remaining.reverse();
  const followed = latest;
  /** Whether the handler was led away from where it was. */
  let isElsewhere = false;
  for (let other = remaining.shift(); other; other = remaining.shift()) {
    latest = other.order;
    const first = followBack(other.oldSha);
    const last = follow(other.newSha);
    // Others lead to where the handler already was, such as a push that arrived after its commit was compared.
    const isKnown = (last === from && !isElsewhere) || (position === end && last === end);
    if (first === last || (isKnown && (last === end || latest < followed))) continue;
    if (!isKnown) {
      moveTo(first);
      isElsewhere = true;
    }
    position = last;
  }
  moveTo(end);
  return missed;
}

async function missedDiscussionChanges(comparison: Comparison): Promise<MissedChange[]> {
  const { cursor, present, accepted, readDiscussion } = comparison;
  const { name } = present.repository;
  const missed: MissedChange[] = [];
  if (cursor && !cursor.discussions) return missed;
  // Oldest first.
  for (const summary of [...(present.discussions ?? [])].sort((one, other) => one.num - other.num)) {
    const { num, numComments, status, title } = summary;
    const known = cursor?.discussions?.[num];
    const latest = accepted.discussions.get(num) ?? known;
    const isMoved = latest !== undefined && (latest.status !== status || latest.title !== title);
    const hasComments = known === undefined || numComments > known.comments;
    if (!isMoved && !hasComments) continue;
    const details = await readDiscussion(num);
    const discussion = discussionFields(details);
    const comments = commentsIn(details.events);
    // Whether the list counts the description as a comment is not documented, so the difference is kept.
    const offset = comments.length - numComments;
    const [first] = comments;
    if (known === undefined && first && !accepted.keys.has(`discussion ${num}`)) {
      missed.push({ scope: "discussion", action: "create", name, discussion, comment: commentFields(first) });
    }
    for (const comment of comments.slice(known === undefined ? 1 : known.comments + offset)) {
      if (accepted.keys.has(`comment ${comment.id}`)) continue;
      missed.push({
        ...{ scope: "discussion.comment", action: "create", name, discussion },
        comment: commentFields(comment),
      });
    }
    if (isMoved) missed.push({ scope: "discussion", action: "update", name, discussion });
  }
  return missed;
}

function discussionFields({ _id, num, title, status, isPullRequest, author, pinned, changes }: DiscussionDetails) {
  return {
    ...{ id: _id, num, title, status, isPullRequest, author: { id: author?._id ?? "" } },
    ...(pinned && { pinned }),
    changes,
  };
}

function commentFields({ id, author, data }: ReturnType<typeof commentsIn>[number]) {
  const { hidden, latest } = data;
  return { id, author: { id: author?._id ?? "" }, hidden, content: hidden ? undefined : latest.raw };
}

/** The ID in the `webhook` of a derived payload, which no webhook has sent. */
const webhookId = "catch-up";

/** Creates the payload that the Hub would have sent. */
export function payloadOf(
  { scope, action, name, ...fields }: MissedChange,
  subject: { repository: ListedRepository; headSha: string | undefined; ownerId: string; hubUrl: string },
): Record<string, unknown> {
  const { repository, headSha, ownerId, hubUrl } = subject;
  const { type, id, isPrivate, subdomain } = repository;
  const { num = 0, id: discussionId = "" } = fields.discussion ?? {};
  const discussion = { num, id: discussionId, commentId: fields.comment?.id ?? "", authorId: "" };
  return deepMerge(samplePayload({ scope, type, name, hubUrl, discussion }), {
    event: { scope, action },
    repo: {
      ...{ id, private: isPrivate, owner: { id: ownerId }, tags: undefined },
      ...(subdomain !== undefined && { subdomain }),
      ...(scope.startsWith("repo") && { headSha }),
    },
    webhook: { id: webhookId, version: 3 },
    // The sample has a comment, which an update of a discussion does not have.
    ...{ comment: undefined, ...fields },
  });
}

export function ownerOf(name: string): string {
  return name.includes("/") ? (name.split("/")[0] ?? "") : "";
}
