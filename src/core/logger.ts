import { describeError } from "./describe-error.ts";
import type { LogRedaction } from "./log-redaction.ts";

/** One level of a {@link Logger}: fields and a message, or a message alone. */
export interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}

/**
 * The logger interface of this package. A pino logger implements it; `console` does not, since it has no `child`.
 *
 * @example
 * ```ts
 * import { pino } from "pino";
 * const server = new WebhooksServer({ logger: pino({ level: "debug" }) });
 * ```
 */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** Creates a logger that adds `bindings` to each line. */
  child(bindings: Record<string, unknown>): Logger;
}

type Level = Exclude<keyof Logger, "child">;

/**
 * Wraps a logger so that no call throws: a field that cannot be serialized or a failing logger must not end a request or
 * the process. If the logger throws, the line is written again with its fields as plain data, then without fields. The first
 * line that is lost nevertheless is reported on the console.
 */
export function createSafeLogger(logger: Logger): Logger {
  return wrap(logger, { isReported: false });
}

function wrap(logger: Logger, failure: { isReported: boolean }): Logger {
  const write = (level: Level): LogMethod => {
    return (fields: object | string, message?: string) => {
      try {
        if (typeof fields === "string") logger[level](fields);
        else logger[level](fields, message);
      } catch {
        writeAgain(level, fields, message ?? "");
      }
    };
  };
  const writeAgain = (level: Level, fields: object | string, message: string) => {
    const attempts =
      typeof fields === "string"
        ? [() => logger[level](fields)]
        : [() => logger[level](toPlainFields(fields), message), () => logger[level](message)];
    let thrown: unknown;
    for (const attempt of attempts) {
      try {
        attempt();
        return;
      } catch (error) {
        thrown = error;
      }
    }
    if (failure.isReported) return;
    failure.isReported = true;
    // Its message may contain the fields that were to be logged.
    console.error(
      `The logger throws (${describeError(thrown).name}), and log lines are lost. Check the "logger" option.`,
    );
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child(bindings) {
      for (const given of [() => bindings, () => toPlainFields(bindings)]) {
        try {
          return wrap(logger.child(given()), failure);
        } catch {}
      }
      return wrap(logger, failure);
    },
  };
}

/** Wraps a logger so that messages, fields, errors and bindings of children reach it without secrets. */
export function createRedactingLogger(logger: Logger, redaction: LogRedaction): Logger {
  const write = (level: Level): LogMethod => {
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
    child: (bindings) => createRedactingLogger(logger.child({ ...asObject(redaction.value(bindings)) }), redaction),
  };
}

/** A value that cannot be inspected is redacted to a text. */
function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : { fields: value };
}

const notSerializable = "[cannot be serialized]";

/** Converts log fields to plain data, with a placeholder for each one that cannot be serialized. */
export function toPlainFields(fields: object): Record<string, unknown> {
  try {
    return Object.fromEntries(Object.keys(fields).map((name) => [name, toPlainField(fields, name)]));
  } catch {
    return { fields: notSerializable };
  }
}

function toPlainField(fields: object, name: string): unknown {
  try {
    const value: unknown = Reflect.get(fields, name);
    if (name === "err") return describeError(value);
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  } catch {
    return notSerializable;
  }
}
