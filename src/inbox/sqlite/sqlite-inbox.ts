import { resolve } from "node:path";
import type { Logger } from "../../core/log.ts";
import { deliveryUnknown, inboxUnavailable } from "../errors.ts";
import { maxSearchMs, readFilter } from "../filter.ts";
import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  EndpointQueue,
  Inbox,
  InboxProblem,
  IncomingDelivery,
  ListOptions,
  OwnActions,
  StoredDelivery,
} from "../inbox.ts";
import { defaultMaxBlockedMs } from "../loop-monitor.ts";
import { retentionOf } from "../retry.ts";
import { BackgroundMaintenance } from "./background-maintenance.ts";
import { BackgroundTasks, pruneInbox } from "./background-tasks.ts";
import { ClaimGate } from "./claim-gate.ts";
import { DamageTracker } from "./damage-tracker.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import { DueDeliveries } from "./due-deliveries.ts";
import { EndpointWorker } from "./endpoint-worker.ts";
import { checkFileSystem } from "./file-system.ts";
import { GroupCommit } from "./group-commit.ts";
import { InboxFile, type LoggedDatabase } from "./inbox-file.ts";
import { LeaseRecovery } from "./lease-recovery.ts";
import { findProblems } from "./problems.ts";

export interface SqliteInboxOptions {
  /** The path of the file, or `:memory:` for an inbox that is lost when the process exits. */
  file: string;
  /** Whether to reject a file on a network file system or on FUSE, or to accept it with a warning. Default `"refuse"`. */
  unsafeFileSystem?: "refuse" | "allow";
  log: Logger;
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
  /** The delay of the first prune. Later prunes run every hour. Default `10_000`. */
  firstPruneMs?: number;
  /** Whether to fail if the inbox does not exist, instead of creating it. Default `false`. */
  mustExist?: boolean;
  /**
   * The open database at `file`, and the log that stores its changes before each commit. No other process may use the file. The
   * file must contain no running deliveries of processes that can still store results.
   */
  logged?: LoggedDatabase;
}

/** The options with their defaults, except the database of a logged inbox. */
type ResolvedSqliteOptions = Required<Omit<SqliteInboxOptions, "logged">>;

/** Adds the defaults to the options of an inbox. */
function resolveSqliteOptions(options: Omit<SqliteInboxOptions, "logged">): ResolvedSqliteOptions {
  return {
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
}

const hourMs = 3_600_000;
/** The maximum duration of a search that blocks the event loop of a server. */
const maxBlockingSearchMs = 10;

/*
 * The parts of the inbox:
 *
 * - `InboxFile` opens the database and notices when the file is gone. `DeliveryTable` reads and writes its rows.
 * - `GroupCommit` combines concurrent writes into one transaction.
 * - `EndpointWorker` claims and runs the deliveries of one endpoint. `ClaimGate` makes suspects run alone (see `retry.ts`).
 * - `DueDeliveries` wakes the workers of due deliveries.
 * - `BackgroundMaintenance` sends heartbeats from a thread, even while a handler blocks the event loop. `LeaseRecovery` recovers the
 *   deliveries of processes that send no heartbeats.
 * - `DeliverySearch` finds deliveries that match filters, in the thread of `BackgroundMaintenance`. This thread also indexes deliveries by
 *   repository, scope, and action (`EventIndex`).
 * - `DamageTracker` records damaged pages, and `findProblems` reports all problems.
 * - `BackgroundTasks` runs the polls, heartbeats, and prunes below.
 */

/** Stores deliveries in a SQLite file. Several processes on one machine can share the file. */
export class SqliteInbox implements Inbox {
  readonly ownActions: OwnActions = {
    add: (keys) => this.#groupCommit.write(() => this.#table.ownActions.add(keys, this.#options.now())),
    find: async (keys) => this.#file.committed.ownActions.find(keys),
  };
  readonly #options: ResolvedSqliteOptions;
  readonly #file: InboxFile;
  readonly #groupCommit: GroupCommit;
  readonly #processId = crypto.randomUUID();
  readonly #workers = new Map<string, EndpointWorker>();
  readonly #maintenance: BackgroundMaintenance;
  readonly #damage: DamageTracker;
  readonly #gate: ClaimGate;
  readonly #leaseRecovery: LeaseRecovery;
  readonly #tasks: BackgroundTasks;
  readonly #due: DueDeliveries;
  #pruning: Promise<number> | undefined;
  #closed: Promise<{ interrupted: number }> | undefined;

  /** @throws `INBOX_UNUSABLE` if the file cannot be opened. */
  constructor({ logged, ...options }: SqliteInboxOptions) {
    this.#options = resolveSqliteOptions(options);
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
    this.#gate = new ClaimGate({
      now,
      monotonicNow,
      firstHoldMs: pollMs,
      findSuspects: () => this.#due.findSuspects(),
      wakeWorkers: () => this.#wakeWorkers(),
    });
    this.#due = new DueDeliveries({
      file: this.#file,
      groupCommit: this.#groupCommit,
      damage: this.#damage,
      gate: this.#gate,
      tasks: this.#tasks,
      workers: this.#workers,
      pollMs,
      now,
      isStopped: () => this.#closed !== undefined,
    });
    this.#leaseRecovery = new LeaseRecovery({
      // With a log, all earlier processes are gone.
      leaseMs: logged ? 0 : leaseMs,
      now,
      monotonicNow,
      log,
      processId: this.#processId,
      workers: this.#workers,
      table: this.#table,
      committed: this.#file.committed,
      groupCommit: this.#groupCommit,
      damage: this.#damage,
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
      table: this.#table,
      groupCommit: this.#groupCommit,
      gate: this.#gate,
      damage: this.#damage,
      processId: this.#processId,
      retryMs: pollMs,
      now,
      monotonicNow,
      log,
      onDueLater: (dueAt) => this.#due.wakeBy(dueAt),
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
    const request = { filter, options, maxMs: maxSearchMs };
    const { search } = this.#file.committed;
    if (this.#workers.size === 0) return search.page(search.find(request));
    const found = (await this.#maintenance.search(request)) ?? search.find({ ...request, maxMs: maxBlockingSearchMs });
    return this.#file.committed.search.page(found);
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
      table: this.#table,
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
    if (!this.#file.checkPlace()) return;
    // The newer release runs these deliveries again, because their results cannot be stored.
    if (this.#file.isOutdated) this.abortRuns();
    await this.#due.poll();
    await this.#leaseRecovery.poll();
    this.#gate.poll();
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

  async #sendHeartbeat(): Promise<void> {
    if (!this.#maintenance.needsEventLoop || this.#countRunning() === 0) return;
    await this.#groupCommit.write(() => this.#addHeartbeat());
  }

  #addHeartbeat(): void {
    this.#table.leases.addHeartbeat({ processId: this.#processId, now: this.#options.now() });
  }
}
