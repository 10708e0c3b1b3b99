import { readEnvironment } from "../core/environment.ts";
import { escapeHidden } from "../core/escape.ts";
import type { Logger, LogMethod } from "../core/logger.ts";
import { toPlainFields } from "../core/logger.ts";

const ranks = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** From which rank on a level of pino's lets lines through. */
const leastRanks: ReadonlyMap<string, number> = new Map(
  Object.entries({ trace: 10, ...ranks, fatal: 60, silent: Number.POSITIVE_INFINITY }),
);

/**
 * The logger of runtimes that have no pino, and of a server that was not started: one JSON object a line on the console,
 * with pino's field names. `LOG_LEVEL` counts where there is an environment; a level that is none counts as `info` here.
 * `redact` gets each line before it is written.
 */
export function createConsoleLogger(
  redact: (line: string) => string = (line) => line,
  bindings: Record<string, unknown> = {},
): Logger {
  const write = (level: keyof typeof ranks): LogMethod => {
    return (fields: object | string, message?: string) => {
      // Not before: a test may set the variable after the server was made.
      if (ranks[level] < leastRank()) return;
      const line = typeof fields === "string" ? { msg: fields } : { ...fields, msg: message };
      // Whoever looks at the log on a terminal must see what a stranger wrote, and not have it done.
      console[level](escapeHidden(redact(toJson({ level, time: Date.now(), ...bindings, ...line }))));
    };
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (more) => createConsoleLogger(redact, { ...bindings, ...more }),
  };
}

function leastRank(): number {
  return leastRanks.get(readEnvironment("LOG_LEVEL")?.toLowerCase() ?? "info") ?? ranks.info;
}

/** JSON has nothing to say of an Error, whose fields are not enumerable. */
function tellErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { type: value.name, message: value.message, stack: value.stack };
}

/** Logging must not fail: fields that cannot be serialized are replaced by a note. */
function toJson(line: { level: string; time: number; msg?: unknown }): string {
  try {
    return JSON.stringify(line, tellErrors);
  } catch {
    return JSON.stringify(toPlainFields(line));
  }
}
