import { pino } from "pino";
import { readEnvironment } from "../../core/environment.ts";
import { escapeHidden } from "../../core/escape.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-error.ts";
import { formatForTerminal } from "./terminal-log.ts";

/**
 * Creates the logger of a started server. Writes JSON lines to standard output with pino, or readable lines to a terminal.
 * `redact` processes each JSON line.
 *
 * @throws `OPTION_INVALID` when `LOG_LEVEL` is invalid.
 */
export function createNodeLogger(redact: (line: string) => string = (line) => line): Logger {
  const level = readEnvironment("LOG_LEVEL") ?? "info";
  if (level !== "silent" && !Object.hasOwn(pino.levels.values, level.toLowerCase())) {
    throw optionError(
      `LOG_LEVEL is "${level}". Set LOG_LEVEL to ${Object.keys(pino.levels.values).join(", ")} or silent.`,
    );
  }
  if (!process.stdout.isTTY) {
    const stdout = pino.destination(1);
    const write = (line: string) => void stdout.write(isPlain(line) ? line : escapeHidden(line));
    return pino({ level }, { write: (line) => write(redact(line)) });
  }
  return pino({ level }, { write: (line) => void process.stdout.write(formatForTerminal(redact(line))) });
}

/** Whether a line is ASCII without DEL. Most lines are, because pino escapes control characters, and this check is fast. */
function isPlain(line: string): boolean {
  return Buffer.byteLength(line) === line.length && !line.includes("\u007f");
}
