import { pino } from "pino";
import { readEnvironment } from "../../environment.ts";
import { WebhookError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { formatForTerminal } from "./terminal-log.ts";

/** The logger of a launched server: pino on standard output, JSON lines, or lines for a person on a terminal. */
export function createNodeLogger(): Logger {
  const level = readEnvironment("LOG_LEVEL") ?? "info";
  if (level !== "silent" && !Object.hasOwn(pino.levels.values, level.toLowerCase())) {
    throw new WebhookError(
      `LOG_LEVEL is "${level}": give one of ${Object.keys(pino.levels.values).join(", ")} or silent.`,
      { code: "OPTION_INVALID" },
    );
  }
  if (!process.stdout.isTTY) return pino({ level });
  return pino({ level }, { write: (line) => void process.stdout.write(formatForTerminal(line)) });
}
