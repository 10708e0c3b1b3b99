import type { FieldProblem } from "../../protocol/session.ts";
import { parseJson } from "./parse.ts";
import { findNode, formatPath, locate } from "./path.ts";

/** A problem at a place in a text. */
export interface TextProblem {
  /** Counted from 1. */
  line: number;
  /** The position in the text. */
  position: number;
  message: string;
}

/** Finds the first syntax error of a JSON text. */
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
