import { describe, expect, test } from "vitest";
import { summarizeEvent } from "../../src/payload/names.ts";

describe("The summary of a payload", () => {
  test("contains the event and the repository", () => {
    const body = JSON.stringify({
      event: { scope: "repo.content", action: "update" },
      repo: { type: "dataset", name: "me/data", url: { web: "https://huggingface.co/datasets/me/data" } },
    });
    expect(summarizeEvent(body)).toEqual({
      scope: "repo.content",
      action: "update",
      repoType: "dataset",
      repoName: "me/data",
      repoUrl: "https://huggingface.co/datasets/me/data",
    });
  });

  test.for([
    [`{"event":{"scope":"repo"}}`, { scope: "repo" }],
    [`{"event":{"scope":7,"action":"move"},"repo":{"name":["x"]}}`, { action: "move" }],
    [`{"event":{"scope":""},"repo":{"name":"me/data","url":"x"}}`, { repoName: "me/data" }],
  ] as const)("contains only the fields that are texts: %s", ([body, summary]) => {
    expect(summarizeEvent(body)).toEqual(summary);
  });

  test.for([
    [{ discussion: { num: 3 } }, "#3"],
    [{ updatedRefs: [{ ref: "refs/heads/main" }] }, "main"],
    [{ updatedRefs: [{ ref: "refs/heads/feature/a" }] }, "feature/a"],
    [{ updatedRefs: [{ ref: "refs/tags/v1.0" }] }, "v1.0"],
    [{ updatedRefs: [{ ref: "refs/pr/3" }] }, "#3"],
    [{ updatedRefs: [{ ref: "refs/convert/parquet" }] }, "refs/convert/parquet"],
    [{ updatedRefs: [{ ref: "refs/heads/main" }, { ref: "refs/pr/1" }, { ref: "refs/pr/2" }] }, "main +2"],
    [{ updatedRefs: [] }, undefined],
    [{ updatedRefs: [{ ref: 7 }, { ref: "refs/heads/main" }] }, undefined],
    [{ updatedRefs: "refs/heads/main", discussion: { num: "3" } }, undefined],
  ] as const)("names the part of the repository: %j is %s", ([payload, subject]) => {
    expect(summarizeEvent(JSON.stringify(payload)).subject).toBe(subject);
  });

  test.each([
    "",
    "not JSON",
    "null",
    "[]",
    "7",
    `{"event":null}`,
    `{"event":"update"}`,
    `{"event":{"scope":{}}}`,
    `{"__proto__":{"event":{"scope":"x"}}}`,
    "[".repeat(99),
  ])("is empty for “%s”", (body) => {
    expect(summarizeEvent(body)).toEqual({});
  });

  test("is empty for a deleted body and for a body that is slow to parse", () => {
    expect(summarizeEvent(undefined)).toEqual({});
    const long = JSON.stringify({ event: { scope: "repo" }, files: ["x".repeat(1_000_000)] });
    expect(summarizeEvent(long)).toEqual({});
  });

  test("shortens long names, and omits a long URL", () => {
    const long = "n".repeat(10_000);
    const repo = { type: long, name: long, url: { web: `https://example.org/${long}` } };
    const short = `${"n".repeat(199)}…`;
    const summary = { scope: short, action: short, repoType: short, repoName: short };
    expect(summarizeEvent(JSON.stringify({ event: { scope: long, action: long }, repo }))).toEqual(summary);
  });
});
