import { describe, expect, test } from "vitest";
import { CallBudget } from "../../src/catch-up/call-budget.ts";
import { missedRanges } from "../../src/catch-up/changes.ts";
import { uncoveredPart } from "../../src/catch-up/covered.ts";
import { type CoveredChange, type RefChange, remember } from "../../src/catch-up/cursor.ts";
import { webhookPayload } from "../../src/payload/samples.ts";
import type { WebhookPayload } from "../../src/payload/schema.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { isTrail } from "./effects.ts";

const ref = "refs/heads/main";

/** Creates the changes of a text such as `A-B B-C`. `0` stands for a ref that does not exist. */
function changes(text: string) {
  return text.split(" ").flatMap((part) => {
    const [from, to] = part.split("-");
    return part === "" ? [] : [{ ref, oldSha: sha(from), newSha: sha(to) }];
  });
}

function sha(name: string | undefined): string | null {
  return name === undefined || name === "0" ? null : name;
}

describe("The part of a ref's history that no accepted delivery covers", () => {
  test.each([
    ["everything, if nothing was accepted", "", "A-D", "A-D"],
    ["what surrounds a change", "X-Y", "A-D", "A-X Y-D"],
    ["the reversal of a force push", "A-X", "B-C", "B-A X-C"],
    ["nothing, if the changes of a round trip were accepted", "X-Y Y-X", "A-A", ""],
    ["nothing, if nothing has changed", "", "A-A", ""],
    ["nothing, if each push was accepted", "A-B B-C", "A-C", ""],
    ["nothing, if the pushes were accepted in reverse order", "B-C A-B", "A-C", ""],
    ["what came last", "A-B", "A-C", "B-C"],
    ["what came first", "B-C", "A-C", "A-B"],
    ["what came between", "A-B C-D", "A-D", "B-C"],
    ["nothing, if a force push back was accepted", "A-B B-A", "A-A", ""],
    ["a force push back", "A-B", "A-A", "B-A"],
    ["a force push back before another push from the same commit", "A-B A-C", "A-C", "B-A"],
    ["nothing, if a push arrived after its commit was compared", "A-B", "B-B", ""],
    ["nothing, if another push followed it", "A-B B-C", "B-C", ""],
    ["what the handler needs after a push that arrived late", "B-C A-B", "B-C", "B-C"],
    ["what connects a late push to the compared commit after a late force push", "B-A X-D", "D-E", "D-B A-X D-E"],
    ["the creation of a ref", "", "0-A", "0-A"],
    ["the deletion of a ref", "A-B", "A-0", "B-0"],
    ["a deletion and a creation as one change", "", "A-B", "A-B"],
    ["the creation after an accepted deletion", "A-0", "A-B", "0-B"],
  ])("is %s", (_name, accepted, range, expected) => {
    const [{ oldSha: from, newSha: to } = { oldSha: null, newSha: null }] = changes(range);
    const handled = changes(accepted);
    expect(missedRanges(handled, { from, to })).toEqual(
      changes(expected).map(({ oldSha, newSha }) => ({ from: oldSha, to: newSha })),
    );
  });
});

test("What was delivered, in any order, and what is missed lead from the first commit to the last", () => {
  const random = new SeededRandom(1);
  for (let history = 0; history < 5_000; history += 1) {
    const commits = ["start"];
    const pushes: RefChange[] = [];
    for (let count = 1 + random.below(8); count > 0; count -= 1) {
      const newSha = random.chance(0.35) ? random.pick(commits) : `commit ${commits.length}`;
      const oldSha = pushes.at(-1)?.newSha ?? "start";
      if (newSha === oldSha) continue;
      commits.push(newSha);
      pushes.push({ ref, oldSha, newSha });
    }
    const commitAfter = (count: number) => pushes[count - 1]?.newSha ?? "start";
    const compared = random.below(pushes.length + 1);
    const [from, to] = [commitAfter(compared), commitAfter(pushes.length)];
    // The first comparison has derived one change. Deliveries of its pushes can be late, and later ones can be lost.
    const late = pushes.slice(0, compared).filter(({ oldSha, newSha }) => {
      return random.chance(0.35) && !(oldSha === "start" && newSha === from);
    });
    const delivered: RefChange[] = [];
    for (const change of [...late, ...pushes.slice(compared).filter(() => random.chance(0.6))])
      delivered.splice(random.below(delivered.length + 1), 0, change);
    const derived = [{ from: "start", to: from }, ...missedRanges(delivered, { from, to })].map((range) => ({
      ...{ ref, oldSha: range.from, newSha: range.to, origin: "catch-up" },
    }));
    const all = [...derived, ...delivered.map((change) => ({ ...change, origin: "webhook" }))];
    expect(
      isTrail(all, { from: "start", to, forcePushes: true }),
      JSON.stringify({ pushes, compared, delivered }),
    ).toBe(true);
  }
});

test("The ranges of tens of thousands of accepted pushes are followed", () => {
  const accepted = Array.from({ length: 15_000 }, (_, index) => {
    return { ref, oldSha: `${index}`, newSha: `${index + 1}` };
  });
  expect(missedRanges(accepted, { from: "0", to: "15000" })).toEqual([]);
});

