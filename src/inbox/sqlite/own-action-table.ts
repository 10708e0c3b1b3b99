import { maxOwnActions, ownActionRetentionMs } from "../own-actions.ts";
import type { Statements } from "./statements.ts";

/** Reads and writes the keys of own actions. Call the methods that write inside a transaction. */
export class OwnActionTable {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Adds keys, and removes old keys. `now` is in milliseconds since the epoch. */
  add(keys: readonly string[], now: number): void {
    for (const key of keys) this.#statements.addOwnAction.run(key, now);
    this.prune(now);
  }

  /** Returns the keys that are stored. */
  find(keys: readonly string[]): ReadonlySet<string> {
    return new Set(keys.filter((key) => this.#statements.ownAction.get(key) !== undefined));
  }

  /** Removes keys whose retention period has ended, and the oldest keys above the maximum. */
  prune(now: number): void {
    this.#statements.removeOwnActions.run({
      max_kept: maxOwnActions,
      before: now - ownActionRetentionMs,
      max_rows: maxRows,
    });
  }
}

/** The maximum number of keys that one write removes. Each write adds fewer keys, so the table does not grow. */
const maxRows = 200;
