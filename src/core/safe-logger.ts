import { describeError } from "./describe-error.ts";
import type { Logger, LogMethod } from "./logger.ts";
import { plainFields } from "./plain-fields.ts";

type Level = Exclude<keyof Logger, "child">;

/**
 * Wraps a logger so that no call throws: neither a field that resists inspection nor a logger that fails may end a
 * request or the process. A line that the logger refuses is written again with its fields as plain data, then without
 * fields. The first line that is lost all the same is reported on the console.
 */
export function safeLogger(logger: Logger): Logger {
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
        : [() => logger[level](plainFields(fields), message), () => logger[level](message)];
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
    // Without its message, which may hold what was to be logged.
    console.error(
      `The logger throws (${describeError(thrown).name}), so log lines are lost. Check the "logger" option.`,
    );
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child(bindings) {
      for (const given of [() => bindings, () => plainFields(bindings)]) {
        try {
          return wrap(logger.child(given()), failure);
        } catch {}
      }
      return wrap(logger, failure);
    },
  };
}