describe("The budget of calls", () => {
  test("is a fifth of the rate limit in 5 minutes, and then waits for the next window", async () => {
    let now = 0;
    const waits: number[] = [];
    const budget = new CallBudget({
      limit: 10,
      monotonicNow: () => now,
      wait: async (ms) => {
        waits.push(ms);
        now += ms;
      },
    });
    for (let call = 0; call < 5; call += 1) {
      await budget.take(AbortSignal.timeout(1_000));
      now += 1_000;
    }
    expect(waits).toEqual([298_000, 298_000]);
    expect(budget.shortestInterval(4)).toBe(600_000);
    await expect(budget.take(AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  });

  test.each([
    ['"fixed window";"api";q=2500;w=300', 30_000],
    ['"fixed window";"api";q=500;w=60', 30_000],
    ['"fixed window";"api";q=0;w=300', 75_000],
    ['"fixed window";"api";q=100;w=0', 75_000],
    ["nonsense", 75_000],
  ])("follows the limit of the account in an answer: %s", (policy, expected) => {
    const budget = new CallBudget({ monotonicNow: () => 0, wait: async () => {} });
    budget.adopt(new Headers({ "ratelimit-policy": policy }));
    expect(budget.shortestInterval(50)).toBe(expected);
  });
});

describe("A late delivery after catch-up", () => {
  /** The commits of the main branch, newest first. `X` was removed by a force push. */
  const history = ["E", "D", "C", "B", "A"];

  const uncovered = async (derived: string, late: string) => {
    const { part } = await uncoveredPart(
      { payload: webhookPayload("repo.content", { updatedRefs: changes(late) }), receivedAt: 1 },
      changes(derived).map((change) => ({ at: 0, ref: change })),
      async ({ revision, until }) => {
        const from = history.indexOf(revision);
        const end = until === null ? history.length : history.indexOf(until) + 1;
        return history.slice(from, end);
      },
    );
    return part;
  };

  test.each([
    ["the derived change", "A-C", "A-C"],
    ["the first of the combined pushes", "A-C", "A-B"],
    ["the last of the combined pushes", "A-C", "B-C"],
    ["pushes over two derived changes", "A-B B-D", "A-C"],
    ["a creation before the present commit", "0-C", "0-A"],
    ["the deletion of a ref that was created again", "B-D", "B-0"],
    ["the creation of that ref", "B-D", "0-C"],
    ["a derived change that a later one overwrites", "A-X X-D", "A-X"],
  ])("is covered if it contains %s", async (_name, derived, late) => {
    expect(await uncovered(derived, late)).toBe("nothing");
  });

  test.each([
    ["starts before the derived change", "B-C", "A-B"],
    ["ends after it", "A-C", "C-D"],
    ["starts in it and ends after it", "A-C", "B-D"],
    ["was overwritten by a force push", "A-C", "A-X"],
    ["restores an earlier commit", "A-C", "C-A"],
    ["deletes the ref", "A-C", "C-0"],
    ["creates the ref with the commit from which catch-up started", "A-C", "0-A"],
  ])("is not covered if it %s", async (_name, derived, late) => {
    expect(await uncovered(derived, late)).toBe("all");
  });

  test("is reduced to the refs that are not covered", async () => {
    const other = { ref: "refs/heads/next", oldSha: "A", newSha: "B" };
    const payload = webhookPayload("repo.content", { updatedRefs: [...changes("A-B"), other] });
    const covered = changes("A-C").map((change) => ({ at: 0, ref: change }));
    expect(await uncoveredPart({ payload, receivedAt: 1 }, covered, async () => ["C", "B", "A"])).toMatchObject({
      part: { updatedRefs: [other] },
    });
  });

  test.each<[string, Omit<CoveredChange, "at">, WebhookPayload]>([
    ["a push", { ref: changes("A-C")[0] }, webhookPayload("repo.content", { updatedRefs: changes("C-A") })],
    [
      "a file",
      { files: [["a.csv", "1"]] },
      webhookPayload("repo.content", { updatedFiles: [{ path: "a.csv", action: "delete" }] }),
    ],
    [
      "a change of the visibility",
      { key: "private true" },
      webhookPayload("repo.config", { updatedConfig: { private: false } }),
    ],
    [
      "the creation of a repository",
      { key: "create" },
      webhookPayload("repo", { event: { scope: "repo", action: "delete" } }),
    ],
  ])("undoes %s only if it was received after the change was derived", async (_what, derived, payload) => {
    const covered = [{ at: 2, ...derived }];
    const decide = (receivedAt: number) => uncoveredPart({ payload, receivedAt }, covered, async () => history);
    expect((await decide(1)).covered).toEqual(covered);
    expect((await decide(2)).covered).toEqual([]);
  });
});

test("What is derived replaces an earlier state of a file, also after the clock was set back", () => {
  const change = (at: number, state: string): CoveredChange => ({ at, files: [["a.csv", state]] });
  expect(remember([change(2, "1")], [change(1, "2")], 1)).toEqual([change(1, "2")]);
});
