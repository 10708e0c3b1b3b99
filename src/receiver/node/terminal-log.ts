import { styleText } from "node:util";
import { plainText } from "../../core/terminal-text.ts";

const levels: Readonly<Record<number, { label: string; color: "gray" | "green" | "yellow" | "red" }>> = {
  20: { label: "debug", color: "gray" },
  30: { label: "info", color: "green" },
  40: { label: "warn", color: "yellow" },
  50: { label: "error", color: "red" },
  60: { label: "fatal", color: "red" },
};

/** The fields of a delivery's log line, in display order. Other fields follow. */
const deliveryFields = ["status", "endpoint", "repo", "scope", "action", "ms", "code", "reason", "deliveryId"];

/**
 * Formats a JSON line of pino for a terminal: the time, level, message, and fields, with lists and errors on indented
 * lines below. Removes escape codes, because senders choose names and titles.
 */
export function formatForTerminal(line: string): string {
  const { level, time, msg, err, pid: _pid, hostname: _hostname, ...fields } = parseLine(line);
  const { label, color } = levels[Number(level)] ?? { label: String(level), color: "gray" };
  const clock = typeof time === "number" ? new Date(time).toTimeString().slice(0, 8) : "";
  const names = Object.keys(fields).sort((left, right) => rank(left) - rank(right));
  const flat = names.filter((name) => !isList(fields[name]));
  const head = [
    styleText("gray", clock),
    styleText(color, label.padEnd(5)),
    continued(msg),
    ...flat.map((name) => `${styleText("gray", `${continued(name)}=`)}${continued(fields[name])}`),
  ];
  const lists = names.flatMap((name) => formatList(name, fields[name]));
  return `${[head.join(" "), ...lists, ...(err === undefined ? [] : [indent(errorText(err))])].join("\n")}\n`;
}

/** Whether a value is a list with items. An empty list is shown like other values. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

/** Returns the name and one line per item, or nothing for other values. */
function formatList(name: string, value: unknown): readonly string[] {
  return isList(value)
    ? [indent(`${name}:`), ...value.map((item) => `  ${indent(item)}`.replaceAll("\n", "\n  "))]
    : [];
}

function parseLine(line: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(line);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : { msg: parsed };
}

function rank(name: string): number {
  const position = deliveryFields.indexOf(name);
  return position === -1 ? deliveryFields.length : position;
}

function errorText(error: unknown): unknown {
  return typeof error === "object" && error !== null && "stack" in error ? error.stack : error;
}

function indent(value: unknown): string {
  return `    ${continued(value)}`;
}

/** Indents all lines but the first, so that a value cannot imitate a log line. */
function continued(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.split(/\r?\n/).map(plainText).join("\n    ");
}
