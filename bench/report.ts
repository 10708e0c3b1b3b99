/** Returns the median: the middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Smallest to largest. */
export function spread(values: readonly number[], digits = 0): string {
  return `${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)}`;
}

/** Divides value by value, so that a disturbance of a whole round affects both values and cancels out. */
export function pairwise(
  left: readonly number[],
  right: readonly number[],
  combine: (left: number, right: number) => number,
): number[] {
  return left.map((value, index) => combine(value, right[index] ?? Number.NaN));
}

/** One bar of a chart. */
export interface Bar {
  name: string;
  /** The value as a multiple of the reference. */
  ratio: number;
  /** The smallest and largest value of all rounds. */
  low: number;
  high: number;
}

/** Bars that are compared with a reference of 1. */
export interface Chart {
  title: string;
  /** Whether higher or lower values are better. */
  better: "more" | "less";
  bars: readonly Bar[];
}

const markdown: string[] = [];
const charts: Chart[] = [];

/** Returns everything printed so far as Markdown, and its charts. */
export function written(): { markdown: string; charts: readonly Chart[] } {
  return { markdown: markdown.join("\n"), charts };
}

/** A paragraph. */
export function printNote(text: string): void {
  console.log(`\n${text}`);
  markdown.push("", text);
}

/** Prints a block without line wrapping. */
export function printLines(text: string): void {
  console.log(text);
  markdown.push("", "```", text, "```");
}

/** Prints an underlined heading. */
export function printHeading(text: string): void {
  console.log(`\n${text}\n${"-".repeat(text.length)}`);
  markdown.push("", `## ${text}`, "");
}

/** Prints a table with aligned columns: the first left-aligned, and figures right-aligned. */
export function printTable(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = columns.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)));
  for (const row of [columns, ...rows]) {
    const cells = row.map((cell, index) => {
      const width = widths[index] ?? 0;
      return index === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    console.log(cells.join("  ").trimEnd());
  }
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  markdown.push(line(columns), line(columns.map((_, index) => (index === 0 ? "---" : "--:"))), ...rows.map(line));
}

/** Plots the ratios of several subjects, with the range of their rounds. */
export function chart(title: string, better: Chart["better"], ratios: ReadonlyMap<string, readonly number[]>): void {
  const bars = [...ratios].map(([name, values]) => ({
    name,
    ratio: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
  }));
  charts.push({ title, better, bars });
}
