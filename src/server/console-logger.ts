import type { Logger, LogMethod } from "../logger.ts";
import { showHidden } from "../visible-text.ts";

/**
 * The logger of runtimes that have no pino: one JSON object a line on the console, with pino's field names.
 */
export function createConsoleLogger(bindings: Record<string, unknown> = {}): Logger {
  const write = (level: "debug" | "info" | "warn" | "error"): LogMethod => {
    return (fields: object | string, message?: string) => {
      const line = typeof fields === "string" ? { msg: fields } : { ...fields, msg: message };
      // Whoever looks at the log on a terminal must see what a stranger wrote, and not have it done.
      console[level](showHidden(toJson({ level, time: Date.now(), ...bindings, ...line })));
    };
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (more) => createConsoleLogger({ ...bindings, ...more }),
  };
}

/** JSON has nothing to say of an Error, whose fields are not enumerable. */
function tellErrors(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { type: value.name, message: value.message, stack: value.stack };
}

/** A log line must never fail whoever writes it: fields that are no JSON are left out, and it says so. */
function toJson(line: { level: string; time: number; msg?: unknown }): string {
  try {
    return JSON.stringify(line, tellErrors);
  } catch (error) {
    const { level, time, msg } = line;
    return JSON.stringify({ level, time, msg: String(msg), fieldsLost: String(error) });
  }
}
