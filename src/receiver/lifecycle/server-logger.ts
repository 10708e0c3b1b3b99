import { readEnvironment } from "../../core/environment.ts";
import { escapeHidden } from "../../core/escape.ts";
import {
  createLogger,
  createRedactingLogger,
  createSafeLogger,
  type Logger,
  toPlainFields,
} from "../../core/logger.ts";
import type { ServerRedaction } from "../security/server-redaction.ts";

/*
 * A server uses two loggers in turn, unless the user passes a logger: the console, which works in every runtime, and after `ready()`
 * or `launch()` pino (`node/node-logger.ts`), which requires Node. `core/logger.ts` wraps each of them: a safe logger never throws,
 * and a redacting logger removes secrets from the fields.
 */

/** Creates the logger of a server before its start: the given logger, or the console. Redacts secrets and never throws. */
export function createServerLogger(given: Logger | undefined, redaction: ServerRedaction): Logger {
  return createSafeLogger(
    given ? createRedactingLogger(given, redaction) : createConsoleLogger((line) => redaction.line(line)),
  );
}

/** Creates the default logger of a started server. @throws `OPTION_INVALID` when `LOG_LEVEL` is invalid. */
export async function createReadyLogger(redaction: ServerRedaction): Promise<Logger> {
  const { createNodeLogger } = await import("../node/node-logger.ts");
  return createSafeLogger(createNodeLogger((line) => redaction.line(line)));
}

const ranks = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** The minimum rank of a logged line for each level of pino. */
const minRanks: ReadonlyMap<string, number> = new Map(
  Object.entries({ trace: 10, ...ranks, fatal: 60, silent: Number.POSITIVE_INFINITY }),
);

/**
 * Creates a logger that writes JSON lines with pino's field names to the console. `LOG_LEVEL` sets its level, and an unknown
 * level counts as `info`. `redact` processes each line.
 */
export function createConsoleLogger(
  redact: (line: string) => string = (line) => line,
  bindings: Record<string, unknown> = {},
): Logger {
  return createLogger(
    (level, fields, message) => {
      // `LOG_LEVEL` is read for each line, because tests set it after they create the server.
      if (ranks[level] < minRank()) return;
      const line = typeof fields === "string" ? { msg: fields } : { ...fields, msg: message };
      // Escapes control characters, so that a sender cannot control the terminal that displays the log.
      console[level](escapeHidden(redact(toJson({ level, time: Date.now(), ...bindings, ...line }))));
    },
    (more) => createConsoleLogger(redact, { ...bindings, ...more }),
  );
}

function minRank(): number {
  return minRanks.get(readEnvironment("LOG_LEVEL")?.toLowerCase() ?? "info") ?? ranks.info;
}

/** Converts errors to plain objects, because `JSON.stringify` omits the non-enumerable fields of errors. */
function replaceErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { type: value.name, message: value.message, stack: value.stack };
}

/** Converts a line to JSON. Replaces fields that cannot be serialized, and never throws. */
function toJson(line: { level: string; time: number; msg?: unknown }): string {
  try {
    return JSON.stringify(line, replaceErrors);
  } catch {
    return JSON.stringify(toPlainFields(line));
  }
}
