/** Runs functions with the same key one after the other. Functions with other keys run at the same time. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a function after all earlier functions with this key have ended. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(key);
    const current = (async () => {
      await previous?.catch(() => {});
      return task();
    })();
    this.#last.set(key, current);
    try {
      return await current;
    } finally {
      if (this.#last.get(key) === current) this.#last.delete(key);
    }
  }
}
