/** One level of a {@link Logger}: fields and a message, or a message alone. */
export interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}

/**
 * What this package needs of a logger: the shape of pino, which fits it as it is. `console` does not: it has no
 * `child`.
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
  /** A logger that adds `bindings` to each of its lines. */
  child(bindings: Record<string, unknown>): Logger;
}
