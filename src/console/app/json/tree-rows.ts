import type { JsonNode } from "./parse.ts";
import { childrenOf } from "./path.ts";

/** Which parts of a tree are visible. */
export interface TreeState {
  /** The indexes of the objects and arrays that are expanded. */
  expanded: ReadonlySet<number>;
  /** How many parts of a long object or array are shown, if more than {@link chunkSize}. */
  shown: ReadonlyMap<number, number>;
}

/** A row of the tree: a value, or the button that shows more values of a long object or array. */
export type TreeRow =
  | { type: "value"; index: number; position: number; siblings: number }
  | { type: "more"; parent: number; depth: number; rest: number };

/** A long object or array is shown in chunks. */
const chunkSize = 100;

const maxExpandedNodes = 150;

/** Expands the root, and what is in it as long as the tree stays short. */
export function initialState(nodes: readonly JsonNode[]): TreeState {
  const expanded = new Set<number>();
  let rows = 1;
  let level = nodes.length > 0 ? [0] : [];
  // Level by level, so that the outer values are visible first.
  while (level.length > 0 && rows < maxExpandedNodes) {
    const next: number[] = [];
    for (const index of level) {
      const size = nodes[index]?.size ?? 0;
      if (size === 0 || (index !== 0 && rows + size > maxExpandedNodes)) continue;
      expanded.add(index);
      rows += Math.min(size, chunkSize);
      next.push(...childrenOf(nodes, index).slice(0, chunkSize));
    }
    level = next;
  }
  return { expanded, shown: new Map() };
}

/** Lists the visible rows in their order. */
export function listRows(nodes: readonly JsonNode[], { expanded, shown }: TreeState): TreeRow[] {
  const rows: TreeRow[] = [];
  if (nodes.length === 0) return rows;
  // A stack instead of recursion: the depth of a payload is not limited.
  const stack: TreeRow[] = [{ type: "value", index: 0, position: 1, siblings: 1 }];
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    if (row.type === "value" && expanded.has(row.index)) stack.push(...listParts(nodes, row.index, shown).reverse());
  }
  return rows;
}

function listParts(nodes: readonly JsonNode[], parent: number, shown: TreeState["shown"]): TreeRow[] {
  const children = childrenOf(nodes, parent);
  const count = shown.get(parent) ?? chunkSize;
  const rows: TreeRow[] = children
    .slice(0, count)
    .map((index, position) => ({ type: "value", index, position: position + 1, siblings: children.length }));
  if (children.length > count) {
    rows.push({ type: "more", parent, depth: (nodes[parent]?.depth ?? 0) + 1, rest: children.length - count });
  }
  return rows;
}

/** Expands or collapses a node. */
export function toggle(state: TreeState, index: number, isExpanded: boolean): TreeState {
  const expanded = new Set(state.expanded);
  if (isExpanded) expanded.add(index);
  else expanded.delete(index);
  return { ...state, expanded };
}

/** Shows the next chunk of a long object or array. */
export function showMore(state: TreeState, parent: number): TreeState {
  const shown = new Map(state.shown);
  shown.set(parent, (shown.get(parent) ?? chunkSize) + chunkSize);
  return { ...state, shown };
}
