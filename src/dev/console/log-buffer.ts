import type { LogLevel, LogLine } from "../../console/protocol/session.ts";
import { copyStart } from "../../core/text.ts";
import { parseJson } from "../../http/body.ts";
import type { OutputLine } from "../../server-file/server-process.ts";

const maxLines = 2_000;
/** The maximum length of a message or of the fields of a line, in characters. */
const maxLength = 8_192;
/** How long lines are collected before they are published. */
const collectMs = 100;

/** The levels of pino. */
const levels: Readonly<Record<number, LogLevel>> = {
  10: "debug",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "error",
};

export interface LogBufferOptions {
  now: () => number;
  /** Called with new lines, a few times per second at most. */
  onLines: (lines: readonly LogLine[]) => void;
}

/** The newest lines that the server logged or printed in a dev session. */
export class LogBuffer {
  readonly #options: LogBufferOptions;
  #lines: LogLine[] = [];
  #sequence = 0;
  #published = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LogBufferOptions) {
    this.#options = options;
  }

  add(output: OutputLine): void {
    this.#sequence += 1;
    this.#lines.push(parseLine(output, { sequence: this.#sequence, now: this.#options.now() }));
    // Removing the first line each time would copy the array for each line.
    if (this.#lines.length > 2 * maxLines) this.#lines = this.#lines.slice(-maxLines);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const added = this.after(this.#published);
      this.#published = this.#sequence;
      this.#options.onLines(added);
    }, collectMs).unref();
  }

  /** Returns the kept lines after a sequence, oldest first. */
  after(sequence: number): readonly LogLine[] {
    return this.#lines.slice(-maxLines).filter((line) => line.sequence > sequence);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

function parseLine({ stream, text }: OutputLine, { sequence, now }: { sequence: number; now: number }): LogLine {
  const record = parseLogLine(text);
  if (!record) {
    return { sequence, at: now, level: stream === "stderr" ? "error" : "output", message: cut(text) };
  }
  // The console does not show the process and the host.
  const { level, time, msg, endpoint, deliveryId, pid: _pid, hostname: _hostname, ...rest } = record;
  return {
    sequence,
    // A program can write nanoseconds, which no `Date` can represent.
    at: typeof time === "number" && Math.abs(time) <= 8.64e15 ? time : now,
    level: (typeof level === "number" ? levels[level] : undefined) ?? "info",
    message: typeof msg === "string" ? cut(msg) : "",
    ...(Object.keys(rest).length > 0 && { fields: cut(JSON.stringify(rest)) }),
    ...(typeof endpoint === "string" && { endpoint }),
    ...(typeof deliveryId === "string" && { deliveryId }),
  };
}

function cut(text: string): string {
  return text.length <= maxLength ? text : copyStart(text, maxLength);
}

/** A line of a JSON logger such as pino. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** Parses a line of a JSON logger, which has a level and a time. Returns `undefined` for any other text. */
export function parseLogLine(text: string): LogRecord | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    // A deeply nested value could be parsed, but writing it would overflow the stack.
    const parsed: unknown = parseJson(text);
    return typeof parsed === "object" && parsed !== null && "level" in parsed && "time" in parsed
      ? { ...parsed }
      : undefined;
  } catch {
    return undefined;
  }
}
