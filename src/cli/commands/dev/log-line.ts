import { formatDuration } from "../../../core/duration.ts";
import { deceptiveCharacters } from "../../../core/escape.ts";
import { plainText } from "../../../core/terminal-text.ts";

/** A line of a logger that writes JSON, as pino does. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Reads a line as JSON of a logger; `undefined` where it is anything else. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && "level" in parsed && "time" in parsed
      ? { ...parsed }
      : undefined;
  } catch {
    return undefined;
  }
}

/** What there is to say of a delivery. */
export interface ToldDelivery {
  sign: "✓" | "✗" | "·";
  color: "green" | "red" | "gray";
  text: string;
  /** What its handler threw. */
  below: readonly string[];
}

/**
 * Says in one line what became of a delivery, with `isAgain` one that was there before; `undefined` where a line of the log is
 * about something else.
 */
export function tellDelivery(logged: LogLine): ToldDelivery | undefined {
  const { endpoint, status, outcome, attempt, repo, scope, action, ms, err, isAgain } = logged;
  if (typeof endpoint !== "string" || (typeof status !== "number" && typeof outcome !== "string")) return undefined;
  const isBad = typeof status === "number" ? status > 299 : outcome !== "succeeded" && outcome !== "ignored";
  const parts = [
    status ?? outcome,
    endpoint,
    repo,
    scope && action && `${String(scope)} ${String(action)}`,
    ms === undefined ? undefined : `${String(ms)} ms`,
    typeof attempt === "number" && `attempt ${attempt}`,
    isAgain === true && "sent again",
    remark(logged, isBad),
  ];
  const thrown = typeof err === "object" && err !== null && "stack" in err ? err.stack : err;
  return {
    ...(isBad
      ? { sign: "✗", color: "red" }
      : outcome === "ignored"
        ? { sign: "·", color: "gray" }
        : { sign: "✓", color: "green" }),
    text: parts
      .filter(Boolean)
      .map((part) => plainText(String(part)))
      .join("  "),
    below: typeof thrown === "string" ? ownLines(thrown).map(harmless) : [],
  };
}

/** Why it was not run, or what went wrong; for everything else the sign says it. */
function remark(
  { reason, duplicate, code, msg, status, outcome, nextAttemptInMs, err }: LogLine,
  bad: boolean,
): string | undefined {
  if (typeof reason === "string") return `ignored: ${reason}`;
  if (duplicate === true) return "a duplicate, not run again";
  // What the handler threw stands below.
  if (typeof nextAttemptInMs === "number" && err !== undefined)
    return `next attempt in ${formatDuration(nextAttemptInMs)}`;
  if (bad) return typeof msg === "string" ? msg : String(code ?? "");
  return status === 202 && outcome === undefined ? "accepted" : undefined;
}

/** All that deceives, and what ends a line, but for the escape codes of colours. */
const obeyed = new RegExp(`(?!\\u001b\\[[\\d;]*m)(?:${deceptiveCharacters.source}|[\\r\\n])`, "gu");

/** A line that the user's code prints may have colours of its own, but nothing else that a terminal obeys. */
export function harmless(text: string): string {
  return text.replace(/\t/g, "    ").replace(obeyed, "");
}

/** A stack without what lies outside the user's own code. */
function ownLines(stack: string): readonly string[] {
  return stack.split("\n").filter((line) => !/^\s+at .*(node:|\/node_modules\/)/.test(line));
}
