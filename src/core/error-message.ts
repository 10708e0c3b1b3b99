import { describeError } from "./describe-error.ts";

/** The message of an error, or the text of what was thrown instead of one. Never throws. */
export function messageOf(thrown: unknown): string {
  return describeError(thrown).message;
}
