/** Notifies streams about changes of a job and about new lines of its output. */
export class JobChanges {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  /** Resolves at the next change of a job. */
  next(jobId: string): Promise<void> {
    let waiting = this.#waiting.get(jobId);
    if (!waiting) {
      waiting = Promise.withResolvers<void>();
      this.#waiting.set(jobId, waiting);
    }
    return waiting.promise;
  }

  /** Resolves the promises for a job. */
  notify(jobId: string): void {
    this.#waiting.get(jobId)?.resolve();
    this.#waiting.delete(jobId);
  }
}
