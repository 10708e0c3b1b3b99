import { pino } from "pino";
import { readEnvironment } from "../../environment.ts";
import type { Logger } from "../../logger.ts";
import { formatForTerminal } from "./terminal-log.ts";

/** The logger of a launched server: pino on standard output, JSON lines, or lines for a person on a terminal. */
export function createNodeLogger(): Logger {
  const level = readEnvironment("LOG_LEVEL") ?? "info";
  if (!process.stdout.isTTY) return pino({ level });
  return pino({ level }, { write: (line) => void process.stdout.write(formatForTerminal(line)) });
}
