import type { DiscussionSummary } from "../hub/repositories/discussions.ts";
import type { AcceptedChanges } from "./accepted.ts";
import { type BucketFile, filesBefore, packFiles, unpackFiles } from "./bucket-state.ts";
import type { PresentState } from "./changes.ts";
import type { CatchUpTarget, RepositoryCursor } from "./cursor.ts";
import type { ListedRepository, StateReader } from "./repository-state.ts";

/** After this time, files are read again: the Hub does not document what changes the fields by which they are skipped. */
const unreadFilesMs = 6 * 3_600_000;

interface ComparedState {
  cursor: RepositoryCursor | undefined;
  present: PresentState;
  compared: string[];
  derived: number;
  bucketId: string | undefined;
}

/** Reads the present states of repositories, and converts them to the cursors that the inbox keeps. */
export function createRepositoryCursors(reader: StateReader, target: CatchUpTarget, now: () => number) {
  /** Reads what can have changed since the known state. */
  async function readPresent(
    repository: ListedRepository,
    { known, accepted }: { known: RepositoryCursor | undefined; accepted: AcceptedChanges },
  ): Promise<PresentState> {
    const { domains } = target;
    const isListedAlike = known?.lastModified !== undefined && known.lastModified === repository.lastModified;
    if (repository.type === "bucket") {
      const isFresh = known?.bucket !== undefined && Math.abs(now() - known.bucket.readAt) < unreadFilesMs;
      const isRead = domains.includes("repo") && !(isFresh && isListedAlike && accepted.files.size === 0);
      return { repository, files: isRead ? await reader.files(repository) : undefined };
    }
    const isUnchanged =
      known?.refs !== undefined && isListedAlike && accepted.refs.size === 0 && !isWatchedByName(repository);
    const refs = domains.includes("repo") && !isUnchanged ? await reader.refs(repository) : undefined;
    const discussions = domains.includes("discussion") ? await reader.discussions(repository) : undefined;
    return { repository, refs, discussions };
  }

  /** Whether all refs of a repository are read in each run. Lists only show when the main branch changed. */
  function isWatchedByName({ type, name }: ListedRepository): boolean {
    return target.watch.some((watched) => watched.type === type && isSameText(watched.name, name));
  }

  /**
   * Returns the state from which a first run, or one that starts earlier than the last, derives deliveries. What the Hub shows without a
   * time, such as the name, starts with the stored state.
   */
  async function firstCursor(
    present: PresentState,
    { since, stored }: { since: CatchUpTarget["since"]; stored: RepositoryCursor | undefined },
  ): Promise<RepositoryCursor> {
    const { repository } = present;
    const first = { cursor: undefined, compared: [], derived: 0, bucketId: undefined };
    if (since === "now") return nextCursor({ ...first, present });
    const start = stored ?? (await nextCursor({ ...first, present: { repository } }));
    const storedFiles = stored?.bucket ? await unpackFiles(stored.bucket.files) : new Map<string, string>();
    const files = present.files && filesBefore(present.files, since, storedFiles);
    const bucket = await bucketCursor(present, files, stored?.bucket?.id);
    const refs: Record<string, string> = {};
    for (const [ref, commit] of present.refs ?? []) {
      if (since === "all") break;
      const before = await reader.commitBefore(repository, commit, since);
      if (before !== undefined) refs[ref] = before;
    }
    const discussions: RepositoryCursor["discussions"] = {};
    for (const discussion of present.discussions ?? []) {
      if (since === "all" || Date.parse(discussion.createdAt) > since.getTime()) continue;
      const [num, known] = toKnown(discussion);
      discussions[num] = stored?.discussions?.[num] ?? known;
    }
    return { ...start, refs: present.refs && refs, discussions: present.discussions && discussions, bucket };
  }

  async function nextCursor({
    cursor,
    present,
    compared,
    derived,
    bucketId,
  }: ComparedState): Promise<RepositoryCursor> {
    const { repository, refs, discussions } = present;
    const { type, name, isPrivate, lastModified } = repository;
    return {
      ...{ type, name, isPrivate, compared, derived },
      ...(lastModified !== undefined && { lastModified }),
      refs: refs ? Object.fromEntries(refs) : cursor?.refs,
      bucket: (await bucketCursor(present, present.files, bucketId)) ?? cursor?.bucket,
      // A list can change while its pages are read, so a discussion can be missing.
      discussions: discussions
        ? { ...cursor?.discussions, ...Object.fromEntries(discussions.map(toKnown)) }
        : cursor?.discussions,
    };
  }

  async function bucketCursor(
    { repository: { createdAt = "" } }: PresentState,
    files: Iterable<readonly [string, BucketFile | string]> | undefined,
    id: string | undefined,
  ): Promise<RepositoryCursor["bucket"]> {
    if (!files) return undefined;
    let uploadedAt = 0;
    for (const [, file] of files) if (typeof file === "object") uploadedAt = Math.max(uploadedAt, file.uploadedAt);
    const packed = await packFiles(files);
    return { createdAt, readAt: now(), uploadedAt, files: packed, ...(id !== undefined && { id }) };
  }

  return { readPresent, firstCursor, nextCursor };
}

function toKnown({ num, status, title, numComments }: DiscussionSummary) {
  return [num, { status, title, comments: numComments }] as const;
}

function isSameText(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
