import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/local-hub/store/store.ts";

function openJobs() {
  const store = openStore({});
  onTestFinished(() => store.close());
  const definition = { flavor: "cpu-basic", environment: {}, timeoutSeconds: null, attempts: 1 } as const;
  const add = (id: string) => {
    const account = { owner: "local-user", createdBy: "local-user" };
    store.jobs.add({ ...account, id, createdAt: 0, definition, secretNames: [], stage: "RUNNING", message: null }, {});
  };
  return { jobs: store.jobs, add };
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ timestamp: 0, data: String(from + index) }));

describe("The output of a job", () => {
  test("keeps the newest 10,000 lines", () => {
    const { jobs, add } = openJobs();
    add("a");
    jobs.addLines("a", lines(1, 9_999));
    jobs.addLines("a", lines(10_000, 10_050));
    const kept = jobs.lines("a", { after: 0, limit: 20_000 }).map(({ data }) => data);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([10_000, "51", "10050"]);
    expect(jobs.lineCount("a")).toBe(10_050);
  });

  test("is read in parts, and separately for each job", () => {
    const { jobs, add } = openJobs();
    for (const id of ["a", "b"]) add(id);
    jobs.addLines("a", lines(1, 3));
    jobs.addLines("b", lines(7, 7));
    expect(jobs.lines("a", { after: 1, limit: 1 })).toEqual([{ number: 2, timestamp: 0, data: "2" }]);
    expect(jobs.lines("b", { after: 0, limit: 9 })).toEqual([{ number: 1, timestamp: 0, data: "7" }]);
  });

  test("is deleted with its job, and ignored for a deleted job", () => {
    const { jobs, add } = openJobs();
    add("first");
    jobs.addLines("first", lines(1, 2));
    for (let count = 0; count < 1_000; count += 1) add(String(count));
    expect(jobs.get("first")).toBeUndefined();
    jobs.addLines("first", lines(3, 3));
    expect(jobs.lines("first", { after: 0, limit: 9 })).toEqual([]);
  });
});
