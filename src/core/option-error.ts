import { WebhookError } from "./errors.ts";

/** An option or environment variable with an invalid value. */
export type WrongOption = ({ option: string } | { variable: string }) & {
  /** The invalid value. Omit this field if the value may contain a secret. */
  value?: unknown;
  /** A description of valid values that completes "Use …", such as `a number from 0 to 65535`. */
  expected: string;
};

/**
 * Creates the `OPTION_INVALID` error for an invalid option or environment variable.
 *
 * @param problem the invalid option, or a full message when the problem is not the value of one option.
 * @example
 * ```ts
 * // Option "port" is 70000. Use a number from 0 to 65535.
 * throw optionError({ option: "port", value: 70_000, expected: "a number from 0 to 65535" });
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

const maxPort = 65_535;

/** Whether a number is a TCP port. Pass `min: 1` to exclude port 0, which lets the system choose a port to listen on. */
export function isPort(port: number, { min = 0 }: { min?: 0 | 1 } = {}): boolean {
  return Number.isInteger(port) && port >= min && port <= maxPort;
}

/**
 * Checks and returns the port to listen on.
 *
 * @param source the option or variable that sets the port. Default: the option `port`.
 * @throws `OPTION_INVALID` when the port is not a number from 0 to 65535.
 */
export function checkPort(
  port: number,
  source: { option: string; value: number } | { variable: string; value: string } = { option: "port", value: port },
): number {
  if (isPort(port)) return port;
  throw optionError({ ...source, expected: `a number from 0 to ${maxPort}` });
}

/**
 * Checks and returns an option that is a count.
 *
 * @throws `OPTION_INVALID` unless the value is a whole number of at least 1, or `Infinity` if `allowsInfinity` is set.
 */
export function checkCount(
  value: number,
  option: string,
  { allowsInfinity = false }: { allowsInfinity?: boolean } = {},
): number {
  if ((Number.isSafeInteger(value) && value >= 1) || (allowsInfinity && value === Number.POSITIVE_INFINITY))
    return value;
  const expected = `a whole number of at least 1${allowsInfinity ? ", or Infinity" : ""}`;
  throw optionError({ option, value, expected });
}

const maxEdits = 2;

/**
 * Returns a hint to append to an error message, such as ` Did you mean "dataset"?`. Returns an empty string if no valid word
 * is similar to `word`.
 */
export function suggest(word: string, valid: readonly string[]): string {
  const near = valid
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate) }))
    .filter(({ distance }) => distance <= maxEdits)
    .sort((left, right) => left.distance - right.distance)[0];
  return near ? ` Did you mean "${near.candidate}"?` : "";
}

/** Returns the Levenshtein distance: the number of letters to insert, delete or replace to turn one word into the other. */
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
