import { styleText } from "node:util";
import { pino } from "pino";
import { readField } from "../../core/describe.ts";
import { readEnvironment } from "../../core/environment.ts";
import type { Logger } from "../../core/log.ts";
import { optionError } from "../../core/options.ts";
import { plainText } from "../../core/terminal.ts";
import { escapeHidden } from "../../core/text.ts";

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
  const lists = names.flatMap((name) => {
    const value = fields[name];
    if (!isList(value)) return [];
    return [indent(`${name}:`), ...value.map((item) => `  ${indent(item)}`.replaceAll("\n", "\n  "))];
  });
  const error = err === undefined ? [] : [indent(readField(err, "stack") ?? err)];
  return `${[head.join(" "), ...lists, ...error].join("\n")}\n`;
}

/** Whether a value is a list with items. An empty list is shown like other values. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function parseLine(line: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(line);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : { msg: parsed };
}

function rank(name: string): number {
  const position = deliveryFields.indexOf(name);
  return position === -1 ? deliveryFields.length : position;
}

function indent(value: unknown): string {
  return `    ${continued(value)}`;
}

/** Indents all lines but the first, so that a value cannot imitate a log line. */
function continued(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.split(/\r?\n/).map(plainText).join("\n    ");
}

/**
 * Creates the logger of a started server. Writes JSON lines to standard output with pino, or readable lines to a terminal.
 * `redact` processes each JSON line.
 *
 * @throws `OPTION_INVALID` when `LOG_LEVEL` is invalid.
 */
export function createNodeLogger(redact: (line: string) => string = (line) => line): Logger {
  const setting = readEnvironment("LOG_LEVEL") ?? "info";
  // pino only accepts `silent` in lowercase.
  const level = setting.toLowerCase();
  if (!Object.hasOwn(pino.levels.values, level)) {
    throw optionError(
      `LOG_LEVEL is "${setting}". Set LOG_LEVEL to ${Object.keys(pino.levels.values).join(", ")} or silent.`,
    );
  }
  if (!process.stdout.isTTY) {
    const stdout = openOutput();
    const write = (line: string) => void stdout.write(isPlain(line) ? line : escapeHidden(line));
    return pino({ level }, { write: (line) => write(redact(line)) });
  }
  return pino({ level }, { write: (line) => void process.stdout.write(formatForTerminal(redact(line))) });
}

/** The lines that wait for a full disk or a stopped reader. Further lines are lost. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Opens standard output. Lines that cannot be written, such as on a full disk, are written with a later line. */
function openOutput() {
  const output = pino.destination({ dest: 1, maxLength: maxWaitingBytes });
  const { flushSync } = output;
  // Without a listener, an error would end the process, and at its exit pino would try again until there is space.
  output.on("error", () => {
    output.flushSync = () => {};
  });
  output.on("write", () => {
    output.flushSync = flushSync;
  });
  return output;
}

/** Whether a line is ASCII without DEL. Most lines are, because pino escapes control characters, and this check is fast. */
function isPlain(line: string): boolean {
  return Buffer.byteLength(line) === line.length && !line.includes("\u007f");
}
