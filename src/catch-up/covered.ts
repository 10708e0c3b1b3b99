import type { WebhookPayload } from "../payload/schema.ts";
import { uncoveredFiles } from "./bucket-state.ts";
import { type CoveredChange, type DeliveryPart, isSameSubject, type RefChange } from "./cursor.ts";
import type { CommitRange } from "./repository-state.ts";

export type ListCommits = (range: CommitRange) => Promise<readonly string[]>;

/** The maximum number of ranges of a ref that are compared. Each takes a call to the Hub. */
const maxRanges = 10;
/** The maximum number of commits that are read to find out whether a change is in a derived range. */
const maxCommits = 1_000;

interface Decision {
  part: "all" | "nothing" | DeliveryPart;
  /** The covered changes without those that the delivery undoes. A later delivery of such a change repeats it, and is no duplicate. */
  covered: readonly CoveredChange[];
}

/**
 * Returns what a delivery changes that catch-up has not derived: `all`, `nothing`, or some of the updated refs or files.
 *
 * A ref is compared by the ancestry of its commits, because catch-up combines several pushes into one change. A file is compared by its
 * content. A delivery only undoes what was derived before it was received: an earlier one was considered then.
 */
export async function uncoveredPart(
  { payload, receivedAt }: { payload: WebhookPayload; receivedAt: number },
  covered: readonly CoveredChange[],
  listCommits: ListCommits,
): Promise<Decision> {
  const without = (isUndone: (change: CoveredChange) => boolean) => {
    const kept = covered.filter((change) => change.at > receivedAt || !isUndone(change));
    return kept.length === covered.length ? covered : kept;
  };
  const { event, updatedRefs, updatedFiles, updatedFilesTruncated = false } = payload;
  // A bucket that is created again can have the same files.
  if (event.scope === "repo" && event.action === "delete") return { part: "all", covered: without(() => true) };
  if (updatedFiles) {
    const { uncovered: files, covered: kept } = uncoveredFiles(updatedFiles, { covered, receivedAt });
    if (files.length === updatedFiles.length || updatedFilesTruncated) return { part: "all", covered: kept };
    return { part: files.length === 0 ? "nothing" : { updatedFiles: files }, covered: kept };
  }
  if (!updatedRefs) {
    const key = keyOf(payload);
    if (key === undefined) return { part: "all", covered };
    if (covered.some((change) => change.key === key)) return { part: "nothing", covered };
    return { part: "all", covered: without((change) => change.key !== undefined && isSameSubject(change.key, key)) };
  }
  const uncovered: RefChange[] = [];
  const undone = new Set<CoveredChange>();
  for (const change of updatedRefs) {
    const derived = covered.filter(({ ref }) => ref?.ref === change.ref);
    const ranges = derived.flatMap(({ ref }) => ref ?? []);
    const relation = await compareWithRanges(change, ranges, listCommits);
    if (relation !== "covered") uncovered.push(change);
    if (relation === "undoes") for (const change of derived) undone.add(change);
  }
  const kept = without((change) => undone.has(change));
  if (uncovered.length === 0) return { part: "nothing", covered: kept };
  return { part: uncovered.length === updatedRefs.length ? "all" : { updatedRefs: uncovered }, covered: kept };
}

function joinRanges(ranges: readonly RefChange[]): RefChange[] {
  const joined: RefChange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last && last.newSha === range.oldSha && last.newSha !== null)
      joined.splice(-1, 1, { ...last, newSha: range.newSha });
    else joined.push(range);
  }
  return joined;
}

/** `undoes`: the change restores a commit of a range. */
async function compareWithRanges(
  { oldSha, newSha }: RefChange,
  derived: readonly RefChange[],
  listCommits: ListCommits,
): Promise<"covered" | "undoes" | "other"> {
  const ranges = joinRanges(derived).slice(-maxRanges);
  // Also a range that was joined with a later force push. A deletion is covered if the ref was created again.
  const isSame = (range: RefChange) => range.oldSha === oldSha && (range.newSha === newSha || newSha === null);
  if (derived.some(isSame) || ranges.some(isSame)) return "covered";
  let undoes = false;
  for (const { oldSha: from, newSha: to } of ranges) {
    if (newSha === from || (to === null && oldSha === null)) undoes = true;
    if (to === null || newSha === null) continue;
    const commits = await listCommits({ revision: to, until: from, max: maxCommits });
    const end = commits.indexOf(newSha);
    if (end === -1 || newSha === from) continue;
    const start = oldSha === null ? Number.POSITIVE_INFINITY : commits.indexOf(oldSha);
    if (start > end) return "covered";
    // In a list that was cut, the change can start before its end.
    undoes ||= start !== -1 || commits.length < maxCommits;
  }
  return undoes ? "undoes" : "other";
}

/** Identifies a change that does not move a ref, derived or delivered. Returns `undefined` for other changes. */
export function keyOf({ event, movedTo, updatedConfig, discussion, comment }: WebhookPayload): string | undefined {
  if (event.scope === "repo" && event.action === "create") return "create";
  if (movedTo) return `name ${movedTo.name}`;
  if (event.scope === "repo.config") return `private ${updatedConfig?.private}`;
  if (event.scope === "discussion.comment") {
    return event.action === "create" ? `comment ${comment?.id}` : undefined;
  }
  if (event.scope !== "discussion" || !discussion) return undefined;
  const { num, status, title } = discussion;
  return event.action === "create" ? `discussion ${num}` : `discussion ${num} ${status} ${title}`;
}
