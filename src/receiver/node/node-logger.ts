import { pino } from "pino";
import { readEnvironment } from "../../core/environment.ts";
import { escapeHidden } from "../../core/escape.ts";
import type { Logger } from "../../core/logger.ts";
import { optionError } from "../../core/option-error.ts";
import { formatForTerminal } from "./terminal-log.ts";

/**
 * Creates the logger of a launched server: pino on standard output, as JSON lines, or as readable lines on a terminal.
 * `redact` processes each JSON line.
 */
export function createNodeLogger(redact: (line: string) => string = (line) => line): Logger {
  const level = readEnvironment("LOG_LEVEL") ?? "info";
  if (level !== "silent" && !Object.hasOwn(pino.levels.values, level.toLowerCase())) {
    throw optionError(`LOG_LEVEL is "${level}": give one of ${Object.keys(pino.levels.values).join(", ")} or silent.`);
  }
  if (!process.stdout.isTTY) {
    const stdout = pino.destination(1);
    const write = (line: string) => void stdout.write(isPlain(line) ? line : escapeHidden(line));
    return pino({ level }, { write: (line) => write(redact(line)) });
  }
  return pino({ level }, { write: (line) => void process.stdout.write(formatForTerminal(redact(line))) });
}

/** Whether a line is ASCII, as nearly all are: pino escapes control characters. Faster than a check of each character. */
function isPlain(line: string): boolean {
  return Buffer.byteLength(line) === line.length && !line.includes("\u007f");
}
