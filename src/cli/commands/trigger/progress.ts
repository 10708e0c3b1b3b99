import type { OutputStream } from "../../shell.ts";

/** What {@link Progress} needs. */
export interface ProgressOptions {
  /** Where it is drawn; nothing is where that is no terminal. */
  stream: OutputStream;
  /** How many there will be. */
  total: number;
  /** Milliseconds. Default: a clock that only runs forward. */
  now?: () => number;
}

/** In characters. */
const barWidth = 30;
/** Between two drawings, in milliseconds. */
const pauseMs = 100;

/** A line that shows how far something has come, drawn over itself on a terminal. */
export class Progress {
  readonly #options: Required<ProgressOptions>;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(options: ProgressOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** Shows that so many are done, of which some have failed. */
  show({ done, failed }: { done: number; failed: number }): void {
    const { stream, total, now } = this.#options;
    if (!stream.isTTY || (now() - this.#drawnAt < pauseMs && done < total)) return;
    this.#drawnAt = now();
    this.#isDrawn = true;
    const filled = Math.round((done / total) * barWidth);
    const bar = `${"=".repeat(filled)}${" ".repeat(barWidth - filled)}`;
    stream.write(`\r[${bar}] ${done} of ${total}${failed > 0 ? `, ${failed} failed` : ""}\u001b[K`);
  }

  /** Takes the line away again. */
  clear(): void {
    if (this.#isDrawn) this.#options.stream.write("\r\u001b[K");
    this.#isDrawn = false;
  }
}
