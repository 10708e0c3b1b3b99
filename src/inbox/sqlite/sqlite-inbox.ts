import type { Logger } from "../../logger.ts";
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
import { deliveryUnknown } from "../inbox-errors.ts";
import { idsKnownMs } from "../known-ids.ts";
import { abandonedError, type StoredDelivery } from "../stored-delivery.ts";
import { openInboxDatabase } from "./database.ts";
import { type Abandoned, DeliveryTable } from "./delivery-table.ts";
import { checkFileSystem } from "./file-system.ts";
import { GroupCommit } from "./group-commit.ts";
import { QueueWorker } from "./queue-worker.ts";

/** What a {@link SqliteInbox} is made from. */
export interface SqliteInboxOptions {
  /** `:memory:` keeps nothing beyond the process. */
  file: string;
  /** What becomes of a file on a network file system or on FUSE: `"allow"` warns. Default `"refuse"`. */
  unsafeFileSystem?: "refuse" | "allow";
  log: () => Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Deliveries of an endpoint that may wait; more are refused. */
  mostQueued?: number;
  /** How long a delivery that nobody renews belongs to whoever took it, in milliseconds. */
  leaseMs?: number;
  /** How often other processes' deliveries and ended leases are looked for, in milliseconds. */
  pollMs?: number;
  /** How long after the opening what may be forgotten is looked for, in milliseconds; from then on once an hour. */
  firstPruneMs?: number;
  /** Whether to fail where there is no inbox yet, in place of making one. Default `false`. */
  mustExist?: boolean;
}

const hourMs = 3_600_000;

