import type { LogLevel, LogLine } from "../../protocol/dev.ts";

/** The filters of the log, as the URL contains them. */
export interface LogFilter {
  /** The lowest level to show. Lines that are not from the logger count as `info`. */
  level: Exclude<LogLevel, "output">;
  deliveryId: string | undefined;
  search: string;
}

/** The levels, from the least to the most severe. */
export const levelLooks = [
  { level: "debug", label: "Debug and above" },
  { level: "info", label: "Info and above" },
  { level: "warn", label: "Warnings and errors" },
  { level: "error", label: "Errors" },
] as const satisfies readonly { level: LogFilter["level"]; label: string }[];

const severities: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, output: 1, warn: 2, error: 3 };

/** Reads the filters from the query of the route. */
export function readLogFilter(query: Readonly<Record<string, string>>): LogFilter {
  const level = levelLooks.find(({ level }) => level === query.level)?.level ?? "debug";
  return { level, deliveryId: query.deliveryId, search: query.search ?? "" };
}

/** Returns the lines that match the filters. */
export function filterLines(lines: readonly LogLine[], { level, deliveryId, search }: LogFilter): readonly LogLine[] {
  const wanted = search.trim().toLowerCase();
  return lines.filter(
    (line) =>
      severities[line.level] >= severities[level] &&
      (deliveryId === undefined || line.deliveryId === deliveryId) &&
      (wanted === "" || `${line.message} ${line.fields ?? ""} ${line.endpoint ?? ""}`.toLowerCase().includes(wanted)),
  );
}

/** The maximum number of lines that the page keeps. The session keeps as many. */
const maxLines = 2_000;

/** Adds lines to those that are known. Live lines can arrive before earlier ones have loaded. */
export function addLines(known: readonly LogLine[], added: readonly LogLine[]): readonly LogLine[] {
  const lines = new Map([...known, ...added].map((line) => [line.sequence, line]));
  return [...lines.values()].sort((one, other) => one.sequence - other.sequence).slice(-maxLines);
}

/** The maximum length of the summary of a line's fields. */
const maxSummary = 200;

/** Returns the fields of a line on one line, such as `status=200 ms=4.1`. Objects and long values are left out. */
export function summarizeFields(json: string): string {
  try {
    const fields: unknown = JSON.parse(json);
    if (typeof fields !== "object" || fields === null) return "";
    return Object.entries(fields)
      .filter(([, value]) => typeof value !== "object" && String(value).length <= 80)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(" ")
      .slice(0, maxSummary);
  } catch {
    return "";
  }
}
