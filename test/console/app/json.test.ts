import { describe, expect, test } from "vitest";
import { breakLine, indent, outdent } from "../../../src/console/app/json/editor.tsx";
import {
  findNode,
  findSyntaxProblem,
  formatPath,
  type JsonNode,
  keepUnchanged,
  keysOf,
  locate,
  parseJson,
  placeFieldProblems,
} from "../../../src/console/app/json/parse.ts";
import { initialState, listRows, showMore, toggle } from "../../../src/console/app/json/tree.tsx";

function nodesOf(text: string): readonly JsonNode[] {
  const parsed = parseJson(text);
  if ("problem" in parsed) throw new Error(parsed.problem.message);
  return parsed.nodes;
}

const partsOf = (text: string) => nodesOf(text).map(({ start, end }) => text.slice(start, end));

describe("The parser", () => {
  test("lists values in the order of the text, with their place in it", () => {
    const text = ' {"a": [1, -2.5e3], "b\\n": {}} ';
    const nodes = nodesOf(text).map(({ kind, key, parent, depth, size, next }) => [
      kind,
      key,
      parent,
      depth,
      size,
      next,
    ]);
    expect(nodes).toEqual([
      ["object", undefined, -1, 0, 2, 5],
      ["array", "a", 0, 1, 2, 4],
      ["number", 0, 1, 2, 0, 3],
      ["number", 1, 1, 2, 0, 4],
      ["object", "b\n", 0, 1, 0, 5],
    ]);
    expect(partsOf(text)).toEqual([text.trim(), "[1, -2.5e3]", "1", "-2.5e3", "{}"]);
  });

  test("keeps large numbers and duplicate keys", () => {
    const text = '{"id":12345678901234567890,"id":null}';
    expect(partsOf(text)).toEqual([text, "12345678901234567890", "null"]);
  });

  test("reads a payload of any depth", () => {
    const depth = 100_000;
    const nodes = nodesOf("[".repeat(depth) + "]".repeat(depth));
    expect([nodes.at(-1)?.depth, nodes[0]?.next]).toEqual([depth - 1, depth]);
  });

  test.each(["1", '"a\\u0041\\""', "true", "[]", "{}", ' [ 1 , "x" ] ', '{"":0}'])("accepts %s", (text) => {
    JSON.parse(text);
    expect(nodesOf(text).length).toBeGreaterThan(0);
  });

  test.each([
    ...([
      ["", 0],
      ["{", 1],
      ['{"a" 1}', 5],
      ['{"a":1, }', 6],
      ["[1 2]", 3],
      ["[1,\n]", 2],
      ["01", 1],
    ] as const),
    ...([
      ["{a:1}", 1],
      ["'a'", 0],
      ['"a', 2],
      ['"a\n"', 2],
      ['"\\x"', 1],
      ["[1]]", 3],
      ["nul", 0],
      ["{]", 1],
    ] as const),
  ])("reports where %j is not JSON", (text, position) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(parseJson(text)).toMatchObject({ problem: { position } });
  });

  test("finds a value by its path, or the nearest one", () => {
    const nodes = nodesOf('{"repo":{"tags":["a",{"x y":1}]},"x":2}');
    const path = ["repo", "tags", 1, "x y"];
    expect(keysOf(nodes, findNode(nodes, path))).toEqual(path);
    expect(formatPath(path)).toBe('repo.tags[1]["x y"]');
    expect(keysOf(nodes, findNode(nodes, ["repo", "missing", "deeper"]))).toEqual(["repo"]);
  });

  test("counts lines and columns from 1", () => {
    expect([0, 4].map((position) => locate("ab\ncd", position))).toEqual([
      { line: 1, column: 1 },
      { line: 2, column: 2 },
    ]);
  });
});

