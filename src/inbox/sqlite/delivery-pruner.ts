import type { DatabaseSync } from "node:sqlite";
import { isDamage } from "../../core/files.ts";
import type { Retention } from "../retry.ts";
import type { Statements } from "./statements.ts";

/** The target duration of a step. New deliveries wait until the step ends. Removing one large body can take longer. */
const maxStepMs = 5;
const maxRows = 200;
const pagesPerVacuum = 16;

/** Removes deliveries whose retention period has ended from the file of an inbox, in steps. Each step is one transaction. */
export class DeliveryPruner {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  /** The sequences of deliveries on damaged pages. Pruning skips them, because removing one would fail the step. */
  readonly #damaged = new Set<number>();

  constructor(database: DatabaseSync, statements: Statements) {
    this.#database = database;
    this.#statements = statements;
  }

  /** Returns all endpoints in the file with their stored retention. */
  endpoints(): { endpoint: string; retention: Retention | undefined }[] {
    return this.#statements.endpoints.all().map(({ endpoint, retention_ms, ids_kept_ms }) => ({
      endpoint: String(endpoint),
      retention: retention_ms === null ? undefined : { bodiesMs: Number(retention_ms), idsMs: Number(ids_kept_ms) },
    }));
  }

  /**
   * Runs one step for an endpoint: removes bodies and attempts of deliveries that finished before `bodiesBefore`, and then IDs of
   * deliveries that finished before both times. Returns the number of removed bodies.
   */
  prune(
    endpoint: string,
    { bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number },
  ): { count: number; isDone: boolean } {
    const { finished, removeBody, removeAttempts, removeFromIndex, emptied, removeId } = this.#statements;
    const until = performance.now() + maxStepMs;
    const bodies = this.#removeSome(
      (limit) => finished.all(endpoint, bodiesBefore, limit),
      until,
      (sequence) => {
        removeBody.run(sequence);
        removeAttempts.run(sequence);
        removeFromIndex.run(sequence);
      },
    );
    if (!bodies.isDone) return bodies;
    const idsRemovedBefore = Math.min(bodiesBefore, idsBefore);
    const { isDone } = this.#removeSome(
      (limit) => emptied.all(endpoint, idsRemovedBefore, limit),
      until,
      (sequence) => removeId.run(sequence),
    );
    return { count: bodies.count, isDone };
  }

  /** The number of deliveries on damaged pages that are skipped. */
  get damaged(): number {
    return this.#damaged.size;
  }

  /** Returns some of the file's free pages to the disk. */
  shrink(): { isDone: boolean } {
    const read = (name: string) => Number(this.#database.prepare(`PRAGMA ${name}`).get()?.[name]);
    const incremental = 2;
    if (read("auto_vacuum") !== incremental) return { isDone: true };
    const until = performance.now() + maxStepMs;
    while (read("freelist_count") > 0) {
      if (performance.now() >= until) return { isDone: false };
      this.#database.exec(`PRAGMA incremental_vacuum(${pagesPerVacuum})`);
    }
    return { isDone: true };
  }

  #removeSome(
    find: (limit: number) => readonly Record<string, unknown>[],
    until: number,
    remove: (sequence: number) => void,
  ): { count: number; isDone: boolean } {
    const limit = maxRows + this.#damaged.size;
    const rows = find(limit);
    let count = 0;
    for (const { sequence } of rows) {
      if (this.#damaged.has(Number(sequence))) continue;
      if (count > 0 && performance.now() >= until) return { count, isDone: false };
      try {
        remove(Number(sequence));
        count += 1;
      } catch (error) {
        // Later steps skip this delivery.
        if (isDamage(error)) this.#damaged.add(Number(sequence));
        throw error;
      }
    }
    return { count, isDone: rows.length < limit };
  }
}
