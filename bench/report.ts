/** The middle value; of an even number of them the mean of the middle two. */
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

/** Value by value, so that what slowed a whole round down is in both and cancels out. */
export function pairwise(
  left: readonly number[],
  right: readonly number[],
  combine: (left: number, right: number) => number,
): number[] {
  return left.map((value, index) => combine(value, right[index] ?? Number.NaN));
}

/** What one measurement of a chart shows. */
export interface Bar {
  name: string;
  /** As a multiple of the yardstick's. */
  ratio: number;
  /** The smallest and the largest of all rounds. */
  low: number;
  high: number;
}

/** Bars beside a yardstick, which is 1. */
export interface Chart {
  title: string;
  /** Which direction is the better one. */
  better: "more" | "less";
  bars: readonly Bar[];
}

const markdown: string[] = [];
const charts: Chart[] = [];

/** Everything that was printed so far, as Markdown, and its charts. */
export function written(): { markdown: string; charts: readonly Chart[] } {
  return { markdown: markdown.join("\n"), charts };
}

/** A paragraph. */
export function printNote(text: string): void {
  console.log(`\n${text}`);
  markdown.push("", text);
}

/** A block whose lines stay as they are. */
export function printLines(text: string): void {
  console.log(text);
  markdown.push("", "```", text, "```");
}

/** A heading with a line under it. */
export function printHeading(text: string): void {
  console.log(`\n${text}\n${"-".repeat(text.length)}`);
  markdown.push("", `## ${text}`, "");
}

/** A table with aligned columns: the first to the left, figures to the right. */
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

/** The ratios of several subjects, round by round, for the plot. */
export function chart(title: string, better: Chart["better"], ratios: ReadonlyMap<string, readonly number[]>): void {
  const bars = [...ratios].map(([name, values]) => ({
    name,
    ratio: median(values),
    low: Math.min(...values),
    high: Math.max(...values),
  }));
  charts.push({ title, better, bars });
}
