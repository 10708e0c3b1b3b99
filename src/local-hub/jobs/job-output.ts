import type { JobStore, StoredLogLine } from "../store/job-store.ts";

export interface JobOutputOptions {
  store: JobStore;
  jobId: string;
  /** The values of the secrets of the job. */
  secrets: readonly string[];
  now: () => number;
  /** Called after lines were stored. */
  onStored: () => void;
}

/**
 * Stores the output of a job. Masks secrets, because jobs can print their secrets. Stores the lines that arrive together in one
 * transaction, because one transaction per line would slow down the local Hub.
 */
export class JobOutput {
  readonly #options: JobOutputOptions;
  #pending: StoredLogLine[] = [];

  constructor(options: JobOutputOptions) {
    this.#options = options;
  }

  /** Adds a line, and returns the line with masked secrets. */
  add(line: string): string {
    const data = this.#mask(line);
    if (this.#pending.length === 0) queueMicrotask(() => this.flush());
    this.#pending.push({ timestamp: this.#options.now(), data });
    return data;
  }

  /** Stores the lines that were added. */
  flush(): void {
    const { store, jobId, onStored } = this.#options;
    const lines = this.#pending;
    if (lines.length === 0) return;
    this.#pending = [];
    store.addLines(jobId, lines);
    onStored();
  }

  #mask(line: string): string {
    return this.#options.secrets
      .filter((value) => value !== "")
      .reduce((masked, value) => masked.replaceAll(value, "***"), line);
  }
}
