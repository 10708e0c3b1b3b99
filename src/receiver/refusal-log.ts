import type { Logger, LogMethod } from "../core/logger.ts";
import { readField } from "../core/read-field.ts";

/** What a {@link RefusalLog} is made from. */
export interface RefusalLogOptions {
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** How many refusals with the same code are logged one by one in a second; anyone can cause them. */
const maxLinesPerSecond = 10;
const windowMs = 1_000;

/** The refusals with one code since its second started. */
interface Window {
  startedAt: number;
  lines: number;
  /** How many were not logged one by one. */
  further: number;
  /** Of the first of those. */
  fields: object;
  message: string;
}

/**
 * Logs refusals: the first ten of a second with the same code one by one, further ones as a line with their count, at most
 * a second later. It is a logger of which `warn` is for refusals alone; every other level passes.
 */
export class RefusalLog implements Logger {
  readonly #options: RefusalLogOptions;
  readonly #windows = new Map<string, Window>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RefusalLogOptions) {
    this.#options = options;
  }

  readonly warn: LogMethod = (given: object | string, message?: string) => {
    if (typeof given === "string") this.#refused({}, given);
    else this.#refused(given, message ?? "");
  };

  get debug(): LogMethod {
    return this.#options.log().debug;
  }

  get info(): LogMethod {
    return this.#options.log().info;
  }

  get error(): LogMethod {
    return this.#options.log().error;
  }

  child(bindings: Record<string, unknown>): Logger {
    return this.#options.log().child(bindings);
  }

  /** Logs the counts that are due, for whoever ends the server. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const window of this.#windows.values()) this.#logFurther(window);
    this.#windows.clear();
  }

  #refused(fields: object, message: string): void {
    const now = this.#options.now();
    const [code, status] = [readField(fields, "code"), readField(fields, "status")];
    const key = `${code} ${status}`;
    const open = this.#windows.get(key);
    // A negative age: the clock was set back.
    const isOver = open && (now - open.startedAt >= windowMs || now < open.startedAt);
    if (open && isOver) this.#logFurther(open);
    if (!open || isOver) {
      this.#windows.set(key, { startedAt: now, lines: 1, further: 0, fields: { code, status }, message });
      this.#options.log().warn(fields, message);
    } else if (open.lines < maxLinesPerSecond) {
      open.lines += 1;
      this.#options.log().warn(fields, message);
    } else {
      if (open.further === 0) open.message = message;
      open.further += 1;
      this.#timer ??= setTimeout(() => this.flush(), windowMs);
    }
  }

  #logFurther({ further, fields, message }: Window): void {
    if (further === 0) return;
    this.#options.log().warn({ ...fields, count: further }, `${further} further ${inPlural(message)}`);
  }
}

/** "delivery refused: …" becomes "deliveries refused: …". */
function inPlural(message: string): string {
  return message.replace(/y? refused\b/, (found) => (found.startsWith("y") ? "ies refused" : "s refused"));
}
