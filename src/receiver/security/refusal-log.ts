import type { Logger, LogMethod } from "../../core/logger.ts";
import { readField } from "../../core/read-field.ts";

interface RefusalLogOptions {
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Limits the log lines per second for each code, because any client can cause refused requests. */
const maxLinesPerSecond = 10;
const windowMs = 1_000;

/** The refused requests with one code and status in the current second. */
interface Window {
  startedAt: number;
  lines: number;
  /** The number of refused requests that were counted but not logged. */
  suppressed: number;
  /** The `code` and `status` of the refused requests. */
  fields: object;
  message: string;
}

/**
 * A logger that samples `warn` and passes on the other levels. In each second, it logs the first ten refused requests with
 * the same code and status. At the end of the second, one line reports how many further requests were refused.
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
    return this.#options.log.debug;
  }

  get info(): LogMethod {
    return this.#options.log.info;
  }

  get error(): LogMethod {
    return this.#options.log.error;
  }

  child(bindings: Record<string, unknown>): Logger {
    return this.#options.log.child(bindings);
  }

  /** Logs the counts that are not logged yet, for example before the server closes. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const window of this.#windows.values()) this.#logSuppressed(window);
    this.#windows.clear();
  }

  #refused(fields: object, message: string): void {
    const now = this.#options.now();
    const [code, status] = [readField(fields, "code"), readField(fields, "status")];
    const key = `${code} ${status}`;
    const open = this.#windows.get(key);
    // The window also ends if the clock was set back.
    const isOver = open && (now - open.startedAt >= windowMs || now < open.startedAt);
    if (open && isOver) this.#logSuppressed(open);
    if (!open || isOver) {
      this.#windows.set(key, { startedAt: now, lines: 1, suppressed: 0, fields: { code, status }, message });
      this.#options.log.warn(fields, message);
    } else if (open.lines < maxLinesPerSecond) {
      open.lines += 1;
      this.#options.log.warn(fields, message);
    } else {
      if (open.suppressed === 0) open.message = message;
      open.suppressed += 1;
      this.#timer ??= setTimeout(() => this.flush(), windowMs);
    }
  }

  #logSuppressed({ suppressed, fields, message }: Window): void {
    if (suppressed === 0) return;
    this.#options.log.warn({ ...fields, count: suppressed }, `${suppressed} further ${inPlural(message)}`);
  }
}

/** Converts "delivery refused: …" to "deliveries refused: …". */
function inPlural(message: string): string {
  return message.replace(/y? refused\b/, (found) => (found.startsWith("y") ? "ies refused" : "s refused"));
}