describe("Problems", () => {
  const text = '{\n  "repo": {\n    "type": "dataset"\n  }\n}';
  const unknownType = { path: ["repo", "type"], problem: "is unknown" };

  test("of the syntax have a line", () => {
    expect(findSyntaxProblem(text)).toBeUndefined();
    expect(findSyntaxProblem(text.replace('"dataset"', "dataset"))).toMatchObject({ line: 3, position: 26 });
  });

  test("of fields are at the lines of the fields", () => {
    const missingName = { path: ["repo", "name"], problem: "is missing" };
    const problems = placeFieldProblems(text, [unknownType, missingName, { path: [], problem: "is too large" }]);
    expect(problems.map(({ line, message }) => [line, message])).toEqual([
      [3, "repo.type: is unknown"],
      [2, "repo.name: is missing"],
      [1, "is too large"],
    ]);
  });

  test("of fields stay until the fields are edited", () => {
    const fields = [unknownType, { path: ["x"], problem: "is missing" }];
    expect(keepUnchanged(fields, { sent: text, current: text })).toEqual(fields);
    expect(keepUnchanged(fields, { sent: text, current: text.replace("dataset", "model") })).toEqual([]);
  });
});

describe("The rows of a tree", () => {
  const treeOf = (value: unknown) => {
    const nodes = nodesOf(JSON.stringify(value));
    return { nodes, state: initialState(nodes) };
  };

  test("are all expanded if there are few, without those that are collapsed", () => {
    const { nodes, state } = treeOf({ a: { b: { c: [1] } }, d: 2 });
    expect(listRows(nodes, state)).toHaveLength(6);
    const collapsed = toggle(state, 1, false);
    const keys = listRows(nodes, collapsed).map((row) => row.type === "value" && nodes[row.index]?.key);
    expect(keys).toEqual([undefined, "a", "d"]);
    expect(listRows(nodes, toggle(collapsed, 1, true))).toHaveLength(6);
  });

  test("show a long list in chunks", () => {
    const { nodes, state } = treeOf(Array.from({ length: 250 }, (_, index) => index));
    const rows = listRows(nodes, state);
    expect(rows).toHaveLength(102);
    expect(rows.at(-1)).toEqual({ type: "more", parent: 0, depth: 1, rest: 150 });
    expect(listRows(nodes, showMore(state, 0)).at(-1)).toMatchObject({ rest: 50 });
    expect(listRows(nodes, showMore(showMore(state, 0), 0)).at(-1)).toMatchObject({ type: "value", position: 250 });
  });

  test("start with large parts collapsed", () => {
    const { nodes, state } = treeOf({
      files: Array.from({ length: 1_000 }, () => ({ path: "x" })),
      webhook: { id: "1" },
    });
    expect(listRows(nodes, state)).toHaveLength(4);
  });

  test("are listed for any depth", () => {
    const nodes = nodesOf("[".repeat(5_000) + "]".repeat(5_000));
    expect(listRows(nodes, { expanded: new Set(nodes.keys()), shown: new Map() })).toHaveLength(5_000);
  });
});

test.each([
  ["inserts spaces at the caret", indent, ["ab", 1, 1], ["a  b", 3, 3]],
  ["indents all selected lines", indent, ["a\nb\nc", 0, 3], ["  a\n  b\nc", 2, 7]],
  ["removes one level of the selected lines", outdent, ["    a\n b\nc", 4, 10], ["  a\nb\nc", 2, 7]],
  ["removes one level without a selection", outdent, ["  a", 3, 3], ["a", 1, 1]],
  ["keeps the indent in a new line", breakLine, ['  "a": 1', 8, 8], ['  "a": 1\n  ', 11, 11]],
  ["indents after a bracket, and closes it on a line", breakLine, ["  {}", 3, 3], ["  {\n    \n  }", 8, 8]],
] as const)("The editor %s", (_what, edit, [text, start, end], expected) => {
  const edited = edit({ text, start, end });
  expect([edited.text, edited.start, edited.end]).toEqual(expected);
});
