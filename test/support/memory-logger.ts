import type { Logger, LogMethod } from "../../src/index.ts";

/** A line of a {@link MemoryLogger}. */
export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  msg: string;
  [field: string]: unknown;
}

/** A logger that stores its lines. */
export interface MemoryLogger extends Logger {
  readonly lines: LogLine[];
  /** Returns all lines as one text, including errors with messages and stacks, for assertions that a text is absent. */
  text(): string;
}

/** Creates a logger that stores its own lines and those of its children. */
export function createMemoryLogger(lines: LogLine[] = [], bindings: Record<string, unknown> = {}): MemoryLogger {
  const write = (level: LogLine["level"]): LogMethod => {
    return (fields: object | string, message?: string) => {
      const line = typeof fields === "string" ? { msg: fields } : { ...fields, msg: message ?? "" };
      lines.push({ ...bindings, ...line, level });
    };
  };
  return {
    lines,
    text: () => JSON.stringify(lines, (_key, value) => (value instanceof Error ? `${value.stack}` : value)),
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (more) => createMemoryLogger(lines, { ...bindings, ...more }),
  };
}
