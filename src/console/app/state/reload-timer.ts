/** Changes that arrive together cause one reload. In milliseconds. */
const reloadDelayMs = 300;

/** Runs a reload after a change, or after an interval without changes. */
export class ReloadTimer {
  readonly #reload: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasChange = false;

  constructor(reload: () => void) {
    this.#reload = reload;
  }

  /** Reloads 300 ms after the first change. Later changes do not delay the reload, so that it also happens under constant load. */
  changed(): void {
    if (this.#hasChange) return;
    this.#start(reloadDelayMs);
    this.#hasChange = true;
  }

  /** Reloads after this time in milliseconds, or earlier after a change. */
  refreshAfter(ms: number): void {
    if (!this.#hasChange) this.#start(ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#hasChange = false;
  }

  #start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#hasChange = false;
      this.#reload();
    }, ms);
  }
}
