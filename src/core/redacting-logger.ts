import type { Logger, LogMethod } from "./logger.ts";
import type { Redaction } from "./redaction.ts";

/** Wraps a logger so that no secret reaches it: not in a message, a field, an error or the bindings of a child. */
export function redactingLogger(logger: Logger, redaction: Redaction): Logger {
  const write = (level: Exclude<keyof Logger, "child">): LogMethod => {
    return (fields: object | string, message?: string) => {
      if (typeof fields === "string") logger[level](redaction.text(fields));
      else logger[level](asObject(redaction.value(fields)), message && redaction.text(message));
    };
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (bindings) => redactingLogger(logger.child({ ...asObject(redaction.value(bindings)) }), redaction),
  };
}

/** Fields that resist inspection are redacted to a text. */
function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : { fields: value };
}
