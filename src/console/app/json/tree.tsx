import { useMemo, useRef, useState } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import { formatCount } from "../format.ts";
import { CopyButton, Icon, Text } from "../ui.tsx";
import { childrenOf, formatPath, type JsonNode, keysOf, parseJson } from "./parse.ts";
import "./json.css";

const maxIndent = 24;
const maxShownString = 400;

/**
 * Shows a JSON text as a collapsible tree. Arrow keys move in it as in a tree of files. A text that is not JSON is shown as
 * it is.
 */
export function JsonTree({ text, label }: { text: string; label: string }) {
  const parsed = useMemo(() => parseJson(text), [text]);
  if ("problem" in parsed) return <pre class="json-raw">{escapeHidden(text)}</pre>;
  return <Tree key={text} text={text} nodes={parsed.nodes} label={label} />;
}

function Tree({ text, nodes, label }: { text: string; nodes: readonly JsonNode[]; label: string }) {
  const [state, setState] = useState<TreeState>(() => initialState(nodes));
  const [selected, setSelected] = useState(0);
  const tree = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => listRows(nodes, state), [nodes, state]);

  const focusRow = (row: TreeRow | undefined) => {
    const index = row && rows.indexOf(row);
    if (row === undefined || index === undefined) return;
    setSelected(index);
    const element = tree.current?.children[index];
    if (element instanceof HTMLElement) element.focus();
  };
  const activate = (row: TreeRow) => {
    if (row.type === "more") setState(showMore(state, row.parent));
    else if (isExpandable(nodes[row.index])) setState(toggle(state, row.index, !state.expanded.has(row.index)));
  };
  const handleKey = (event: KeyboardEvent) => {
    const row = rows[selected];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = moves[event.key];
    if (event.key === "Enter" || event.key === " ") activate(row);
    else if (event.key === "ArrowRight" && canChange(row, false)) activate(row);
    else if (event.key === "ArrowLeft" && canChange(row, true)) activate(row);
    else if (event.key === "ArrowLeft") focusRow(findParentRow(rows, nodes, row));
    else if (move) focusRow(rows[move(selected, rows.length)]);
    else return;
    event.preventDefault();
  };
  const canChange = (row: TreeRow, isExpanded: boolean) =>
    row.type === "value" && isExpandable(nodes[row.index]) && state.expanded.has(row.index) === isExpanded;

  const current = rows[selected];
  const currentIndex = current?.type === "value" ? current.index : 0;
  return (
    <>
      <TreeTools text={text} nodes={nodes} index={currentIndex} />
      <div class="json-tree" role="tree" aria-label={label} ref={tree}>
        {rows.map((row, position) => (
          <Row
            key={row.type === "value" ? row.index : `more-${row.parent}`}
            row={row}
            text={text}
            nodes={nodes}
            isExpanded={row.type === "value" && state.expanded.has(row.index)}
            isSelected={position === selected}
            onKeyDown={handleKey}
            onActivate={() => {
              setSelected(position);
              activate(row);
            }}
          />
        ))}
      </div>
    </>
  );
}

/** Copies the selected value or its path. Buttons are not allowed in a tree. */
function TreeTools({ text, nodes, index }: { text: string; nodes: readonly JsonNode[]; index: number }) {
  const node = nodes[index];
  const path = formatPath(keysOf(nodes, index));
  if (!node) return null;
  return (
    <div class="json-tools">
      <code>{path === "" ? <span class="quiet">Select a value</span> : <Text value={path} />}</code>
      {path !== "" && <CopyButton text={path} label="Copy path" isNamed />}
      <CopyButton text={() => copiedValue(node, text)} label={path === "" ? "Copy all" : "Copy value"} isNamed />
    </div>
  );
}

/** The keys that move to another row. */
const moves: Readonly<Record<string, (from: number, length: number) => number>> = {
  ArrowDown: (from, length) => Math.min(from + 1, length - 1),
  ArrowRight: (from, length) => Math.min(from + 1, length - 1),
  ArrowUp: (from) => Math.max(from - 1, 0),
  Home: () => 0,
  End: (_, length) => length - 1,
};

function findParentRow(rows: readonly TreeRow[], nodes: readonly JsonNode[], row: TreeRow): TreeRow | undefined {
  const parent = row.type === "more" ? row.parent : nodes[row.index]?.parent;
  return rows.find((candidate) => candidate.type === "value" && candidate.index === parent);
}

function isExpandable(node: JsonNode | undefined): boolean {
  return node !== undefined && node.size > 0;
}

interface RowProps {
  row: TreeRow;
  text: string;
  nodes: readonly JsonNode[];
  isExpanded: boolean;
  isSelected: boolean;
  onKeyDown: (event: KeyboardEvent) => void;
  onActivate: () => void;
}

function Row({ row, text, nodes, isExpanded, isSelected, onKeyDown, onActivate }: RowProps) {
  const node = row.type === "value" ? nodes[row.index] : undefined;
  const depth = row.type === "more" ? row.depth : (node?.depth ?? 0);
  const canExpand = isExpandable(node);
  return (
    <div
      class="json-row"
      role="treeitem"
      aria-level={depth + 1}
      aria-setsize={row.type === "value" ? row.siblings : undefined}
      aria-posinset={row.type === "value" ? row.position : undefined}
      aria-expanded={canExpand ? isExpanded : undefined}
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      style={{ "--depth": Math.min(depth, maxIndent) }}
      onKeyDown={onKeyDown}
      onClick={onActivate}
    >
      <span class="json-toggle" data-expanded={isExpanded}>
        {canExpand && <Icon name="chevron" />}
      </span>
      <span class="json-content">
        {row.type === "more" && <span class="json-more">Show more ({formatCount(row.rest)} hidden)</span>}
        {node?.key !== undefined && (
          <>
            <bdi class={typeof node.key === "number" ? "json-mark" : "json-key"}>{escapeHidden(String(node.key))}</bdi>
            <span class="json-mark">: </span>
          </>
        )}
        {node && <Value node={node} text={text} isExpanded={isExpanded} />}
      </span>
    </div>
  );
}

function Value({ node, text, isExpanded }: { node: JsonNode; text: string; isExpanded: boolean }) {
  if (node.kind === "object" || node.kind === "array") {
    const [open, close] = node.kind === "object" ? "{}" : "[]";
    if (isExpanded) return <span class="json-mark">{open}</span>;
    const parts = node.kind === "object" ? "keys" : "items";
    return (
      <span class="json-mark">
        {node.size === 0 ? `${open}${close}` : `${open}…${close}`}
        {node.size > 0 && ` ${node.size} ${node.size === 1 ? parts.slice(0, -1) : parts}`}
      </span>
    );
  }
  const source = text.slice(node.start, Math.min(node.end, node.start + maxShownString));
  return (
    <bdi class={`json-${node.kind}`}>
      {escapeHidden(source)}
      {node.end - node.start > maxShownString && "…"}
    </bdi>
  );
}

/** A string is copied without quotes, because it is pasted elsewhere. */
function copiedValue({ kind, start, end }: JsonNode, text: string): string {
  const source = text.slice(start, end);
  if (kind !== "string") return source;
  const value: string = JSON.parse(source);
  return value;
}

interface TreeState {
  /** The indexes of the objects and arrays that are expanded. */
  expanded: ReadonlySet<number>;
  /** How many parts of a long object or array are shown, if more than {@link chunkSize}. */
  shown: ReadonlyMap<number, number>;
}

/** A row of the tree: a value, or the button that shows more values of a long object or array. */
type TreeRow =
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
