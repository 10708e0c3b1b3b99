import { pino } from "pino";
import { readEnvironment } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { showHidden } from "../../core/visible-text.ts";
import { formatForTerminal } from "./terminal-log.ts";

/**
 * The logger of a launched server: pino on standard output, JSON lines, or lines for a person on a terminal. `redact` gets
 * each JSON line before it is written.
 */
export function createNodeLogger(redact: (line: string) => string = (line) => line): Logger {
  const level = readEnvironment("LOG_LEVEL") ?? "info";
  if (level !== "silent" && !Object.hasOwn(pino.levels.values, level.toLowerCase())) {
    throw new WebhookError(
      `LOG_LEVEL is "${level}": give one of ${Object.keys(pino.levels.values).join(", ")} or silent.`,
      { code: "OPTION_INVALID" },
    );
  }
  if (!process.stdout.isTTY) {
    const stdout = pino.destination(1);
    const write = (line: string) => void stdout.write(isPlain(line) ? line : showHidden(line));
    return pino({ level }, { write: (line) => write(redact(line)) });
  }
  return pino({ level }, { write: (line) => void process.stdout.write(formatForTerminal(redact(line))) });
}

/** Whether a line is ASCII, as almost every one is: pino escapes its control characters. Faster than to look at each. */
function isPlain(line: string): boolean {
  return Buffer.byteLength(line) === line.length && !line.includes("\u007f");
}
