import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";
import { timeUnits } from "../../core/duration.ts";

/** A moment to the second, in UTC: `2026-09-01 10:03:20 UTC`. */
export function moment(at: Date): Markup {
  const iso = at.toISOString();
  return html`<time datetime="${iso}">${`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}</time>`;
}

/** The same, as how far away it is: `now`, `in 3 min 20 s`. */
export function timeUntil(at: Date, now: Date): Markup {
  const remaining = at.getTime() - now.getTime();
  const iso = at.toISOString();
  return html`<time datetime="${iso}" title="${iso}">${remaining < 1000 ? "now" : `in ${lasting(remaining)}`}</time>`;
}

/**
 * A length of time in its two largest units.
 *
 * @example
 * ```ts
 * lasting(85); // 85 ms
 * lasting(3_200); // 3.2 s
 * lasting(3_725_000); // 1 h 2 min
 * ```
 */
export function lasting(milliseconds: number): string {
  const whole = Math.max(0, Math.round(milliseconds));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 59_950) return `${(whole / 1_000).toFixed(1)} s`;
  const rounded = Math.round(whole / 1_000) * 1_000;
  const largest = timeUnits.findIndex((unit) => rounded >= unit.milliseconds);
  let rest = rounded;
  const parts = timeUnits.slice(largest, largest + 2).map((unit) => {
    const count = Math.floor(rest / unit.milliseconds);
    rest %= unit.milliseconds;
    return { count, text: `${count} ${unit.name}` };
  });
  return parts
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .join(" ");
}
