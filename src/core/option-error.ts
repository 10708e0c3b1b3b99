import { WebhookError } from "./errors.ts";

/** An option or environment variable with an invalid value. */
export type WrongOption = ({ option: string } | { variable: string }) & {
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
