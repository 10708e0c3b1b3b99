import { messageOf } from "../../core/describe-error.ts";
import type { Logger } from "../../core/logger.ts";
import { defaultMaxBlockedMs } from "../blocked-loop.ts";
import type {
  Arrival,
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  Inbox,
  InboxProblem,
  ListOptions,
  QueueOptions,
} from "../inbox.ts";
import { deliveryUnknown, inboxUnavailable } from "../inbox-errors.ts";
import { idsKeptMs } from "../known-ids.ts";
import type { StoredDelivery } from "../stored-delivery.ts";
import { DamageLog } from "./damage-log.ts";
import type { DeliveryTable } from "./delivery-table.ts";
import { checkFileSystem } from "./file-system.ts";
import { GroupCommit } from "./group-commit.ts";
import { pruneInbox } from "./housekeeping.ts";
import { InboxFile } from "./inbox-file.ts";
import { InboxThread } from "./inbox-thread.ts";
import { findProblems } from "./problems.ts";
import { QueueWorker } from "./queue-worker.ts";
import type { Retention } from "./step-remover.ts";
import { type Suspect, SuspectGate } from "./suspect-gate.ts";
import { Takeover } from "./takeover.ts";

/** What a {@link SqliteInbox} is made from. */
export interface SqliteInboxOptions {
  /** `:memory:` keeps nothing beyond the process. */
  file: string;
  /** What becomes of a file on a network file system or on FUSE: `"allow"` warns. Default `"refuse"`. */
  unsafeFileSystem?: "refuse" | "allow";
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a clock that is never set. Default `performance.now()`. */
  monotonicNow?: () => number;
  /** Deliveries of an endpoint that may wait; more are refused. */
  mostQueued?: number;
  /** How long a process may show no sign of life before its deliveries are taken back, in milliseconds. */
  leaseMs?: number;
  /** An event loop that is blocked for longer counts as hung, and its leases end, in milliseconds. */
  maxBlockedMs?: number;
  /** How often deliveries of other processes, and processes that are gone, are looked for, in milliseconds. */
  pollMs?: number;
  /** When finished deliveries are removed for the first time after the opening, in milliseconds; then every hour. */
  firstPruneMs?: number;
  /** Whether to fail where there is no inbox yet, instead of making one. Default `false`. */
  mustExist?: boolean;
}

const hourMs = 3_600_000;
/** How often the same failure of the regular work is logged, in milliseconds. */
const logEveryMs = 60_000;

/** Keeps deliveries in a SQLite file, which several processes of one machine may share. */
export class SqliteInbox implements Inbox {
  readonly #options: Required<SqliteInboxOptions>;
  readonly #file: InboxFile;
  readonly #commit: GroupCommit;
  readonly #owner = crypto.randomUUID();
  readonly #workers = new Map<string, QueueWorker>();
  readonly #thread: InboxThread;
  readonly #damage: DamageLog;
  readonly #gate: SuspectGate;
  readonly #takeover: Takeover;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #pruneTimer: NodeJS.Timeout;
  // So that the first poll corrects what was stored before the clock was set back.
  #lastPoll = Number.POSITIVE_INFINITY;
  #wakeAt = Number.POSITIVE_INFINITY;
  #wakeTimer: NodeJS.Timeout | undefined;
  /** When which failure of the regular work was logged, by the monotonic clock. */
  readonly #failures = new Map<string, number>();
  #pruning: Promise<number> | undefined;
  #closed: Promise<void> | undefined;

