import { resolve } from "node:path";
import { messageOf } from "../../core/describe.ts";
import { shareRun, withDeadline } from "../../core/time.ts";
import { deliveryUnknown, inboxClosing, inboxUnavailable, unavailable } from "../errors.ts";
import { maxSearchMs, readFilter } from "../filter.ts";
import type {
  Cursors,
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
import { createBackgroundTasks, createDamageTracker, type InboxContext } from "./context.ts";
import { DeliveryPruner, pruneInbox } from "./delivery-pruner.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import { createDueDeliveries, createLeaseRecovery, type DueDeliveries } from "./due-deliveries.ts";
import { EndpointWorker } from "./endpoint-worker.ts";
import { checkFileSystem } from "./file-system.ts";
import { GroupCommit } from "./group-commit.ts";
import { InboxFile, type InboxFileOptions } from "./inbox-file.ts";

export interface SqliteInboxOptions extends InboxFileOptions {
  /** Whether to reject a file on a network file system or on FUSE, or to accept it with a warning. Default `"refuse"`. */
  unsafeFileSystem?: "refuse" | "allow";
  now: () => number;
  /** A monotonic clock. Default `performance.now`. */
  monotonicNow?: () => number;
  /** The maximum number of queued deliveries per endpoint. Default `100_000`. */
  maxQueued?: number;
  /** If a process sends no heartbeats for this time, its deliveries are recovered. Default `30_000`. */
  leaseMs?: number;
  /** How long the event loop can be blocked before it counts as hung. A hung process sends no heartbeats. Default `600_000`. */
  maxBlockedMs?: number;
  /** The interval of polls, which find deliveries that other processes stored, due ones, and crashed processes. Default `1_000`. */
  pollMs?: number;
  /** The delay of the first prune. Later prunes run every hour. Default `10_000`, because the first deliveries have priority. */
  firstPruneMs?: number;
}

const hourMs = 3_600_000;
/** The maximum duration of a search that blocks the event loop of a server. */
const maxBlockingSearchMs = 10;
const storageCheckMs = 2_000;
/** If claims of a worker fail for longer than this time, the inbox reports a problem. */
const stalledAfterMs = 10_000;

/*
 * The parts of the inbox:
 *
 * - `InboxFile` opens the database and notices when the file is gone. `DeliveryTable` reads and writes its rows.
 * - `GroupCommit` combines concurrent writes into one transaction.
 * - `EndpointWorker` claims and runs the deliveries of one endpoint. `ClaimGate` makes suspects run alone (see `retry.ts`).
 * - `DueDeliveries` wakes the workers of due deliveries.
 * - `BackgroundMaintenance` sends heartbeats from a thread, even while a handler blocks the event loop. `createLeaseRecovery` recovers the
 *   deliveries of processes that send no heartbeats. The thread also searches, and indexes deliveries (`EventIndex`).
 * - `DamageTracker` records damaged pages. `BackgroundTasks` runs the polls, heartbeats, and prunes below.
 */

/** Stores deliveries in a SQLite file. Several processes on one machine can share the file. */
export class SqliteInbox implements Inbox {
  readonly ownActions: OwnActions = {
    add: (keys) => this.write(() => this.#context.table.ownActions.add(keys, this.#context.now())),
    find: async (keys) => this.#committed.ownActions.find(keys),
  };
  readonly cursors: Cursors = {
    get: async (endpoint, key) => this.#committed.cursors.get(endpoint, key),
    list: async (endpoint) => this.#committed.cursors.list(endpoint),
    set: (endpoint, texts) => this.write(() => this.#context.table.cursors.set(endpoint, texts)),
    claim: (claim) => this.write(() => this.#context.table.cursors.claim(claim, this.#context.now())),
  };
  readonly #context: InboxContext;
  readonly #maxQueued: number;
  readonly #file: InboxFile;
  readonly #workers = new Map<string, EndpointWorker>();
  readonly #maintenance: BackgroundMaintenance;
  readonly #pruner: DeliveryPruner;
  readonly #recoverLeases: () => Promise<void>;
  readonly #due: DueDeliveries;
  readonly prune = shareRun(() => pruneInbox(this.#context, this.#pruner, this.#workers, this.#maintenance));
  #isClosed = false;
  #closed: Promise<{ interrupted: number }> | undefined;

  /** @throws `INBOX_UNUSABLE` if the file cannot be opened. */
  constructor(options: SqliteInboxOptions) {
    const { file, logged, unsafeFileSystem = "refuse", log, now, monotonicNow = () => performance.now() } = options;
    const { leaseMs = 30_000, maxBlockedMs = defaultMaxBlockedMs, pollMs = 1_000, firstPruneMs = 10_000 } = options;
    this.#maxQueued = options.maxQueued ?? 100_000;
    if (file !== ":memory:") checkFileSystem(file, { isAllowed: unsafeFileSystem === "allow", log });
    this.#file = new InboxFile(options);
    this.#pruner = new DeliveryPruner(this.#file.table);
    const tasks = createBackgroundTasks({ log, monotonicNow });
    this.#context = {
      processId: crypto.randomUUID(),
      table: this.#file.table,
      committed: this.#file.committed,
      groupCommit: new GroupCommit(this.#file),
      damage: createDamageTracker({ file, log, monotonicNow }),
      tasks,
      pollMs,
      now,
      monotonicNow,
      log,
    };
    this.#maintenance = new BackgroundMaintenance({
      file: file === ":memory:" ? undefined : resolve(file),
      isPrivate: logged !== undefined,
      processId: this.#context.processId,
      heartbeatMs: leaseMs / 3,
      maxBlockedMs,
      log,
    });
    this.#due = createDueDeliveries(this.#context, this.#workers);
    // With a log, all earlier processes are gone.
    this.#recoverLeases = createLeaseRecovery(this.#context, this.#workers, logged ? 0 : leaseMs);
    tasks.runEvery(pollMs, () => this.#poll());
    tasks.runEvery(leaseMs / 3, () => this.#sendHeartbeat());
    tasks.runEvery(hourMs, () => this.prune());
    // The first prune runs soon, so that a process that restarts more than once per hour also prunes the inbox.
    tasks.runAfter(firstPruneMs, () => this.prune());
  }

  async accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const { table, groupCommit, now } = this.#context;
    if (!table.ids.isLoaded) await this.#loadIds(delivery.endpoint);
    const bytes = Buffer.byteLength(delivery.body);
    const stored = groupCommit.write(() => {
      if (!this.#file.hasRoomFor(bytes)) throw inboxUnavailable(new Error("The disk is full."));
      return table.add(delivery, { now: now(), maxQueued: this.#maxQueued });
    });
    // The claim is then part of the same transaction, which saves a sync to disk, or a request to the store of the log.
    this.#wake(delivery.endpoint);
    return { duplicate: await stored };
  }

  /** @throws `INBOX_UNAVAILABLE` if the file cannot be read. */
  async #loadIds(endpoint: string): Promise<void> {
    const { table, damage } = this.#context;
    try {
      await table.ids.load();
    } catch (error) {
      throw inboxUnavailable(error);
    }
    damage.recordIfDamage(table.ids.damage, endpoint);
  }

  /** Runs an operation in the next transaction. @throws `INBOX_UNAVAILABLE` if the changes are not stored. */
  write<Result>(operation: () => Result): Promise<Result> {
    return this.#context.groupCommit.write(operation);
  }

  startWorker(queue: EndpointQueue): void {
    const { endpoint } = queue;
    if (this.#workers.has(endpoint)) return;
    const worker = new EndpointWorker({
      ...this.#context,
      queue,
      gate: this.#due.gate,
      onDueLater: (dueAt) => this.#due.wakeBy(dueAt),
      onRunningChange: () => this.#maintenance.setRunning(this.#countRunning()),
    });
    this.#workers.set(endpoint, worker);
    this.#context.tasks.run(() => this.write(() => this.#context.table.setRetention(endpoint, retentionOf(queue))));
    worker.wake();
  }

  /** Aborts the signals of running handlers, because another process can run their deliveries now. */
  abortRuns(): void {
    for (const worker of this.#workers.values()) worker.abortLost(() => false);
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    const filter = readFilter(options);
    const { reader } = this.#committed;
    if (!filter) return reader.list(options);
    const request = { filter, options, maxMs: maxSearchMs };
    if (this.#workers.size === 0) return reader.page(reader.find(request));
    const found = await this.#maintenance.search(request);
    return this.#committed.reader.page(found ?? reader.find({ ...request, maxMs: maxBlockingSearchMs }));
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#committed.get(key);
  }

  async replay(key: DeliveryKey): Promise<void> {
    const found = await this.write(() => this.#context.table.replay(key, this.#context.now()));
    if (!found) throw deliveryUnknown(key);
    this.#wake(key.endpoint);
  }

  async replayDead(endpoint: string): Promise<number> {
    const last = this.#committed.lastSequence();
    const { table, now } = this.#context;
    let count = 0;
    for (let after: number | undefined = 0; after !== undefined && this.#closed === undefined; ) {
      const limits: { after: number; last: number } = { after, last };
      const step = await this.write(() => table.replayDeadStep(endpoint, { ...limits, now: now() }));
      count += step.count;
      after = step.next;
      this.#wake(endpoint);
    }
    return count;
  }

  async discard(key: DeliveryKey): Promise<void> {
    await this.write(() => this.#context.table.discard(key, this.#context.now()));
  }

  async pause(endpoint: string): Promise<void> {
    await this.write(() => this.#context.table.statements.pause().run(endpoint));
  }

  async resume(endpoint: string): Promise<void> {
    await this.write(() => this.#context.table.statements.resume().run(endpoint));
    // Other processes find the deliveries with their next poll.
    this.#wake(endpoint);
    this.#due.gate.poll();
  }

  async pausedEndpoints(): Promise<readonly string[]> {
    return this.#committed.pausedEndpoints();
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#committed.reader.counts();
  }

  async problems(): Promise<readonly InboxProblem[]> {
    const found = [await this.#findStorageProblem(), this.#context.damage.problem(), this.#findStall()];
    return found.filter((problem) => problem !== undefined);
  }

  close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ interrupted: number }> {
    this.#context.tasks.close();
    this.#due.gate.close();
    const interrupted = await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await this.#maintenance.close();
    await this.write(() => this.#context.table.leases.removeProcess(this.#context.processId)).catch(() => {});
    this.#isClosed = true;
    this.#file.close();
    return { interrupted: interrupted.reduce((sum, count) => sum + count, 0) };
  }

  /** Finds deliveries that other processes stored, due deliveries, and deliveries that crashes interrupted. */
  async #poll(): Promise<void> {
    if (!this.#file.checkPlace()) return;
    // A newer release has changed the tables. It runs these deliveries again, because their results cannot be stored.
    if (this.#file.problem) this.abortRuns();
    await this.#due.poll();
    await this.#recoverLeases();
    this.#due.gate.poll();
  }

  /** @throws `INBOX_UNAVAILABLE` after the inbox was closed. */
  get #committed(): DeliveryTable {
    if (this.#isClosed) throw inboxUnavailable(inboxClosing());
    return this.#context.committed;
  }

  #wake(endpoint: string): void {
    this.#workers.get(endpoint)?.wake();
  }

  #countRunning(): number {
    return [...this.#workers.values()].reduce((sum, { running }) => sum + running, 0);
  }

  async #sendHeartbeat(): Promise<void> {
    if (!this.#maintenance.needsEventLoop || this.#countRunning() === 0) return;
    await this.write(() => this.#addHeartbeat());
  }

  #addHeartbeat(): void {
    this.#context.table.leases.addHeartbeat({ processId: this.#context.processId, now: this.#context.now() });
  }

  /** Checks whether the file is writable, with a write if the last write failed or the file is gone. */
  async #findStorageProblem(): Promise<InboxProblem | undefined> {
    if (this.#context.groupCommit.failure !== undefined || this.#file.problem) {
      const failure = await failureOf(this.write(() => this.#addHeartbeat()));
      if (this.#file.problem) return this.#file.problem;
      if (failure !== undefined) return unavailable(`The inbox is not writable (${failure}). ${checkDisk}`);
    }
    try {
      if (this.#file.hasSpace()) return undefined;
    } catch (error) {
      return unavailable(`The inbox is not readable (${messageOf(error)}). ${checkDisk}`);
    }
    return unavailable("The disk of the inbox is almost full, and new deliveries are rejected. Free some disk space.");
  }

  #findStall(): InboxProblem | undefined {
    const stalled = [...this.#workers.values()].filter(({ failingMs }) => failingMs > stalledAfterMs);
    if (stalled.length === 0) return undefined;
    const names = stalled.map(({ queue }) => `"${queue.endpoint}"`).join(", ");
    return {
      code: "INBOX_STALLED",
      severity: stalled.length === this.#workers.size ? "unavailable" : "degraded",
      message: `Deliveries of ${names} could not be claimed for more than ${stalledAfterMs / 1_000} s. See the server's log for the error.`,
    };
  }
}

const checkDisk = "Check the disk of the inbox and the permissions of its files.";

function failureOf(write: Promise<void>): Promise<string | undefined> {
  const late = () => new Error("another process holds the lock");
  return withDeadline(write, storageCheckMs, late).then(
    () => undefined,
    (error: unknown) => messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error),
  );
}
