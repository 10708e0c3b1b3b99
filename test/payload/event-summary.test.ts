import { describe, expect, test } from "vitest";
import { summarizeEvent } from "../../src/payload/event-summary.ts";

describe("What a payload is about", () => {
  test("is summarized by scope, action and repository", () => {
    const body = JSON.stringify({
      event: { scope: "repo.content", action: "update" },
      repo: { type: "dataset", name: "me/data" },
    });
    expect(summarizeEvent(body)).toEqual({
      ...{ what: "repo.content · update", repo: "dataset me/data" },
      parts: { scope: "repo.content", action: "update", repoType: "dataset", repoName: "me/data" },
    });
  });

  test("is summarized from the available fields", () => {
    expect(summarizeEvent(`{"event":{"scope":"repo"}}`)).toMatchObject({
      what: "repo",
      repo: "",
      parts: { scope: "repo" },
    });
    expect(summarizeEvent(`{"event":{"scope":7,"action":"move"},"repo":{"name":["x"]}}`)).toMatchObject({
      ...{ what: "move", repo: "" },
      parts: { scope: undefined, action: "move", repoName: undefined },
    });
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
  ])("is unknown for “%s”", (body) => {
    expect(summarizeEvent(body)).toBeUndefined();
  });

  test("is unknown for a deleted body and for a body that is slow to parse", () => {
    expect(summarizeEvent(undefined)).toBeUndefined();
    const long = JSON.stringify({ event: { scope: "repo" }, files: ["x".repeat(1_000_000)] });
    expect(summarizeEvent(long)).toBeUndefined();
  });

  test("is short, even with long names", () => {
    const long = "n".repeat(10_000);
    const summary = summarizeEvent(JSON.stringify({ event: { scope: long, action: long }, repo: { name: long } }));
    expect(`${summary?.what} ${summary?.repo}`.length).toBeLessThan(400);
  });
});
