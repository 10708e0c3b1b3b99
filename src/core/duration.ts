import { optionError } from "./option-error.ts";

/** Milliseconds per unit of a {@link Duration}. */
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

type Unit = keyof typeof unitMs;
type LeadingZeros = "" | "0" | "00" | "000";
type NonZeroDigit = "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";

// The type `${number}${Unit}` would accept "-5s", "25 s", and "1e3s". A `bigint` has no spaces or exponent, and the
// first character excludes a sign.
type DurationText = (`${NonZeroDigit}${string}` | `0.${string}`) &
  (`${bigint}${Unit}` | `${bigint}.${LeadingZeros}${bigint}${Unit}`);

/**
 * A duration longer than zero: a number of milliseconds, or a string with a unit (`ms`, `s`, `m`, `h`, `d`), such as
 * `"250ms"`, `"25s"`, `"10m"`, `"1.5h"`, or `"14d"`. The maximum is 24 days, because a JavaScript timer cannot wait
 * longer.
 */
export type Duration = number | DurationText;

/** The maximum delay of a JavaScript timer, about 24.8 days. A timer with a longer delay fires immediately. */
export const maxTimerMs = 2_147_483_647;

/**
 * Converts a {@link Duration} to whole milliseconds.
 *
 * @throws `OPTION_INVALID` when the duration is invalid. The message includes `option`.
 * @example
 * ```ts
 * toMilliseconds("10m", "timeout"); // 600000
 * ```
 */
export function toMilliseconds(duration: Duration, option: string): number {
  const milliseconds = Math.round(typeof duration === "number" ? duration : parseDuration(duration));
  if (milliseconds > 0 && milliseconds <= maxTimerMs) return milliseconds;
  throw optionError({
    option,
    value: duration,
    expected: 'a number of milliseconds, or a duration such as "250ms", "25s", or "10m", above zero and up to 24 days',
  });
}

/** Whether a value is a valid {@link Duration}. */
export function isDuration(value: unknown): value is Duration {
  const milliseconds = Math.round(typeof value === "number" ? value : parseDuration(value));
  return milliseconds > 0 && milliseconds <= maxTimerMs;
}

function parseDuration(duration: unknown): number {
  const [, count, unit] =
    (typeof duration === "string" && /^((?:0|[1-9]\d*)(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration)) || [];
  return isUnit(unit) ? Number(count) * unitMs[unit] : Number.NaN;
}

function isUnit(text: string | undefined): text is Unit {
  return text !== undefined && Object.hasOwn(unitMs, text);
}

/** Units of time for {@link formatDuration}, largest first. */
const timeUnits = [
  { name: "d", milliseconds: unitMs.d },
  { name: "h", milliseconds: unitMs.h },
  { name: "min", milliseconds: unitMs.m },
  { name: "s", milliseconds: unitMs.s },
] as const;

/**
 * Formats a duration for display in the largest unit that fits. Values below ten have one decimal place.
 *
 * @example
 * ```ts
 * formatDuration(2_450); // "2.5 s"
 * formatDuration(30_000); // "30 s"
 * ```
 */
export function formatDuration(milliseconds: number): string {
  const unit = timeUnits.find((candidate) => milliseconds >= candidate.milliseconds);
  if (unit === undefined) return `${Math.round(milliseconds)} ms`;
  const count = milliseconds / unit.milliseconds;
  return `${count < 9.95 ? Math.round(count * 10) / 10 : Math.round(count)} ${unit.name}`;
}
