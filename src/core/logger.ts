import { describeError } from "./describe-error.ts";
import type { LogRedaction } from "./log-redaction.ts";

/** The method of one log level of a {@link Logger}. Takes fields and an optional message, or only a message. */
export interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}

/**
 * The logger interface of this package. A pino logger implements it. `console` does not implement it, because `console`
 * has no `child` method.
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

/** Creates a logger from one function that writes the lines of every level. */
export function createLogger(
  write: (level: Level, fields: object | string, message?: string) => void,
  child: Logger["child"],
): Logger {
  const method = (level: Level): LogMethod => {
    return (fields: object | string, message?: string) => write(level, fields, message);
  };
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error"), child };
}

function writeLine(logger: Logger, level: Level, fields: object | string, message?: string): void {
  if (typeof fields === "string") logger[level](fields);
  else logger[level](fields, message);
}

/** Creates a logger that passes each call to the logger that `current` returns at that time. */
export function createForwardingLogger(current: () => Logger): Logger {
  return createLogger(
    (level, fields, message) => writeLine(current(), level, fields, message),
    (bindings) => current().child(bindings),
  );
}

/**
 * Wraps a logger so that no call throws. A field that cannot be serialized or a failing logger must not end a request or the
 * process. If the logger throws, the wrapper logs the line again with plain fields, and then without fields. If that fails
 * too, the wrapper reports the first lost line on the console.
 */
export function createSafeLogger(logger: Logger): Logger {
  return wrap(logger, { isReported: false });
}

function wrap(logger: Logger, failure: { isReported: boolean }): Logger {
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
    // The error's message is omitted, because it can contain log fields.
    console.error(`The logger threw ${describeError(thrown).name}, and log lines are lost. Check the "logger" option.`);
  };
  const write = (level: Level, fields: object | string, message?: string) => {
    try {
      writeLine(logger, level, fields, message);
    } catch {
      writeAgain(level, fields, message ?? "");
    }
  };
  return createLogger(write, (bindings) => {
    for (const given of [() => bindings, () => toPlainFields(bindings)]) {
      try {
        return wrap(logger.child(given()), failure);
      } catch {}
    }
    return wrap(logger, failure);
  });
}

/** Wraps a logger so that secrets are redacted in messages, fields, errors, and the bindings of child loggers. */
export function createRedactingLogger(logger: Logger, redaction: LogRedaction): Logger {
  const write = (level: Level, fields: object | string, message?: string) => {
    if (typeof fields === "string") logger[level](redaction.text(fields));
    else logger[level](asObject(redaction.value(fields)), message && redaction.text(message));
  };
  return createLogger(write, (bindings) =>
    createRedactingLogger(logger.child({ ...asObject(redaction.value(bindings)) }), redaction),
  );
}

/** Wraps the text that redaction returns for a value that cannot be inspected. */
function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : { fields: value };
}

const notSerializable = "[cannot be serialized]";

/** Converts log fields to plain data. A placeholder replaces each field that cannot be serialized. */
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
