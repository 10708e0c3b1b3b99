import { resolve } from "node:path";
import type { Logger } from "../../core/logger.ts";
import { readFilter } from "../delivery-filter.ts";
import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  EndpointQueue,
  Inbox,
  InboxProblem,
  IncomingDelivery,
  ListOptions,
  StoredDelivery,
} from "../inbox.ts";
import { deliveryUnknown, inboxUnavailable } from "../inbox-errors.ts";
import { defaultMaxBlockedMs } from "../loop-monitor.ts";
import type { OwnActions } from "../own-actions.ts";
import { retentionOf } from "../retention.ts";
import { BackgroundMaintenance } from "./background-maintenance.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { DamageTracker } from "./damage-tracker.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import { EndpointWorker } from "./endpoint-worker.ts";
import { checkFileSystem } from "./file-system.ts";
import { GroupCommit } from "./group-commit.ts";
import { InboxFile, type LoggedDatabase } from "./inbox-file.ts";
import { LeaseRecovery } from "./lease-recovery.ts";
import { findProblems } from "./problems.ts";
import { pruneInbox } from "./prune-inbox.ts";
import { RunGate, type Suspect } from "./run-gate.ts";
import { searchIndexFile } from "./search-index.ts";

export interface SqliteInboxOptions {
  /** The path of the file, or `:memory:` for an inbox that is lost when the process exits. */
  file: string;
  /** Whether to reject a file on a network file system or on FUSE, or to accept it with a warning. Default `"refuse"`. */
  unsafeFileSystem?: "refuse" | "allow";
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a monotonic clock. Default `performance.now`. */
  monotonicNow?: () => number;
  /** The maximum number of queued deliveries per endpoint. Default `100_000`. */
  maxQueued?: number;
  /** If a process sends no heartbeats for this time in milliseconds, its deliveries are recovered. Default `30_000`. */
  leaseMs?: number;
  /**
   * How long the event loop can be blocked before it counts as hung, in milliseconds. A hung process sends no
   * heartbeats. Default `600_000`.
   */
  maxBlockedMs?: number;
  /**
   * The interval between polls, in milliseconds. A poll finds deliveries that other processes stored, due deliveries, and crashed
   * processes. Default `1_000`.
   */
  pollMs?: number;
  /** The delay of the first prune, in milliseconds. Later prunes run every hour. Default `10_000`. */
  firstPruneMs?: number;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
  /**
   * The open database at `file`, and the log that stores its changes before each commit. No other process may use the file. The
   * file must contain no running deliveries of processes that can still store results.
   */
  logged?: LoggedDatabase;
}

const hourMs = 3_600_000;

/*
 * The parts of the inbox:
 *
 * - `InboxFile` opens the database and restores a deleted file. `DeliveryTable` reads and writes its rows.
 * - `GroupCommit` combines concurrent writes into one transaction.
 * - `EndpointWorker` claims and runs the deliveries of one endpoint. `RunGate` makes suspects run alone (see `crash-policy.ts`).
 * - `BackgroundMaintenance` sends heartbeats from a thread, even while a handler blocks the event loop. `LeaseRecovery` recovers the
 *   deliveries of processes that send no heartbeats.
 * - `DeliverySearch` lists deliveries that match filters. `SearchIndexer` maintains its index in the thread of `BackgroundMaintenance`.
 * - `DamageTracker` records damaged pages, and `findProblems` reports all problems.
 * - `BackgroundTasks` runs the polls, heartbeats, and prunes below.
 */

