import { formatDuration } from "../../../core/options.ts";
import { plainText, userStackLines } from "../../../core/terminal.ts";
import { deceptiveCharacters } from "../../../core/text.ts";
import type { DeliveryLogFields } from "../../../receiver/end.ts";

/** A line whose fields are not checked yet. */
type UncheckedDeliveryLine = Readonly<Partial<Record<keyof DeliveryLogFields | "msg", unknown>>>;

/** A log line of a delivery, formatted for a terminal. */
export interface FormattedDelivery {
  sign: "✓" | "✗" | "·";
  color: "green" | "red" | "gray";
  text: string;
  /** The stack of the error that the handler threw. */
  stack: readonly string[];
}

/** Formats the log line of a delivery. Returns `undefined` for any other log line. */
export function formatDelivery(
  logged: UncheckedDeliveryLine,
  { isRetry }: { isRetry: boolean },
): FormattedDelivery | undefined {
  const { endpoint, status, outcome, attempt, repo, scope, action, ms, err } = logged;
  if (typeof endpoint !== "string" || (typeof status !== "number" && typeof outcome !== "string")) return undefined;
  const isFailure = typeof status === "number" ? status > 299 : outcome !== "succeeded" && outcome !== "ignored";
  const parts = [
    // `retrying` means that this attempt failed and that another attempt is scheduled.
    status ?? (outcome === "retrying" ? "failed" : outcome),
    endpoint,
    repo,
    scope && action && `${String(scope)} ${String(action)}`,
    ms === undefined ? undefined : `${String(ms)} ms`,
    typeof attempt === "number" && `attempt ${attempt}`,
    isRetry && "retried by the Hub",
    detailOf(logged, isFailure),
  ];
  const thrown = typeof err === "object" && err !== null && "stack" in err ? err.stack : err;
  return {
    ...(isFailure
      ? { sign: "✗", color: "red" }
      : outcome === "ignored"
        ? { sign: "·", color: "gray" }
        : { sign: "✓", color: "green" }),
    text: parts
      .filter(Boolean)
      .map((part) => plainText(String(part)))
      .join("  "),
    stack: typeof thrown === "string" ? userStackLines(thrown).map(sanitizeLine) : [],
  };
}

/** Returns a detail to show: why the handler did not run, the failure, the next attempt, or `accepted`. */
function detailOf(
  { reason, duplicate, code, msg, status, outcome, nextAttemptInMs, err }: UncheckedDeliveryLine,
  isFailure: boolean,
): string | undefined {
  if (typeof reason === "string") return `ignored: ${reason}`;
  if (duplicate === true) return "duplicate, not run again";
  // The stack lines contain the error.
  if (typeof nextAttemptInMs === "number" && err !== undefined)
    return `next attempt in ${formatDuration(nextAttemptInMs)}`;
  if (outcome === "dead") return causeOf(err) ?? String(msg ?? code ?? "").replace(/^delivery is dead: /, "");
  if (isFailure) return typeof msg === "string" ? msg : String(code ?? "");
  return status === 202 && outcome === undefined ? "accepted" : undefined;
}

/** Returns the message of the error that the handler threw, if there is one. */
function causeOf(err: unknown): string | undefined {
  return typeof err === "object" && err !== null && "message" in err ? String(err.message) : undefined;
}

/** Matches deceptive characters and line breaks, but not the escape codes of colors. */
const unsafeCharacters = new RegExp(`(?!\\u001b\\[[\\d;]*m)(?:${deceptiveCharacters.source}|[\\r\\n])`, "gu");

/** Removes control characters from a line that the user's code prints, except the escape codes of colors. */
export function sanitizeLine(text: string): string {
  return text.replace(/\t/g, "    ").replace(unsafeCharacters, "");
}
