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

/** A heading with a line under it. */
export function printHeading(text: string): void {
  console.log(`\n${text}\n${"-".repeat(text.length)}`);
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
}
