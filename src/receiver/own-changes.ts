import type { Logger } from "../core/log.ts";
import { untilAborted } from "../core/time.ts";
import type { ActionObserver, MadeChange, ObservedAction } from "../hub/repositories/action-observer.ts";
import type { RepoRef } from "../hub/schemas.ts";
import type { OwnActions } from "../inbox/inbox.ts";

/** The inbox that stores the changes. `undefined` while no inbox is open. */
export interface OpenedInbox {
  readonly opened: Promise<{ readonly ownActions?: OwnActions | undefined }> | undefined;
}

/** The maximum number of keys in memory. The inbox keeps more. */
const maxRemembered = 10_000;

/**
 * The changes that this server made on the Hub, in memory and in the inbox. Other servers that share the inbox find them too, also
 * after a restart. Changes in progress are only known in this process.
 */
export class OwnChanges implements ActionObserver {
  readonly #background: OpenedInbox;
  readonly #log: Logger;
  readonly #remembered = new Set<string>();
  readonly #inProgress = new Map<string, Set<Promise<void>>>();

  constructor(background: OpenedInbox, log: Logger) {
    this.#background = background;
    this.#log = log;
  }

  begin(repo: RepoRef): ObservedAction {
    const name = repoKey(repo);
    const { promise, resolve } = Promise.withResolvers<void>();
    const pending = this.#inProgress.get(name) ?? new Set();
    this.#inProgress.set(name, pending.add(promise));
    return {
      done: async (made) => {
        try {
          await this.#add(made.map((change) => changeKey(repo, change)));
        } finally {
          pending.delete(promise);
          if (pending.size === 0 && this.#inProgress.get(name) === pending) this.#inProgress.delete(name);
          resolve();
        }
      },
    };
  }

  /** Resolves when the changes to a repository that are now in progress are done. Rejects if the signal aborts before. */
  async waitFor(repo: RepoRef, signal: AbortSignal): Promise<void> {
    const pending = [...(this.#inProgress.get(repoKey(repo)) ?? [])];
    if (pending.length > 0) await untilAborted(Promise.all(pending), signal);
  }

  /** Returns the keys that belong to changes of this server. Reads the inbox only for keys that are not in memory. */
  async find(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const unknown = keys.filter((key) => !this.#remembered.has(key));
    if (unknown.length === 0) return new Set(keys);
    try {
      const stored = await (await this.#background.opened)?.ownActions?.find(unknown);
      return new Set(keys.filter((key) => this.#remembered.has(key) || stored?.has(key)));
    } catch (error) {
      this.#log.warn(
        { err: error },
        "The inbox could not read the changes of this server, so events that the server caused might be delivered to handlers.",
      );
      return new Set(keys.filter((key) => this.#remembered.has(key)));
    }
  }

  /** Never rejects, because the change was made in any case. */
  async #add(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    for (const key of keys) this.#remembered.add(key);
    for (const key of this.#remembered) {
      if (this.#remembered.size <= maxRemembered) break;
      this.#remembered.delete(key);
    }
    try {
      await (await this.#background.opened)?.ownActions?.add(keys);
    } catch (error) {
      this.#log.warn(
        { err: error },
        "The inbox could not store a change of this server. After a restart, the server only recognizes the change by its marker.",
      );
    }
  }
}

/** Returns the key of a change. Only the numbers of discussions need the repository. */
export function changeKey(repo: RepoRef, { kind, id }: MadeChange): string {
  return kind === "discussion" ? `${kind} ${repoKey(repo)}#${id}` : `${kind} ${id}`;
}

function repoKey({ type, name }: RepoRef): string {
  return `${type}:${name}`;
}
