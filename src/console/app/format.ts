const timeOfDay = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const dayOfYear = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric" });

/** Formats a moment in local time, as short as possible: `14:03:07` for today, otherwise `Nov 22 14:03:07`. */
export function formatMoment(date: Date, today: Date): string {
  const time = timeOfDay.format(date);
  if (date.toDateString() === today.toDateString()) return time;
  return `${(date.getFullYear() === today.getFullYear() ? day : dayOfYear).format(date)} ${time}`;
}

const units = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
] as const;

/**
 * Formats a duration with at most two units.
 *
 * @param options.unit the smallest unit. Default `"ms"`.
 * @example
 * ```ts
 * formatDuration(842); // "842 ms"
 * formatDuration(2_340); // "2.3 s"
 * formatDuration(192_000); // "3 min 12 s"
 * ```
 */
export function formatDuration(ms: number, { unit = "ms" }: { unit?: "ms" | "s" } = {}): string {
  if (unit === "ms" && ms < 999.5) return `${ms < 9.95 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  if (unit === "ms" && ms < 9_950) return `${Math.round(ms / 100) / 10} s`;
  const rounded = Math.round(ms / 1_000) * 1_000;
  const largest = units.find((candidate) => rounded >= candidate.ms);
  if (!largest) return `${rounded / 1_000} s`;
  const count = Math.floor(rounded / largest.ms);
  const rest = rounded - count * largest.ms;
  const next = units[units.indexOf(largest) + 1] ?? { name: "s", ms: 1_000 };
  const nextCount = Math.floor(rest / next.ms);
  return nextCount === 0 ? `${count} ${largest.name}` : `${count} ${largest.name} ${nextCount} ${next.name}`;
}

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

/** Writes a moment for an `<input type="datetime-local">`, in local time. */
export function toLocalInput(at: number | undefined): string {
  if (at === undefined) return "";
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Reads the value of an `<input type="datetime-local">`. */
export function fromLocalInput(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