/** Keeps deliveries in a SQLite file, which several processes of one machine may share. */
export class SqliteInbox implements Inbox {
  readonly #options: Required<SqliteInboxOptions>;
  readonly #database: ReturnType<typeof openInboxDatabase>;
  readonly #table: DeliveryTable;
  readonly #commit: GroupCommit;
  readonly #owner = crypto.randomUUID();
  readonly #workers = new Map<string, QueueWorker>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #pruneTimer: NodeJS.Timeout;
  // So that the first look corrects what was stored before the clock was set back.
  #lastPoll = Number.POSITIVE_INFINITY;
  #wakeAt = Number.POSITIVE_INFINITY;
  #wakeTimer: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  /** @throws `INBOX_UNUSABLE` */
  constructor(options: SqliteInboxOptions) {
    this.#options = {
      unsafeFileSystem: "refuse",
      mostQueued: 100_000,
      leaseMs: 30_000,
      pollMs: 1_000,
      // Not at once: the first deliveries go before.
      firstPruneMs: 10_000,
      mustExist: false,
      ...options,
    };
    const { file, unsafeFileSystem, leaseMs, pollMs, firstPruneMs, mustExist, log } = this.#options;
    if (file !== ":memory:") checkFileSystem(file, { isAllowed: unsafeFileSystem === "allow", log });
    this.#database = openInboxDatabase(file, { mustExist });
    this.#table = new DeliveryTable(this.#database);
    this.#commit = new GroupCommit(this.#database);
    this.#every(pollMs, () => this.#poll());
    this.#every(leaseMs / 3, () => this.#renew());
    const prune = () => this.prune().then(() => {});
    this.#every(hourMs, prune);
    // Also one that is restarted more often than that has to forget.
    this.#pruneTimer = setTimeout(() => this.#lookAfter(prune), firstPruneMs);
    this.#pruneTimer.unref();
  }

  async accept(arrival: Arrival): Promise<{ duplicate: boolean }> {
    const { now, mostQueued } = this.#options;
    const duplicate = await this.#commit.write(() => this.#table.add(arrival, { now: now(), mostQueued }));
    if (!duplicate) this.#workers.get(arrival.endpoint)?.wake();
    return { duplicate };
  }

  work(queue: QueueOptions): void {
    if (this.#workers.has(queue.endpoint)) return;
    const { now, leaseMs, log } = this.#options;
    const worker = new QueueWorker({
      queue,
      table: this.#table,
      commit: this.#commit,
      owner: this.#owner,
      leaseMs,
      now,
      log,
      later: (dueAt) => this.#wakeBy(dueAt),
    });
    this.#workers.set(queue.endpoint, worker);
    worker.wake();
  }

  async list(options: ListOptions = {}): Promise<DeliveryPage> {
    return this.#table.list(options);
  }

  async get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#table.get(key);
  }

  async replay(key: DeliveryKey): Promise<void> {
    const found = await this.#commit.write(() => this.#table.replay(key, this.#options.now()));
    if (!found) throw deliveryUnknown(key);
    this.#workers.get(key.endpoint)?.wake();
  }

  async replayDead(endpoint: string): Promise<number> {
    const count = await this.#commit.write(() => this.#table.replayDead(endpoint, this.#options.now()));
    this.#workers.get(endpoint)?.wake();
    return count;
  }

  async counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#table.counts();
  }

  async problems(): Promise<readonly InboxProblem[]> {
    return [];
  }

  async prune(): Promise<number> {
    let count = 0;
    for (const [endpoint, { retentionMs }] of this.#workers) {
      const now = this.#options.now();
      const limits = { bodiesBefore: now - retentionMs, idsBefore: now - idsKnownMs };
      for (let isDone = false; !isDone; ) {
        const step = await this.#commit.write(() => this.#table.prune(endpoint, limits));
        count += step.count;
        isDone = step.isDone || this.#closed !== undefined;
      }
    }
    return count;
  }

  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#wakeTimer);
    clearTimeout(this.#pruneTimer);
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(graceMs)));
    await this.#commit.settled();
    this.#database.close();
  }

  /** What others have stored, what is due by now, and what was abandoned. */
  async #poll(): Promise<void> {
    const now = this.#options.now();
    if (now < this.#lastPoll) await this.#commit.write(() => this.#table.correctClock(now));
    this.#lastPoll = now;
    const abandoned = this.#table.abandoned(now).filter(({ sequence, endpoint }) => {
      const worker = this.#workers.get(endpoint);
      return worker !== undefined && !worker.isRunning(sequence);
    });
    for (const found of abandoned) await this.#takeBack(found, now);
    this.#wakeDue(now);
  }

  async #takeBack(found: Abandoned, now: number): Promise<void> {
    const { endpoint, id: deliveryId, number: attempt } = found;
    const isDead = found.countedAttempts >= (this.#workers.get(endpoint)?.attempts ?? 0);
    const isTaken = await this.#commit.write(() => this.#table.takeBack(found, { isDead, now }));
    if (!isTaken) return;
    const { code, message } = abandonedError;
    const fields = { endpoint, deliveryId, attempt, code };
    if (isDead) this.#options.log().error(fields, `${message} Its attempts are used up: it is dead. Replay it.`);
    else this.#options.log().warn(fields, `${message} It is run again.`);
  }

  #wakeDue(now: number): void {
    for (const { endpoint, dueAt } of this.#table.dueAt()) {
      if (dueAt <= now) this.#workers.get(endpoint)?.wake();
      else this.#wakeBy(dueAt);
    }
  }

  /** Looks again when something becomes due before the next regular look. */
  #wakeBy(dueAt: number): void {
    const { now, pollMs } = this.#options;
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= this.#wakeAt || delay > pollMs || this.#closed) return;
    clearTimeout(this.#wakeTimer);
    this.#wakeAt = dueAt;
    this.#wakeTimer = setTimeout(() => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#lookAfter(async () => this.#wakeDue(now()));
    }, delay);
    this.#wakeTimer.unref();
  }

  async #renew(): Promise<void> {
    const { now, leaseMs } = this.#options;
    const workers = [...this.#workers.values()];
    const running = workers.flatMap((worker) => worker.running);
    if (running.length === 0) return;
    const lease = { owner: this.#owner, now: now(), until: now() + leaseMs };
    const ours = await this.#commit.write(() => this.#table.renew(running, lease));
    const lost = new Set(running.filter((sequence) => !ours.has(sequence)));
    for (const worker of workers) worker.letGo(lost);
  }

  #every(milliseconds: number, task: () => Promise<void>): void {
    const timer = setInterval(() => this.#lookAfter(task), milliseconds);
    timer.unref();
    this.#timers.push(timer);
  }

  #lookAfter(task: () => Promise<void>): void {
    task().catch((error: unknown) => {
      // What was under way when the inbox closed has nothing to look at any more.
      if (this.#closed) return;
      this.#options.log().error({ err: error }, "The inbox could not be looked after; it is tried again.");
    });
  }
}
