import { WebhookError } from "./errors.ts";

/** An option or environment variable with an invalid value. */
type WrongOption = ({ option: string } | { variable: string }) & {
  /** The invalid value. Omit this field if the value can contain a secret. */
  value?: unknown;
  /** A description of valid values that completes "Use …", such as `an integer from 0 to 65535`. */
  expected: string;
};

/**
 * Creates the `OPTION_INVALID` error for an invalid option or environment variable.
 *
 * @param problem the invalid option, or a full message when the problem is not the value of one option.
 * @example
 * ```ts
 * // Option "port" is 70000. Use an integer from 0 to 65535.
 * throw optionError({ option: "port", value: 70_000, expected: "an integer from 0 to 65535" });
 * ```
 */
export function optionError(problem: WrongOption | string, { cause }: { cause?: unknown } = {}): WebhookError {
  const message = typeof problem === "string" ? problem : formatWrongOption(problem);
  return new WebhookError(message, { code: "OPTION_INVALID", cause });
}

/** Formats the message of {@link optionError}, for use in other error classes. */
export function formatWrongOption(wrong: WrongOption): string {
  const problem = "value" in wrong ? `is ${formatValue(wrong.value)}` : "is invalid";
  const name = "option" in wrong ? `Option "${wrong.option}"` : wrong.variable;
  return `${name} ${problem}. Use ${wrong.expected}.`;
}

/** Formats a value for a message. Quotes strings, and keeps numbers that JSON does not support, such as `NaN`. */
function formatValue(value: unknown): string {
  if (typeof value === "string" || (typeof value === "object" && value !== null)) {
    try {
      return JSON.stringify(value);
    } catch {
      return "an object";
    }
  }
  return typeof value === "function" ? "a function" : String(value);
}

const maxEdits = 2;

/**
 * Returns a hint to append to an error message, such as ` Did you mean "dataset"?`. Returns an empty string if no valid word
 * is similar to `word`.
 */
export function suggest(word: string, valid: readonly string[]): string {
  const near = valid
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxEdits)
    .sort((left, right) => left.distance - right.distance)[0];
  return near ? ` Did you mean "${near.candidate}"?` : "";
}

/** Returns the Levenshtein distance: the number of letters to insert, delete, or replace to turn one word into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [position, letter] of [...from].entries()) {
    const next = [position + 1];
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

const maxPort = 65_535;

/** Whether a number is a TCP port. Pass `min: 1` to exclude port 0, which lets the system choose a port to listen on. */
export function isPort(port: number, { min = 0 }: { min?: 0 | 1 } = {}): boolean {
  return Number.isInteger(port) && port >= min && port <= maxPort;
}

/** The ports of other protocols, to which the Fetch standard allows no connection. */
const refusedPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Whether browsers and `fetch` refuse to connect to a port ("bad port"). */
export function isRefusedPort(port: number): boolean {
  return refusedPorts.has(port);
}

/** Completes "Use …" for a port that {@link isRefusedPort}. */
export const acceptedPort = "a port that browsers and fetch do not refuse, such as 8080";

/** Returns the port that an option or a variable sets. @throws `OPTION_INVALID` for one that cannot be used. */
export function checkPort(
  port: number,
  source: { option: string; value: number } | { variable: string; value: string } = { option: "port", value: port },
): number {
  if (isPort(port) && !isRefusedPort(port)) return port;
  throw optionError({ ...source, expected: isPort(port) ? acceptedPort : `an integer from 0 to ${maxPort}` });
}

/** Returns a count. @throws `OPTION_INVALID` unless it is an integer of at least 1, or `Infinity` if `allowsInfinity` is set. */
export function checkCount(
  value: number,
  option: string,
  { allowsInfinity = false }: { allowsInfinity?: boolean } = {},
): number {
  if ((Number.isSafeInteger(value) && value >= 1) || (allowsInfinity && value === Number.POSITIVE_INFINITY))
    return value;
  const expected = `an integer of at least 1${allowsInfinity ? ", or Infinity" : ""}`;
  throw optionError({ option, value, expected });
}

/**
 * Finds an option with an unknown name, which would otherwise have no effect, and describes the problem.
 *
 * @param kind The name of the API that has the options, such as `HubClient`. The message contains this name.
 */
export function findUnknownOption(
  options: object,
  { valid, kind }: { valid: readonly string[]; kind: string },
): { option: string; message: string } | undefined {
  const option = Object.keys(options).find((name) => !valid.includes(name));
  if (option === undefined) return undefined;
  const message = `Unknown ${kind} option ${JSON.stringify(option)}.${suggest(option, valid)} Valid options: ${valid.join(", ")}.`;
  return { option, message };
}

/** @throws `OPTION_INVALID` for an unknown name of an option. */
export function checkOptionNames(options: object, known: { valid: readonly string[]; kind: string }): void {
  const unknown = findUnknownOption(options, known);
  if (unknown) throw optionError(unknown.message);
}

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

/** Converts a {@link Duration} to whole milliseconds. @throws `OPTION_INVALID` when the duration is invalid. */
export function toMilliseconds(duration: Duration, option: string): number {
  if (isDuration(duration)) return parseDuration(duration);
  throw optionError({
    option,
    value: duration,
    expected: 'a number of milliseconds, or a duration such as "250ms", "25s", or "10m", above zero and up to 24 days',
  });
}

export function isDuration(value: unknown): value is Duration {
  const milliseconds = parseDuration(value);
  return milliseconds > 0 && milliseconds <= maxTimerMs;
}

/** Returns whole milliseconds, or `NaN`. */
function parseDuration(duration: unknown): number {
  if (typeof duration === "number") return Math.round(duration);
  const [, count, unit] =
    (typeof duration === "string" && /^((?:0|[1-9]\d*)(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration)) || [];
  return Math.round(Number(count) * unitMs[unit as Unit]);
}

/** Units of time for {@link formatDuration}, largest first. */
const timeUnits = [
  { name: "d", milliseconds: unitMs.d },
  { name: "h", milliseconds: unitMs.h },
  { name: "min", milliseconds: unitMs.m },
  { name: "s", milliseconds: unitMs.s },
] as const;

/** Formats a duration for display in the largest unit that fits, such as `2.5 s` or `30 s`. */
export function formatDuration(milliseconds: number): string {
  const unit = timeUnits.find((candidate) => milliseconds >= candidate.milliseconds);
  if (unit === undefined) return `${Math.round(milliseconds)} ms`;
  const count = milliseconds / unit.milliseconds;
  return `${count < 9.95 ? Math.round(count * 10) / 10 : Math.round(count)} ${unit.name}`;
}
