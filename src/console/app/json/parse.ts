import type { FieldProblem } from "../../protocol/session.ts";

/** A value in a JSON text. Nodes are listed in the order of the text, so the parts of a value follow it. */
export interface JsonNode {
  kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  /** The key in its object, unescaped, or the index in its array. Missing for the root. */
  key?: string | number;
  /** The index of the object or array that contains it; `-1` for the root. */
  parent: number;
  depth: number;
  /** The position of the value in the text. */
  start: number;
  /** The position after the value. */
  end: number;
  /** The number of values directly in it. */
  size: number;
  /** The index of the first node after it and its parts. */
  next: number;
}

type ParsedJson = { nodes: readonly JsonNode[] } | { problem: { message: string; position: number } };

const numberOrWord = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const plainCharacters = /[^"\\\u0000-\u001f]*/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const space = /[ \t\n\r]*/y;

class JsonSyntaxError extends Error {
  readonly position: number;
  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/**
 * Parses a JSON text into a flat list of its values. Unlike `JSON.parse`, it keeps positions, large numbers, and duplicate
 * keys, and it has no limit of depth.
 */
export function parseJson(text: string): ParsedJson {
  try {
    return { nodes: new JsonReader(text).read() };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { problem: { message: error.message, position: error.position } };
    throw error;
  }
}

class JsonReader {
  readonly #text: string;
  readonly #nodes: JsonNode[] = [];
  /** The index of the innermost open object or array. */
  #open = -1;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): readonly JsonNode[] {
    this.#readValue();
    while (this.#open !== -1) this.#readItem();
    this.#skip(space);
    if (this.#position < this.#text.length) throw this.#fail("Unexpected text after the end of the JSON value");
    return this.#nodes;
  }

  /** Reads the next part of the innermost object or array, or its end. */
  #readItem(): void {
    const container = this.#nodes[this.#open];
    if (!container) return;
    const close = container.kind === "object" ? "}" : "]";
    this.#skip(space);
    if (this.#text[this.#position] === close) {
      this.#position += 1;
      this.#close(container);
      return;
    }
    if (container.size > 0) {
      if (this.#text[this.#position] !== ",") throw this.#fail(`Expected "," or "${close}"`);
      const comma = this.#position;
      this.#position += 1;
      this.#skip(space);
      if (this.#text[this.#position] === close) throw this.#fail(`Unexpected "," before "${close}"`, comma);
    }
    if (container.kind === "array") {
      this.#readValue(container.size);
      return;
    }
    if (this.#text[this.#position] !== '"') throw this.#fail("Expected a key in double quotes");
    const key: string = JSON.parse(this.#readScalar());
    this.#skip(space);
    if (this.#text[this.#position] !== ":") throw this.#fail('Expected ":" after the key');
    this.#position += 1;
    this.#readValue(key);
  }

  #readValue(key?: string | number): void {
    this.#skip(space);
    const parent = this.#open;
    const container = this.#nodes[parent];
    if (container) container.size += 1;
    const start = this.#position;
    const first = this.#text[start];
    const index = this.#nodes.length;
    const isContainer = first === "{" || first === "[";
    if (isContainer) this.#position += 1;
    else this.#readScalar();
    this.#nodes.push({
      kind: kindOf(first),
      ...(key !== undefined && { key }),
      parent,
      depth: container ? container.depth + 1 : 0,
      start,
      end: this.#position,
      size: 0,
      next: index + 1,
    });
    if (isContainer) this.#open = index;
  }

  #close(container: JsonNode): void {
    container.end = this.#position;
    container.next = this.#nodes.length;
    this.#open = container.parent;
  }

  #readScalar(): string {
    const start = this.#position;
    if (this.#text[start] === '"') this.#readString();
    else if (this.#skip(numberOrWord) === 0) throw this.#fail(this.#describeUnexpected());
    return this.#text.slice(start, this.#position);
  }

  #readString(): void {
    this.#position += 1;
    for (;;) {
      this.#skip(plainCharacters);
      const character = this.#text[this.#position];
      if (character === '"') break;
      if (character === undefined || character === "\n") throw this.#fail("This string is not closed");
      if (character !== "\\") throw this.#fail("Control characters in strings must be escaped");
      if (this.#skip(escapeSequence) === 0) throw this.#fail("This escape sequence is invalid");
    }
    this.#position += 1;
  }

  /** Skips what a sticky pattern matches. Returns its length. */
  #skip(pattern: RegExp): number {
    pattern.lastIndex = this.#position;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#position += length;
    return length;
  }

  #describeUnexpected(): string {
    const character = this.#text[this.#position];
    if (character === undefined) return "Unexpected end of the text";
    if (character === "'") return "Use double quotes";
    return "Expected a JSON value";
  }

  #fail(message: string, position = this.#position): JsonSyntaxError {
    return new JsonSyntaxError(`${message}.`, position);
  }
}

function kindOf(first: string | undefined): JsonNode["kind"] {
  if (first === "{") return "object";
  if (first === "[") return "array";
  if (first === '"') return "string";
  if (first === "t" || first === "f") return "boolean";
  return first === "n" ? "null" : "number";
}

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

export interface TextProblem {
  /** Counted from 1. */
  line: number;
  position: number;
  message: string;
}

export function findSyntaxProblem(text: string): TextProblem | undefined {
  const parsed = parseJson(text);
  if (!("problem" in parsed)) return undefined;
  const { position, message } = parsed.problem;
  return { line: locate(text, position).line, position, message };
}

/** Finds the lines of invalid fields. A missing field is shown where its object starts. */
export function placeFieldProblems(text: string, fields: readonly FieldProblem[]): TextProblem[] {
  const parsed = parseJson(text);
  const nodes = "nodes" in parsed ? parsed.nodes : [];
  return fields.map(({ path, problem }) => {
    const position = nodes[findNode(nodes, path)]?.start ?? 0;
    const name = formatPath(path);
    return {
      line: locate(text, position).line,
      position,
      message: name === "" ? problem : `${name}: ${problem}`,
    };
  });
}

/** Keeps the problems of the fields that have not changed since the text was sent. */
export function keepUnchanged(
  fields: readonly FieldProblem[],
  { sent, current }: { sent: string; current: string },
): readonly FieldProblem[] {
  const [before, after] = [parseJson(sent), parseJson(current)];
  if (!("nodes" in before) || !("nodes" in after)) return fields;
  return fields.filter(({ path }) => {
    const [was, is] = [before.nodes[findNode(before.nodes, path)], after.nodes[findNode(after.nodes, path)]];
    return was && is && sent.slice(was.start, was.end) === current.slice(is.start, is.end);
  });
}
