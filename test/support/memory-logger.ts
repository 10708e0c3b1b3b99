import type { Logger, LogMethod } from "../../src/index.ts";

/** One line that a {@link MemoryLogger} was given. */
export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  msg: string;
  [field: string]: unknown;
}

/** A logger that keeps its lines. */
export interface MemoryLogger extends Logger {
  readonly lines: LogLine[];
  /** Everything that was logged, as one text, errors with their messages and stacks: for "appears nowhere". */
  text(): string;
}

/** Makes a logger that keeps its lines, those of its children among them. */
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
