import type { DatabaseSync } from "node:sqlite";
import { isDamage } from "./sqlite-error.ts";
import type { Statements } from "./statements.ts";

/** How long a step may take, in milliseconds: arrivals wait for it. A delivery with a large body takes longer. */
const stepMs = 5;
const maxRows = 200;
/** Pages that are given back before the clock is looked at. */
const pagesPerTurn = 16;

/** How long the bodies and the ids of finished deliveries are kept, in milliseconds. */
export interface Retention {
  bodiesMs: number;
  idsMs: number;
}

/** Removes what is not needed any more from the file of an inbox, in steps: a transaction for each. */
export class StepRemover {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  /** Rows on damaged pages, by sequence: each step would fail at them. */
  readonly #damaged = new Set<number>();

  constructor(database: DatabaseSync, statements: Statements) {
    this.#database = database;
    this.#statements = statements;
  }

  /** All endpoints that the file has deliveries of, with the retention that was stored for them. */
  endpoints(): { endpoint: string; retention: Retention | undefined }[] {
    return this.#statements.endpoints.all().map(({ endpoint, retention_ms, ids_kept_ms }) => ({
      endpoint: String(endpoint),
      retention: retention_ms === null ? undefined : { bodiesMs: Number(retention_ms), idsMs: Number(ids_kept_ms) },
    }));
  }

  /**
   * Removes the body and the attempts of some deliveries that finished before `bodiesBefore`, and the id of some that
   * also finished before `idsBefore`: until then a duplicate has to be recognized. Returns how many bodies, and whether
   * that was all.
   */
  prune(
    endpoint: string,
    { bodiesBefore, idsBefore }: { bodiesBefore: number; idsBefore: number },
  ): { count: number; isDone: boolean } {
    const { finished, dropBody, dropAttempts, emptied, dropId } = this.#statements;
    const until = performance.now() + stepMs;
    const bodies = this.#removeSome(
      (limit) => finished.all(endpoint, bodiesBefore, limit),
      until,
      (sequence) => {
        dropBody.run(sequence);
        dropAttempts.run(sequence);
      },
    );
    if (!bodies.isDone) return bodies;
    const forgottenBefore = Math.min(bodiesBefore, idsBefore);
    const { isDone } = this.#removeSome(
      (limit) => emptied.all(endpoint, forgottenBefore, limit),
      until,
      (sequence) => dropId.run(sequence),
    );
    return { count: bodies.count, isDone };
  }

  /** How many deliveries are left out since they are on a damaged page. */
  get damaged(): number {
    return this.#damaged.size;
  }

  /** Gives some free pages back to the disk. Returns whether that was all. */
  shrink(): { isDone: boolean } {
    const read = (name: string) => Number(this.#database.prepare(`PRAGMA ${name}`).get()?.[name]);
    const incremental = 2;
    if (read("auto_vacuum") !== incremental) return { isDone: true };
    const until = performance.now() + stepMs;
    while (read("freelist_count") > 0) {
      if (performance.now() >= until) return { isDone: false };
      this.#database.exec(`PRAGMA incremental_vacuum(${pagesPerTurn})`);
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
    for (const [index, { sequence }] of rows.entries()) {
      if (this.#damaged.has(Number(sequence))) continue;
      if (index > 0 && performance.now() >= until) return { count, isDone: false };
      try {
        remove(Number(sequence));
        count += 1;
      } catch (error) {
        // Left out from the next step on.
        if (isDamage(error)) this.#damaged.add(Number(sequence));
        throw error;
      }
    }
    return { count, isDone: rows.length < limit };
  }
}