/** Stores deliveries in a SQLite file. Several processes on one machine can share the file. */
export class SqliteInbox implements Inbox {
  readonly ownActions: OwnActions = {
    add: (keys) => this.#groupCommit.write(() => this.#table.ownActions.add(keys, this.#options.now())),
    find: async (keys) => this.#file.committed.ownActions.find(keys),
  };
  readonly #options: Required<Omit<SqliteInboxOptions, "logged">>;
  readonly #file: InboxFile;
  readonly #groupCommit: GroupCommit;
  readonly #processId = crypto.randomUUID();
  readonly #workers = new Map<string, EndpointWorker>();
  readonly #maintenance: BackgroundMaintenance;
  readonly #damage: DamageTracker;
  readonly #gate: RunGate;
  readonly #leaseRecovery: LeaseRecovery;
  readonly #tasks: BackgroundTasks;
  /**
   * The time of the last poll. With the initial value, the first poll corrects times that were stored before the clock was set
   * back.
   */
  #lastPoll = Number.POSITIVE_INFINITY;
  /** When `#wakeDue` is scheduled, in milliseconds since the epoch. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};
  #pruning: Promise<number> | undefined;
  #closed: Promise<{ interrupted: number }> | undefined;

  /** @throws `INBOX_UNUSABLE` if the file cannot be opened. */
  constructor({ logged, ...options }: SqliteInboxOptions) {
    this.#options = {
      unsafeFileSystem: "refuse",
      monotonicNow: () => performance.now(),
      maxQueued: 100_000,
      leaseMs: 30_000,
      maxBlockedMs: defaultMaxBlockedMs,
      pollMs: 1_000,
      // The first prune is delayed, because the first deliveries have priority.
      firstPruneMs: 10_000,
      mustExist: false,
      ...options,
    };
    const { file, unsafeFileSystem, mustExist, log, now, monotonicNow } = this.#options;
    const { leaseMs, maxBlockedMs, pollMs, firstPruneMs } = this.#options;
    if (file !== ":memory:") checkFileSystem(file, { isAllowed: unsafeFileSystem === "allow", log });
    this.#file = new InboxFile({ file, mustExist, log, ...(logged && { logged }) });
    this.#tasks = new BackgroundTasks({ log, monotonicNow });
    this.#groupCommit = new GroupCommit(this.#file);
    this.#damage = new DamageTracker({ file, log, monotonicNow });
    this.#maintenance = new BackgroundMaintenance({
      file: file === ":memory:" ? undefined : resolve(file),
      isPrivate: logged !== undefined,
      processId: this.#processId,
      heartbeatMs: leaseMs / 3,
      maxBlockedMs,
      log,
    });
    this.#gate = new RunGate({
      now,
      monotonicNow,
      firstHoldMs: pollMs,
      findSuspects: () => this.#findSuspects(),
      wakeWorkers: () => this.#wakeWorkers(),
    });
    this.#leaseRecovery = new LeaseRecovery({
      // With a log, all earlier processes are gone.
      leaseMs: logged ? 0 : leaseMs,
      now,
      monotonicNow,
      log,
      processId: this.#processId,
      workers: this.#workers,
      table: () => this.#table,
      committed: () => this.#file.committed,
      groupCommit: this.#groupCommit,
      damage: this.#damage,
    });
    this.#file.onRestored(() => {
      this.#damage.clear();
      this.#tasks.run(() => this.#maintenance.restart());
    });
    this.#tasks.runEvery(pollMs, () => this.#poll());
    this.#tasks.runEvery(leaseMs / 3, () => this.#sendHeartbeat());
    this.#tasks.runEvery(hourMs, () => this.prune());
    // The first prune runs soon, so that a process that restarts more than once per hour also prunes the inbox.
    this.#tasks.runAfter(firstPruneMs, () => this.prune());
  }

  get #table(): DeliveryTable {
    return this.#file.table;
  }

  async accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const { now, maxQueued } = this.#options;
    const bytes = Buffer.byteLength(delivery.body);
    const stored = this.#groupCommit.write(() => {
      if (!this.#file.hasRoomFor(bytes)) throw inboxUnavailable(new Error("The disk is full."));
      return this.#table.add(delivery, { now: now(), maxQueued });
    });
    // The claim is then part of the same transaction, which saves a request to the store of the log.
    if (this.#file.isLogged) this.#wake(delivery.endpoint);
    const duplicate = await stored;
    if (!duplicate && !this.#file.isLogged) this.#wake(delivery.endpoint);
    return { duplicate };
  }

  /** Runs an operation in the next transaction. @throws `INBOX_UNAVAILABLE` if the changes are not stored. */
  write<Result>(operation: () => Result): Promise<Result> {
    return this.#groupCommit.write(operation);
  }

  startWorker(queue: EndpointQueue): void {
    const { endpoint } = queue;
    if (this.#workers.has(endpoint)) return;
    const { now, monotonicNow, pollMs, log } = this.#options;
    const worker = new EndpointWorker({
      queue,
      table: () => this.#table,
      groupCommit: this.#groupCommit,
      gate: this.#gate,
      damage: this.#damage,
      processId: this.#processId,
      retryMs: pollMs,
      now,
      monotonicNow,
      log,
      onDueLater: (dueAt) => this.#wakeBy(dueAt),
      onRunningChange: () => this.#maintenance.setRunning(this.#countRunning()),
    });
    this.#workers.set(endpoint, worker);
    this.#tasks.run(() => this.#groupCommit.write(() => this.#table.setRetention(endpoint, retentionOf(queue))));
    worker.wake();
  }

  /** Aborts the signals of running handlers, because another process can run their deliveries now. */
  abortRuns(): void {
    for (const worker of this.#workers.values()) worker.abortLost(() => false);
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    const filter = readFilter(options);
    if (!filter) return this.#file.committed.reader.list(options);
    if (filter.hasContent && this.#workers.size > 0) this.#maintenance.countSearch();
    const { file } = this.#options;
    const indexFile = file === ":memory:" ? undefined : searchIndexFile(resolve(file));
    return this.#file.committed.search.list(filter, options, indexFile);
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#file.committed.reader.get(key);
  }

  async replay(key: DeliveryKey): Promise<void> {
    const found = await this.#groupCommit.write(() => this.#table.replay(key, this.#options.now()));
    if (!found) throw deliveryUnknown(key);
    this.#wake(key.endpoint);
  }

  async replayDead(endpoint: string): Promise<number> {
    const last = this.#file.committed.lastSequence();
    let count = 0;
    for (let after: number | undefined = 0; after !== undefined && this.#closed === undefined; ) {
      const from: number = after;
      const step = await this.#groupCommit.write(() =>
        this.#table.replayDeadStep(endpoint, { after: from, last, now: this.#options.now() }),
      );
      count += step.count;
      after = step.next;
      this.#wake(endpoint);
    }
    return count;
  }

  async discard(key: DeliveryKey): Promise<void> {
    await this.#groupCommit.write(() => this.#table.discard(key, this.#options.now()));
  }

  async pause(endpoint: string): Promise<void> {
    await this.#groupCommit.write(() => this.#table.pauses.pause(endpoint));
  }

  async resume(endpoint: string): Promise<void> {
    await this.#groupCommit.write(() => this.#table.pauses.resume(endpoint));
    // Other processes find the deliveries with their next poll.
    this.#wake(endpoint);
    this.#gate.poll();
  }

  async pausedEndpoints(): Promise<readonly string[]> {
    return this.#file.committed.pauses.list();
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#file.committed.reader.counts();
  }

  problems(): Promise<readonly InboxProblem[]> {
    return findProblems({
      file: this.#file,
      groupCommit: this.#groupCommit,
      damage: this.#damage,
      workers: [...this.#workers.values()],
      storageCheck: () => this.#addHeartbeat(),
    });
  }

  prune(): Promise<number> {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = undefined;
    });
    return this.#pruning;
  }

  #prune(): Promise<number> {
    return pruneInbox({
      table: () => this.#table,
      groupCommit: this.#groupCommit,
      damage: this.#damage,
      now: this.#options.now,
      retentionOf: (endpoint) => {
        const queue = this.#workers.get(endpoint)?.queue;
        return queue && retentionOf(queue);
      },
      isStopped: () => this.#closed !== undefined,
      checkpoint: (minBytes) => this.#maintenance.checkpoint(minBytes),
    });
  }

  close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ interrupted: number }> {
    this.#tasks.close();
    this.#gate.close();
    const interrupted = await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await this.#maintenance.close();
    await this.#groupCommit.write(() => this.#table.leases.removeProcess(this.#processId)).catch(() => {});
    this.#file.close();
    return { interrupted: interrupted.reduce((sum, count) => sum + count, 0) };
  }

  /** Finds deliveries that other processes stored, due deliveries, and deliveries that crashes interrupted. */
  async #poll(): Promise<void> {
    if (!this.#file.restoreIfGone()) return;
    await this.#correctClock();
    this.#wakeDue();
    await this.#leaseRecovery.poll();
    this.#gate.poll();
  }

  async #correctClock(): Promise<void> {
    const now = this.#options.now();
    const wasSetBack = now < this.#lastPoll;
    this.#lastPoll = now;
    if (!wasSetBack) return;
    for (const { endpoint } of this.#file.committed.pruner.endpoints()) {
      await this.#groupCommit
        .write(() => this.#table.correctClock(endpoint, now))
        .catch((error: unknown) => {
          if (!this.#damage.recordIfDamage(error, endpoint)) throw error;
        });
    }
  }

  #wakeDue(): void {
    const now = this.#options.now();
    for (const [endpoint, worker] of this.#workers) {
      const dueAt = this.#read(endpoint, () => this.#file.committed.nextDueAt(endpoint));
      // A worker whose last claim failed claims again even if no delivery is due, to check whether claims succeed again.
      if (worker.failingMs > 0 || (dueAt !== undefined && dueAt <= now)) worker.wake();
      else if (dueAt !== undefined) this.#wakeBy(dueAt);
    }
  }

  #findSuspects(): Suspect[] {
    return [...this.#workers.values()].flatMap((worker) => {
      const { endpoint } = worker.queue;
      const found = this.#read(endpoint, () => this.#file.committed.nextSuspect(endpoint));
      if (!found) return [];
      if (found.dueAt > this.#options.now()) this.#wakeBy(found.dueAt);
      return [{ dueAt: found.dueAt, run: () => worker.runSuspect() }];
    });
  }

  /** Reads an endpoint's data. Returns `undefined` if the data is damaged, so that other endpoints continue to run. */
  #read<Result>(endpoint: string, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!this.#damage.recordIfDamage(error, endpoint)) throw error;
      return undefined;
    }
  }

  #wake(endpoint: string): void {
    this.#workers.get(endpoint)?.wake();
  }

  #wakeWorkers(): void {
    for (const worker of this.#workers.values()) worker.wake();
  }

  #countRunning(): number {
    return [...this.#workers.values()].reduce((sum, { running }) => sum + running, 0);
  }

  /** Schedules `#wakeDue` at a time, unless the next poll is earlier. */
  #wakeBy(dueAt: number): void {
    const { now, pollMs } = this.#options;
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= this.#wakeAt || delay > pollMs || this.#closed) return;
    this.#cancelWake();
    this.#wakeAt = dueAt;
    this.#cancelWake = this.#tasks.runAfter(delay, async () => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#wakeDue();
      this.#gate.poll();
    });
  }

  async #sendHeartbeat(): Promise<void> {
    if (!this.#maintenance.needsEventLoop || this.#countRunning() === 0) return;
    await this.#groupCommit.write(() => this.#addHeartbeat());
  }

  #addHeartbeat(): void {
    this.#table.leases.addHeartbeat({ processId: this.#processId, now: this.#options.now() });
  }
}
