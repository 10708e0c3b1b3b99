import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What a {@link SourceWatcher} tells. */
export interface SourceWatcherOptions {
  /**
   * Called with the paths that have changed, once the last change is `settleMs` old. `isLoaded` tells whether any of
   * them is one that was added, and not only a neighbour of one.
   */
  onChange: (change: { paths: readonly string[]; isLoaded: boolean }) => void;
  /** Milliseconds. Default 80: an editor writes a file in several steps. */
  settleMs?: number;
}

/**
 * Watches source files. The folders of them, in truth: many editors put a new file in the place of the old one, and
 * whoever watches that one sees nothing any more.
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

  /** Watches this file from now on. */
  add(path: string): void {
    // What was loaded last may be told of only now, and a watch keeps the process alive.
    if (this.#isClosed) return;
    this.#files.add(path);
    const folder = dirname(path);
    if (this.#folders.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name !== null) this.#note(join(folder, basename(name)));
      });
      // The folder was removed, say: there is nothing to be told of it then.
      watcher.on("error", () => watcher.close());
      this.#folders.set(folder, watcher);
    } catch {
      // It is gone already, or the system watches no more folders: the others are watched all the same.
    }
  }

  /** Whether something has changed that was not told yet. */
  get isSettling(): boolean {
    return this.#changed.size > 0;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
  }

  #note(path: string): void {
    if (!this.#files.has(path) && !/\.([mc]?[jt]sx?|json)$/.test(path)) return;
    this.#changed.add(path);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const paths = [...this.#changed];
      this.#changed.clear();
      this.#options.onChange({ paths, isLoaded: paths.some((changed) => this.#files.has(changed)) });
    }, this.#options.settleMs);
  }
}
