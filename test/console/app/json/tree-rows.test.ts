import { describe, expect, test } from "vitest";
import { type JsonNode, parseJson } from "../../../../src/console/app/json/parse.ts";
import { initialState, listRows, showMore, toggle } from "../../../../src/console/app/json/tree.tsx";

function nodesOf(value: unknown): readonly JsonNode[] {
  const parsed = parseJson(JSON.stringify(value));
  return "nodes" in parsed ? parsed.nodes : [];
}

describe("the rows of a tree", () => {
  test("start with everything expanded if there is little", () => {
    const nodes = nodesOf({ a: { b: { c: [1] } } });
    expect(listRows(nodes, initialState(nodes))).toHaveLength(5);
  });

  test("leave out what is collapsed", () => {
    const nodes = nodesOf({ a: { b: 1 }, c: 2 });
    const state = toggle(initialState(nodes), 1, false);
    expect(listRows(nodes, state).map((row) => row.type === "value" && nodes[row.index]?.key)).toEqual([
      undefined,
      "a",
      "c",
    ]);
    expect(listRows(nodes, toggle(state, 1, true))).toHaveLength(4);
  });

  test("show a long list in chunks", () => {
    const nodes = nodesOf(Array.from({ length: 250 }, (_, index) => index));
    const state = initialState(nodes);
    const rows = listRows(nodes, state);
    expect(rows).toHaveLength(102);
    expect(rows.at(-1)).toEqual({ type: "more", parent: 0, depth: 1, rest: 150 });
    expect(listRows(nodes, showMore(state, 0)).at(-1)).toMatchObject({ rest: 50 });
    expect(listRows(nodes, showMore(showMore(state, 0), 0)).at(-1)).toMatchObject({ type: "value", position: 250 });
  });

  test("start with large parts collapsed", () => {
    const nodes = nodesOf({ files: Array.from({ length: 1_000 }, () => ({ path: "x" })), webhook: { id: "1" } });
    expect(listRows(nodes, initialState(nodes))).toHaveLength(4);
  });

  test("are listed for any depth", () => {
    const parsed = parseJson("[".repeat(5_000) + "]".repeat(5_000));
    const nodes = "nodes" in parsed ? parsed.nodes : [];
    const expanded = new Set(nodes.keys());
    expect(listRows(nodes, { expanded, shown: new Map() })).toHaveLength(5_000);
  });
});
