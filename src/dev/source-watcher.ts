import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

interface SourceWatcherOptions {
  /**
   * Called with the changed paths when the last change is `settleMs` old. `isLoaded` is `true` if files changed that were
   * added with {@link SourceWatcher.add}; `paths` then contains only these files. Otherwise, all paths are other files in
   * the watched folders.
   */
  onChange: (change: { paths: readonly string[]; isLoaded: boolean }) => void;
  /**
   * The time to wait for more changes, in milliseconds. Default `80`, because editors write a file in several steps.
   */
  settleMs?: number;
}

/**
 * Watches source files through their folders. Many editors save a file by replacing it, and a watcher of the old file
 * would not report later changes.
 */
export class SourceWatcher {
  readonly #options: Required<SourceWatcherOptions>;
  readonly #files = new Set<string>();
  readonly #folders = new Map<string, FSWatcher>();
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ onChange, settleMs = 80 }: SourceWatcherOptions) {
    this.#options = { onChange, settleMs };
  }

  /** Starts to watch a file. */
  add(path: string): void {
    // A file can be added after close(), and a new watcher would keep the process alive.
    if (this.#isClosed) return;
    this.#files.add(path);
    const folder = dirname(path);
    if (!this.#folders.has(folder)) this.#watch(folder);
  }

  /** Whether there are changes that have not been reported yet. */
  get isSettling(): boolean {
    return this.#changed.size > 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
  }

  #watch(folder: string): void {
    const forget = () => {
      this.#folders.get(folder)?.close();
      this.#folders.delete(folder);
    };
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null) return;
        this.#recordChange(join(folder, basename(name)));
        // The folder itself has changed. If it was deleted, this watcher reports nothing more, even if the folder is created again.
        if (name !== basename(folder)) return;
        forget();
        this.#watch(folder);
      });
      this.#folders.set(folder, watcher);
      // A folder that is forgotten is watched again when one of its files is added again.
      watcher.on("error", forget);
    } catch {
      // The folder no longer exists, or the system allows no more watchers. Continue to watch the other folders.
    }
  }

  #recordChange(path: string): void {
    if (!this.#files.has(path) && !/\.([mc]?[jt]sx?|json)$/.test(path)) return;
    this.#changed.add(path);
    clearTimeout(this.#timer);
    const timer = setTimeout(() => {
      // If the event loop was blocked, timers run before the events of later changes. Wait for one more turn of the
      // event loop to include these changes.
      setImmediate(() => {
        if (timer === this.#timer && !this.#isClosed) this.#reportChanges();
      });
    }, this.#options.settleMs);
    this.#timer = timer;
  }

  #reportChanges(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    const loaded = changed.filter((path) => this.#files.has(path));
    const isLoaded = loaded.length > 0;
    this.#options.onChange({ paths: isLoaded ? loaded : changed, isLoaded });
  }
}
