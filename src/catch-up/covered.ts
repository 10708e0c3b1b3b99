import type { WebhookPayload } from "../payload/schema.ts";
import { keyOf } from "./accepted.ts";
import type { CoveredChange, RefChange } from "./cursor.ts";

/** Lists the commits of a revision, newest first, until a commit, at most `max` of them. */
export type ListCommits = (range: {
  revision: string;
  until: string | null;
  max: number;
}) => Promise<readonly string[]>;

/** The maximum number of commits that are read to find out whether a change is in a derived range. */
const maxCommits = 1_000;

/**
 * Returns what a delivery changes that catch-up has not derived: `all`, `nothing`, or some of the updated refs.
 *
 * A ref is compared by the ancestry of its commits, because catch-up combines several pushes into one change.
 */
export async function uncoveredPart(
  payload: WebhookPayload,
  covered: readonly CoveredChange[],
  listCommits: ListCommits,
): Promise<"all" | "nothing" | RefChange[]> {
  const { updatedRefs } = payload;
  if (!updatedRefs) {
    const key = keyOf(payload);
    return key !== undefined && covered.some((change) => change.key === key) ? "nothing" : "all";
  }
  const uncovered: RefChange[] = [];
  for (const change of updatedRefs) {
    const ranges = joinRanges(covered.flatMap(({ ref }) => (ref?.ref === change.ref ? [ref] : [])));
    if (!(await isInRange(change, ranges, listCommits))) uncovered.push(change);
  }
  if (uncovered.length === 0) return "nothing";
  return uncovered.length === updatedRefs.length ? "all" : uncovered;
}

/** Joins ranges that follow one another. */
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

async function isInRange(
  { oldSha, newSha }: RefChange,
  ranges: readonly RefChange[],
  listCommits: ListCommits,
): Promise<boolean> {
  for (const { oldSha: from, newSha: to } of ranges) {
    if (oldSha === from && newSha === to) return true;
    // The ref was deleted and created again.
    if (oldSha === from && newSha === null) return true;
    if (to === null || newSha === null) continue;
    const commits = await listCommits({ revision: to, until: from, max: maxCommits });
    const end = commits.indexOf(newSha);
    if (end === -1 || newSha === from) continue;
    if (oldSha === null || commits.indexOf(oldSha) > end) return true;
  }
  return false;
}
