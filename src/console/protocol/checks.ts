/** The result of one check of a server. A check has one result for each finding. `POST /api/checks` answers with a list of them. */
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
