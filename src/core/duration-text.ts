/** Units of time as people write them, the largest first. */
export const timeUnits = [
  { name: "d", milliseconds: 86_400_000 },
  { name: "h", milliseconds: 3_600_000 },
  { name: "min", milliseconds: 60_000 },
  { name: "s", milliseconds: 1_000 },
] as const;

/**
 * Writes a duration for people, in one unit: whole milliseconds, or the largest unit of which there is one or more, with
 * a decimal below ten.
 *
 * @example
 * ```ts
 * durationText(2_450); // "2.5 s"
 * durationText(30_000); // "30 s"
 * ```
 */
export function durationText(milliseconds: number): string {
  const unit = timeUnits.find((candidate) => milliseconds >= candidate.milliseconds);
  if (unit === undefined) return `${Math.round(milliseconds)} ms`;
  const count = milliseconds / unit.milliseconds;
  return `${count < 9.95 ? Math.round(count * 10) / 10 : Math.round(count)} ${unit.name}`;
}
