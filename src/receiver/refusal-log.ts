import type { Logger, LogMethod } from "../core/logger.ts";
import { readField } from "../core/read-field.ts";

interface RefusalLogOptions {
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Max lines per second for refused requests with the same code: any client can cause them. */
const maxLinesPerSecond = 10;
const windowMs = 1_000;

/** The refused requests with one code in the current second. */
interface Window {
  startedAt: number;
  lines: number;
  /** The number of those that were counted and not logged. */
  further: number;
  /** `code` and `status` of the window. */
  fields: object;
  message: string;
}

/**
 * Samples the log lines of refused requests: logs the first ten with the same code in a second one by one, and the count of
 * further ones in one line, at the end of the second. It is a logger that samples `warn` and passes on the other levels.
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

  /** Logs the pending counts, before the server closes. */
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
