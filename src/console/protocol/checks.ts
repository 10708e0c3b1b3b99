import * as z from "zod/mini";

/** The body of `POST /api/checks`. */
export const checksRequest = z.strictObject({
  /** The name of the only check to run. Default: all. */
  check: z.optional(z.string().check(z.maxLength(100))),
});

/** The result of one check of a server. A check has one result for each finding. */
export interface CheckResult {
  check: string;
  title: string;
  /** `next`: nothing is wrong, but a step of the setup is left. */
  status: "ok" | "problem" | "next" | "fixed" | "skipped";
  /** What was found, such as `WEBHOOK_MISSING`. */
  code?: string;
  /** The cause and its details, why it is fine, or why it was skipped. Never contains a secret. */
  message: string;
  /** Repairs the cause, or shows more about it. */
  command?: string;
}

/** The answer of `POST /api/checks`. */
export interface CheckReport {
  results: readonly CheckResult[];
}