  /** @throws `INBOX_UNUSABLE` */
  constructor(options: SqliteInboxOptions) {
    this.#options = {
      unsafeFileSystem: "refuse",
      monotonicNow: () => performance.now(),
      mostQueued: 100_000,
      leaseMs: 30_000,
      maxBlockedMs: defaultMaxBlockedMs,
      pollMs: 1_000,
      // Not at once: the first deliveries come before.
      firstPruneMs: 10_000,
      mustExist: false,
      ...options,
    };
    const { file, unsafeFileSystem, leaseMs, pollMs, firstPruneMs, mustExist, log, now, monotonicNow } = this.#options;
    if (file !== ":memory:") checkFileSystem(file, { isAllowed: unsafeFileSystem === "allow", log });
    this.#file = new InboxFile({ file, mustExist, log });
    this.#commit = new GroupCommit(this.#file);
    this.#damage = new DamageLog({ file, log, monotonicNow });
    this.#thread = new InboxThread({
      ...this.#options,
      file: this.#file.path,
      owner: this.#owner,
      beatMs: leaseMs / 3,
    });
    this.#gate = new SuspectGate({
      now,
      monotonicNow,
      firstHoldMs: pollMs,
      findSuspects: () => this.#findSuspects(),
      wakeWorkers: () => this.#wakeWorkers(),
    });
    this.#takeover = new Takeover({
      ...this.#options,
      owner: this.#owner,
      workers: this.#workers,
      table: () => this.#table,
      commit: this.#commit,
      damage: this.#damage,
    });
    this.#file.onRestored(() => {
      this.#damage.clear();
      this.#lookAfter(() => this.#thread.restart());
    });
    this.#every(pollMs, () => this.#poll());
    this.#every(leaseMs / 3, () => this.#beat());
    const prune = () => this.prune().then(() => {});
    this.#every(hourMs, prune);
    // Also one that is restarted more often than that removes what is past its retention.
    this.#pruneTimer = setTimeout(() => this.#lookAfter(prune), firstPruneMs);
    this.#pruneTimer.unref();
  }

  get #table(): DeliveryTable {
    return this.#file.table;
  }

  async accept(arrival: Arrival): Promise<{ duplicate: boolean }> {
    const { now, mostQueued } = this.#options;
    const bytes = Buffer.byteLength(arrival.body);
    const duplicate = await this.#commit.write(() => {
      if (!this.#file.hasRoomFor(bytes)) throw inboxUnavailable(new Error("The disk is full."));
      return this.#table.add(arrival, { now: now(), mostQueued });
    });
    if (!duplicate) this.#workers.get(arrival.endpoint)?.wake();
    return { duplicate };
  }

  work(queue: QueueOptions): void {
    const { endpoint } = queue;
    if (this.#workers.has(endpoint)) return;
    const { now, monotonicNow, pollMs, log } = this.#options;
    const worker = new QueueWorker({
      queue,
      table: () => this.#table,
      commit: this.#commit,
      gate: this.#gate,
      damage: this.#damage,
      owner: this.#owner,
      retryMs: pollMs,
      now,
      monotonicNow,
      log,
      later: (dueAt) => this.#wakeBy(dueAt),
      runningChanged: () => this.#thread.setRunning(this.#countRunning()),
    });
    this.#workers.set(endpoint, worker);
    this.#lookAfter(() => this.#commit.write(() => this.#table.rememberEndpoint(endpoint, retentionOf(queue))));
    worker.wake();
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    return this.#table.reader.list(options);
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#table.reader.get(key);
  }

  async replay(key: DeliveryKey): Promise<void> {
    const found = await this.#commit.write(() => this.#table.replay(key, this.#options.now()));
    if (!found) throw deliveryUnknown(key);
    this.#wake(key.endpoint);
  }

  async replayDead(endpoint: string): Promise<number> {
    const last = this.#table.lastSequence();
    let count = 0;
    for (let after: number | undefined = 0; after !== undefined && this.#closed === undefined; ) {
      const from: number = after;
      const step = await this.#commit.write(() =>
        this.#table.replayDeadStep(endpoint, { after: from, last, now: this.#options.now() }),
      );
      count += step.count;
      after = step.next;
      this.#wake(endpoint);
    }
    return count;
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#table.reader.counts();
  }

  problems(): Promise<readonly InboxProblem[]> {
    const { now } = this.#options;
    return findProblems({
      file: this.#file,
      commit: this.#commit,
      damage: this.#damage,
      workers: [...this.#workers.values()],
      probe: () => this.#table.beat({ owner: this.#owner, now: now() }),
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
      commit: this.#commit,
      damage: this.#damage,
      now: this.#options.now,
      retentionOf: (endpoint) => {
        const queue = this.#workers.get(endpoint)?.queue;
        return queue && retentionOf(queue);
      },
      isStopped: () => this.#closed !== undefined,
      copyLog: () => this.#thread.copyLog(),
    });
  }

  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#wakeTimer);
    clearTimeout(this.#pruneTimer);
    this.#gate.close();
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await this.#thread.close();
    await this.#commit.write(() => this.#table.dropOwner(this.#owner)).catch(() => {});
    this.#file.close();
  }

  /** Finds what others have stored, what is due by now, and what processes have left that are gone. */
  async #poll(): Promise<void> {
    if (!this.#file.restoreIfGone()) return;
    await this.#correctClock();
    this.#wakeDue();
    await this.#takeover.look();
    this.#gate.look();
  }

  async #correctClock(): Promise<void> {
    const now = this.#options.now();
    const wasSetBack = now < this.#lastPoll;
    this.#lastPoll = now;
    if (!wasSetBack) return;
    for (const { endpoint } of this.#table.remover.endpoints()) {
      await this.#commit
        .write(() => this.#table.correctClock(endpoint, now))
        .catch((error: unknown) => {
          if (!this.#damage.note(error, endpoint)) throw error;
        });
    }
  }

  #wakeDue(): void {
    const now = this.#options.now();
    for (const [endpoint, worker] of this.#workers) {
      const dueAt = this.#read(endpoint, () => this.#table.nextDueAt(endpoint));
      // One that has failed shows that it can take deliveries again, also when another process has taken them.
      if (worker.failingMs > 0 || (dueAt !== undefined && dueAt <= now)) worker.wake();
      else if (dueAt !== undefined) this.#wakeBy(dueAt);
    }
  }

  #findSuspects(): Suspect[] {
    return [...this.#workers.values()].flatMap((worker) => {
      const { endpoint } = worker.queue;
      const found = this.#read(endpoint, () => this.#table.nextSuspect(endpoint));
      if (!found) return [];
      if (found.dueAt > this.#options.now()) this.#wakeBy(found.dueAt);
      return [{ dueAt: found.dueAt, run: () => worker.runSuspect() }];
    });
  }

  /** Reads something of an endpoint; damage of one endpoint does not stop the others. */
  #read<Result>(endpoint: string, read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      if (!this.#damage.note(error, endpoint)) throw error;
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

  /** Looks again when something becomes due before the next poll. */
  #wakeBy(dueAt: number): void {
    const { now, pollMs } = this.#options;
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= this.#wakeAt || delay > pollMs || this.#closed) return;
    clearTimeout(this.#wakeTimer);
    this.#wakeAt = dueAt;
    this.#wakeTimer = setTimeout(() => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#lookAfter(async () => {
        this.#wakeDue();
        this.#gate.look();
      });
    }, delay);
    this.#wakeTimer.unref();
  }

  async #beat(): Promise<void> {
    if (!this.#thread.needsEventLoop || this.#countRunning() === 0) return;
    await this.#commit.write(() => this.#table.beat({ owner: this.#owner, now: this.#options.now() }));
  }

  #every(milliseconds: number, task: () => Promise<void>): void {
    const timer = setInterval(() => this.#lookAfter(task), milliseconds);
    timer.unref();
    this.#timers.push(timer);
  }

  #lookAfter(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      // What was under way when the inbox closed has nothing to do any more.
      if (this.#closed) return;
      const message = messageOf(error);
      const at = this.#options.monotonicNow();
      if (at - (this.#failures.get(message) ?? Number.NEGATIVE_INFINITY) < logEveryMs) return;
      this.#failures.set(message, at);
      this.#options.log().error({ err: error }, "The inbox could not be looked after; it is tried again.");
    });
  }
}

function retentionOf({ retentionMs, policy }: QueueOptions): Retention {
  return { bodiesMs: retentionMs, idsMs: idsKeptMs(policy) };
}
