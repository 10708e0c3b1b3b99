import { WebhookError } from "../core/errors.ts";
import { issuesOf, parsePayload } from "./parse.ts";

/** An invalid field of a payload. */
export interface PayloadProblem {
  /** The keys from the root of the payload. Empty for the payload itself. */
  path: (string | number)[];
  problem: string;
}

/** The maximum number of problems of a payload. */
const maxProblems = 50;

/** Lists the invalid fields of a payload, for an editor. The list is empty if the payload is valid, and never contains values. */
export function findPayloadProblems(value: unknown): readonly PayloadProblem[] {
  try {
    parsePayload(value);
    return [];
  } catch (error) {
    const problems = WebhookError.isInstance(error) ? problemsOf(error) : undefined;
    if (!problems) throw error;
    return problems;
  }
}

/** Returns the invalid fields behind an error of `parsePayload`, or `undefined` for other errors. */
export function problemsOf(error: WebhookError): readonly PayloadProblem[] | undefined {
  return issuesOf(error)
    ?.slice(0, maxProblems)
    .map(({ path = [], message }) => ({
      path: path.map((part) => toKey(typeof part === "object" ? part.key : part)),
      problem: message,
    }));
}

function toKey(key: PropertyKey): string | number {
  return typeof key === "number" ? key : String(key);
}
