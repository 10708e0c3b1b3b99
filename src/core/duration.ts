import { WebhookError } from "./errors.ts";

/**
 * A span of time: a number of milliseconds, or a number with its unit (`ms`, `s`, `m`, `h`, `d`) as in `"500ms"`,
 * `"25s"`, `"1.5h"`.
 */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Longer than this, a JavaScript timer fires at once instead of late: 2^31 - 1 ms, about 24.8 days. */
export const longestTimer = 2_147_483_647;

/**
 * Reads a {@link Duration} as whole milliseconds.
 *
 * @throws `OPTION_INVALID`, naming `option`, when it is no duration, not above zero or longer than a timer can run.
 * @example
 * ```ts
 * toMilliseconds("10m", "timeout"); // 600000
 * ```
 */
export function toMilliseconds(duration: Duration, option: string): number {
  const match = typeof duration === "string" ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) : null;
  const milliseconds =
    typeof duration === "number"
      ? Math.round(duration)
      : match
        ? Math.round(Number(match[1]) * (millisecondsPerUnit[match[2] ?? ""] ?? Number.NaN))
        : Number.NaN;
  if (!(milliseconds > 0 && milliseconds <= longestTimer)) {
    throw new WebhookError(
      `Option "${option}" is ${JSON.stringify(duration)}: give milliseconds as a number, or a text such as "500ms", "25s" or "10m", above zero and up to 24 days.`,
      { code: "OPTION_INVALID" },
    );
  }
  return milliseconds;
}
