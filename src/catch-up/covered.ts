import type { WebhookPayload } from "../payload/schema.ts";
import { keyOf } from "./accepted.ts";
import { type CoveredChange, isSameSubject, type RefChange } from "./cursor.ts";

/** Lists the commits of a revision, newest first, until a commit, at most `max` of them. */
export type ListCommits = (range: {
  revision: string;
  until: string | null;
  max: number;
}) => Promise<readonly string[]>;

/** The maximum number of ranges of a ref that are compared. Each takes a call to the Hub. */
const maxRanges = 10;
/** The maximum number of commits that are read to find out whether a change is in a derived range. */
const maxCommits = 1_000;

interface Coverage {
  part: "all" | "nothing" | RefChange[];
  /** Covered changes that the delivery undoes. A later delivery of such a change repeats it, and is no duplicate. */
  outdated: readonly CoveredChange[];
}

/**
 * Returns what a delivery changes that catch-up has not derived: `all`, `nothing`, or some of the updated refs.
 *
 * A ref is compared by the ancestry of its commits, because catch-up combines several pushes into one change.
 */
export async function uncoveredPart(
  payload: WebhookPayload,
  covered: readonly CoveredChange[],
  listCommits: ListCommits,
): Promise<Coverage> {
  const { updatedRefs } = payload;
  if (!updatedRefs) {
    const key = keyOf(payload);
    if (key === undefined) return { part: "all", outdated: [] };
    if (covered.some((change) => change.key === key)) return { part: "nothing", outdated: [] };
    return {
      part: "all",
      outdated: covered.filter((change) => change.key !== undefined && isSameSubject(change.key, key)),
    };
  }
  const uncovered: RefChange[] = [];
  const outdated: CoveredChange[] = [];
  for (const change of updatedRefs) {
    const derived = covered.filter(({ ref }) => ref?.ref === change.ref);
    const ranges = joinRanges(derived.flatMap(({ ref }) => ref ?? [])).slice(-maxRanges);
    const relation = await compareWithRanges(change, ranges, listCommits);
    if (relation !== "covered") uncovered.push(change);
    if (relation === "undoes") outdated.push(...derived);
  }
  if (uncovered.length === 0) return { part: "nothing", outdated };
  return { part: uncovered.length === updatedRefs.length ? "all" : uncovered, outdated };
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

/** `undoes`: the change restores a commit of a range. */
async function compareWithRanges(
  { oldSha, newSha }: RefChange,
  ranges: readonly RefChange[],
  listCommits: ListCommits,
): Promise<"covered" | "undoes" | "other"> {
  let undoes = false;
  for (const { oldSha: from, newSha: to } of ranges) {
    if (oldSha === from && newSha === to) return "covered";
    // The ref was deleted and created again.
    if (oldSha === from && newSha === null) return "covered";
    if (newSha === from || (to === null && oldSha === null)) undoes = true;
    if (to === null || newSha === null) continue;
    const commits = await listCommits({ revision: to, until: from, max: maxCommits });
    const end = commits.indexOf(newSha);
    if (end === -1 || newSha === from) continue;
    if (oldSha === null || commits.indexOf(oldSha) > end) return "covered";
    undoes = true;
  }
  return undoes ? "undoes" : "other";
}
