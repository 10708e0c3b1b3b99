import { crc32 } from "node:zlib";
import { isDamage } from "../../core/files.ts";
import { readEventFields } from "../filter.ts";
import type { ListOptions } from "../inbox.ts";
import type { Statements } from "./statements.ts";

/** The number of deliveries per group. Fewer deliveries are not indexed, because a search examines them in about 10 ms. */
const groupSize = 500;
/**
 * The number of groups that wait while many deliveries arrive, because reading them would take a tenth of the core that accepts these. By
 * default, as many deliveries of one endpoint can be queued. A search examines them in about 2 s, in requests of 0.3 s.
 */
const busyGroups = 200;
/** The number of deliveries between two calls of `readGroup` that count as many. */
const minBusyDeliveries = 100;
/** The target duration of reading a group. Reading one large body can take longer. */
const maxReadMs = 20;
/** The target duration of adding deliveries. New deliveries wait until the transaction ends. */
const maxAddMs = 2;

/** The columns of a delivery in the index: the hashes of its repository, scope, and action. */
type EventKeys = readonly [repository: number | null, scope: number | null, action: number | null];

/** Deliveries to add to the index. */
export interface EventGroup {
  after: number;
  /** The end of the index with the group. */
  end: number;
  events: readonly (readonly [sequence: number, ...EventKeys])[];
}

/** A delivery at which a search in the index has arrived. */
export interface IndexPosition {
  sequence: number;
  /** Whether the delivery has all values. If not, it is unknown whether it has them. */
  isMatch: boolean;
}

/**
 * Indexes deliveries by repository, scope, and action. Deliveries are not indexed when they are accepted but later, in groups and ordered
 * by sequence. A search examines the deliveries after the end of the index one by one.
 *
 * The index contains hashes, so it is small, and a search must compare the deliveries that it finds.
 */
export class EventIndex {
  readonly #statements: Statements;
  /** The sequence of the newest delivery at the last call of `readGroup`. */
  #last = Number.NaN;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The sequence up to which all deliveries with a readable body are indexed. Never decreases. */
  get end(): number {
    return Number(this.#statements.indexEnd().get()?.delivery ?? 0);
  }

  /**
   * Reads the next deliveries to index, or returns `undefined` if there are fewer than a group, or if many have arrived since the last
   * call. Call this method outside a transaction, because reading takes longer than adding.
   */
  readGroup({ size = groupSize } = {}): EventGroup | undefined {
    const after = this.end;
    const last = Number(this.#statements.lastSequence().get()?.sequence ?? 0);
    const isBusy = last - this.#last >= minBusyDeliveries;
    this.#last = last;
    if (last - after < (isBusy ? busyGroups * size : size)) return undefined;
    const stopAt = performance.now() + maxReadMs;
    const events: (readonly [number, ...EventKeys])[] = [];
    let end = after;
    try {
      for (const { sequence, body } of this.#statements.bodiesAfter().iterate(after, size)) {
        end = Number(sequence);
        if (typeof body === "string") events.push([end, ...keysOf(body)]);
        if (performance.now() >= stopAt) break;
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      // The next group starts at the delivery on a damaged page, and skips it.
      if (end === after) end += 1;
    }
    return { after, end, events };
  }

  /**
   * Adds the first deliveries of a group, and all of them if the time suffices. Adds none if another process has indexed them, and skips
   * those whose body has been removed since the group was read. Call this method inside a transaction.
   */
  add({ after, end, events }: EventGroup): void {
    if (this.end !== after) return;
    const stopAt = performance.now() + maxAddMs;
    let added = 0;
    for (const event of events) {
      this.#statements.addToIndex().run(...event);
      added += 1;
      if (performance.now() >= stopAt) break;
    }
    const next = events[added];
    this.#statements.moveIndexEnd().run(next ? next[0] - 1 : end);
  }

  /** Indexes a new body inside a transaction, even after the end of the index, so that a group that was read before does not replace it. */
  replace(sequence: number, body: string): void {
    this.#statements.replaceInIndex().run(sequence, ...keysOf(body));
  }

  /**
   * Yields the deliveries before a sequence that have the hashes of the values of a filter, newest first. Also yields other deliveries, so
   * that the caller can stop a long search.
   */
  *find({ repository, scope, action }: ListOptions, before: number): Generator<IndexPosition> {
    const { newestOfRepository, newestOfScope, newestOfAction } = this.#statements;
    const wanted = [
      { newest: newestOfRepository, key: repositoryKey(repository) },
      { newest: newestOfScope, key: keyOf(scope) },
      { newest: newestOfAction, key: keyOf(action) },
    ].filter(({ key }) => key !== null);
    for (let below = before; ; ) {
      const found = wanted.map(({ newest, key }) => Number(newest().get(key, below)?.delivery ?? 0));
      const sequence = Math.min(...found);
      if (sequence === 0) return;
      const isMatch = found.every((one) => one === sequence);
      yield { sequence, isMatch };
      // The other values can also have this delivery.
      below = isMatch ? sequence : sequence + 1;
    }
  }
}

function keysOf(body: string): EventKeys {
  const { repositoryName, scope, action } = readEventFields(body);
  return [repositoryKey(repositoryName), keyOf(scope), keyOf(action)];
}

/** A filter can contain the type of a repository, which is separated by a colon. A name usually contains no colon. */
function repositoryKey(repository: string | undefined): number | null {
  return keyOf(repository?.slice(repository.lastIndexOf(":") + 1));
}

/** Returns a signed number, which takes less space in SQLite. */
function keyOf(text: string | undefined): number | null {
  return text === undefined ? null : crc32(text) | 0;
}
