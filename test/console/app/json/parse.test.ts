import { describe, expect, test } from "vitest";
import {
  findNode,
  formatPath,
  type JsonNode,
  keysOf,
  locate,
  parseJson,
} from "../../../../src/console/app/json/parse.ts";

function nodesOf(text: string): readonly JsonNode[] {
  const parsed = parseJson(text);
  if ("problem" in parsed) throw new Error(parsed.problem.message);
  return parsed.nodes;
}

describe("parseJson", () => {
  test("lists values in the order of the text, with their place in it", () => {
    const text = ' {"a": [1, -2.5e3], "b\\n": {}} ';
    const nodes = nodesOf(text);
    expect(nodes.map(({ kind, key, parent, depth, size, next }) => ({ kind, key, parent, depth, size, next }))).toEqual(
      [
        { kind: "object", key: undefined, parent: -1, depth: 0, size: 2, next: 5 },
        { kind: "array", key: "a", parent: 0, depth: 1, size: 2, next: 4 },
        { kind: "number", key: 0, parent: 1, depth: 2, size: 0, next: 3 },
        { kind: "number", key: 1, parent: 1, depth: 2, size: 0, next: 4 },
        { kind: "object", key: "b\n", parent: 0, depth: 1, size: 0, next: 5 },
      ],
    );
    expect(nodes.map(({ start, end }) => text.slice(start, end))).toEqual([
      text.trim(),
      "[1, -2.5e3]",
      "1",
      "-2.5e3",
      "{}",
    ]);
  });

  test("keeps large numbers and duplicate keys", () => {
    const text = '{"id":12345678901234567890,"id":null}';
    expect(nodesOf(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      text,
      "12345678901234567890",
      "null",
    ]);
  });

  test("reads a payload of any depth", () => {
    const depth = 100_000;
    const nodes = nodesOf("[".repeat(depth) + "]".repeat(depth));
    expect(nodes.at(-1)?.depth).toBe(depth - 1);
    expect(nodes[0]?.next).toBe(depth);
  });

  test.each(["1", '"a\\u0041\\""', "true", "[]", "{}", ' [ 1 , "x" ] ', '{"":0}'])(
    "accepts %s like JSON.parse",
    (text) => {
      JSON.parse(text);
      expect(nodesOf(text).length).toBeGreaterThan(0);
    },
  );

  test.each([
    ["", 0],
    ["{", 1],
    ['{"a" 1}', 5],
    ['{"a":1, }', 6],
    ["[1 2]", 3],
    ["[1,\n]", 2],
    ["01", 1],
    ["{a:1}", 1],
    ["'a'", 0],
    ['"a', 2],
    ['"a\n"', 2],
    ['"\\x"', 1],
    ["[1]]", 3],
    ["nul", 0],
    ["{]", 1],
  ])("reports where %j is not JSON", (text, position) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(parseJson(text)).toMatchObject({ problem: { position } });
  });
});

describe("paths", () => {
  const text = '{"repo":{"tags":["a",{"x y":1}]},"x":2}';
  const nodes = nodesOf(text);

  test("find a value, which has the same path", () => {
    const path = ["repo", "tags", 1, "x y"];
    const index = findNode(nodes, path);
    expect(keysOf(nodes, index)).toEqual(path);
    expect(formatPath(path)).toBe('repo.tags[1]["x y"]');
  });

  test("find the nearest value if the path does not exist", () => {
    expect(keysOf(nodes, findNode(nodes, ["repo", "missing", "deeper"]))).toEqual(["repo"]);
  });
});

test("locate counts lines and columns from 1", () => {
  expect(locate("ab\ncd", 0)).toEqual({ line: 1, column: 1 });
  expect(locate("ab\ncd", 4)).toEqual({ line: 2, column: 2 });
});
