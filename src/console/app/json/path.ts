import type { JsonNode } from "./parse.ts";

/** The keys from the root to a node. */
export function keysOf(nodes: readonly JsonNode[], index: number): (string | number)[] {
  const keys: (string | number)[] = [];
  let node = nodes[index];
  while (node?.key !== undefined) {
    keys.push(node.key);
    node = nodes[node.parent];
  }
  return keys.reverse();
}

/**
 * Writes keys as a JavaScript path.
 *
 * @example
 * ```ts
 * formatPath(["updatedRefs", 0, "ref"]); // "updatedRefs[0].ref"
 * ```
 */
export function formatPath(keys: readonly (string | number)[]): string {
  return keys
    .map((key, index) => {
      if (typeof key === "number") return `[${key}]`;
      if (/^[A-Za-z_$][\w$]*$/.test(key)) return index === 0 ? key : `.${key}`;
      return `[${JSON.stringify(key)}]`;
    })
    .join("");
}

/** Finds the node at a path. If it does not exist, returns the last node on the path that exists. */
export function findNode(nodes: readonly JsonNode[], path: readonly (string | number)[]): number {
  let current = 0;
  for (const key of path) {
    const child = childrenOf(nodes, current).find((index) => String(nodes[index]?.key) === String(key));
    if (child === undefined) return current;
    current = child;
  }
  return current;
}

/** Lists the values directly in a node. */
export function childrenOf(nodes: readonly JsonNode[], index: number): number[] {
  const children: number[] = [];
  const end = nodes[index]?.next ?? 0;
  for (let child = index + 1; child < end; child = nodes[child]?.next ?? end) children.push(child);
  return children;
}

/** Returns the line of a position, counted from 1, and the column. */
export function locate(text: string, position: number): { line: number; column: number } {
  const before = text.slice(0, position);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: position - lineStart + 1 };
}
