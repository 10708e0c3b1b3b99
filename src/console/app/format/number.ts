const grouped = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Formats a count: `12,345`. */
export function formatCount(count: number): string {
  return grouped.format(count);
}

/** Formats a count where there is little space: `12.3K`. */
export function formatCompact(count: number): string {
  return count < 10_000 ? grouped.format(count) : compact.format(count);
}

/** Formats a count with its noun: `1 delivery`, `12 deliveries`. */
export function formatPlural(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
