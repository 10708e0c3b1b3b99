import { storedCrashError } from "../errors.ts";
import type { DeliveryKey } from "../inbox.ts";
import { ClaimGate, type Suspect } from "./claim-gate.ts";
import type { InboxContext } from "./context.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";
import type { RecoveredDelivery, RunningRow } from "./leases.ts";

/** Wakes the workers whose deliveries are due. See `retry.ts` for the term "suspect". */
export class DueDeliveries {
  readonly gate: ClaimGate;
  readonly #context: InboxContext;
  readonly #workers: ReadonlyMap<string, EndpointWorker>;
  /** The time of the last poll. The first poll corrects times that were stored before the clock was set back. */
  #lastPoll = Number.POSITIVE_INFINITY;
  /** When `#wake` is scheduled. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  constructor(context: InboxContext, workers: ReadonlyMap<string, EndpointWorker>) {
    this.#context = context;
    this.#workers = workers;
    this.gate = new ClaimGate({
      now: context.now,
      monotonicNow: context.monotonicNow,
      firstHoldMs: context.pollMs,
      findSuspects: () => this.#findSuspects(),
      wakeWorkers: () => {
        for (const worker of workers.values()) worker.wake();
      },
    });
  }

  /** Corrects due times after the clock was set back, and wakes the workers of due deliveries. Call this method at regular intervals. */
  async poll(): Promise<void> {
    await this.#correctClock();
    this.#wake();
  }

  /** Schedules a wake at a time, unless the next poll is earlier. */
  wakeBy(dueAt: number): void {
    const { now, pollMs, tasks } = this.#context;
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= this.#wakeAt || delay > pollMs || tasks.isClosed) return;
    this.#cancelWake();
    this.#wakeAt = dueAt;
    this.#cancelWake = tasks.runAfter(delay, async () => {
      this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#wake();
      this.gate.poll();
    });
  }

  #findSuspects(): Suspect[] {
    const { committed, damage, now } = this.#context;
    return [...this.#workers].flatMap(([endpoint, worker]) => {
      const found = damage.read(endpoint, () => committed.nextSuspect(endpoint, now()));
      if (!found) return [];
      if (found.dueAt > now()) this.wakeBy(found.dueAt);
      return [{ dueAt: found.dueAt, run: () => worker.runSuspect() }];
    });
  }

  async #correctClock(): Promise<void> {
    const { table, committed, groupCommit, damage } = this.#context;
    const now = this.#context.now();
    const wasSetBack = now < this.#lastPoll;
    this.#lastPoll = now;
    if (!wasSetBack) return;
    try {
      for (const { endpoint } of committed.endpoints()) {
        await groupCommit
          .write(() => table.correctClock(endpoint, now))
          .catch((error: unknown) => {
            if (!damage.recordIfDamage(error, endpoint)) throw error;
          });
      }
    } catch (error) {
      // The next poll corrects the times of all endpoints again.
      this.#lastPoll = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  #wake(): void {
    const { committed, damage } = this.#context;
    const now = this.#context.now();
    for (const [endpoint, worker] of this.#workers) {
      const dueAt = damage.read(endpoint, () => committed.nextDueAt(endpoint));
      const isDue = dueAt !== undefined && dueAt <= now;
      // A worker whose last claim failed claims again even if no delivery is due, to check whether claims succeed again.
      if (isDue || worker.failingMs > 0) worker.wake();
      const nextDueAt = isDue ? damage.read(endpoint, () => committed.nextDueAt(endpoint, now)) : dueAt;
      if (nextDueAt !== undefined) this.wakeBy(nextDueAt);
    }
  }
}

/**
 * Detects processes that are gone: their number of heartbeats has not changed for the duration of a lease. The time is measured with
 * the monotonic clock of this process, so that wrong clocks of other processes have no effect.
 */
export class HeartbeatMonitor {
  readonly #options: { leaseMs: number; monotonicNow: () => number };
  /** The last observed number of heartbeats of each process, and how long this number has not changed. */
  readonly #observations = new Map<string, { heartbeats: number | undefined; unchangedMs: number }>();
  #lastAt: number;

  constructor(options: { leaseMs: number; monotonicNow: () => number }) {
    this.#options = options;
    this.#lastAt = options.monotonicNow();
  }

  /**
   * Observes the number of heartbeats of each process with running deliveries. The number is `undefined` for a process that has not
   * sent any heartbeats yet. Returns the IDs of the processes that are gone.
   */
  observe(processes: ReadonlyMap<string, number | undefined>): string[] {
    const { leaseMs, monotonicNow } = this.#options;
    const now = monotonicNow();
    // The limit gives other processes time to send a heartbeat after the machine was suspended.
    const elapsed = Math.min(now - this.#lastAt, leaseMs / 3);
    this.#lastAt = now;
    for (const id of this.#observations.keys()) if (!processes.has(id)) this.#observations.delete(id);
    return [...processes].flatMap(([id, heartbeats]) => {
      const last = this.#observations.get(id);
      const unchangedMs = last && last.heartbeats === heartbeats ? last.unchangedMs + elapsed : 0;
      this.#observations.set(id, { heartbeats, unchangedMs });
      return unchangedMs >= leaseMs ? [id] : [];
    });
  }

  /** Restarts all observations. Call this method after a period in which no process could write heartbeats. */
  reset(): void {
    this.#observations.clear();
  }
}

interface LeaseRecoveryOptions extends InboxContext {
  workers: ReadonlyMap<string, EndpointWorker>;
  leaseMs: number;
}

type WorkerRow = RunningRow & { worker: EndpointWorker };

/** Recovers deliveries from processes that are gone. See `retry.ts` for the term "suspect". */
export class LeaseRecovery {
  readonly #options: LeaseRecoveryOptions;
  readonly #monitor: HeartbeatMonitor;

  constructor(options: LeaseRecoveryOptions) {
    this.#options = options;
    this.#monitor = new HeartbeatMonitor(options);
  }

  /** Checks the running deliveries of all processes. Call this method at regular intervals. */
  async poll(): Promise<void> {
    const { processId, workers } = this.#options;
    const running = [...workers.values()].flatMap((worker) => this.#findRunning(worker));
    const own = running.filter((row) => row.processId === processId);
    await this.#releaseNotRunning(own.filter(({ id, worker }) => !worker.isRunning(id)));
    await this.#recoverFromGone(running.filter((row) => row.processId !== processId));
  }

  /** Finds an endpoint's running deliveries in all processes. Aborts the handlers of deliveries whose lease this process has lost. */
  #findRunning(worker: EndpointWorker): WorkerRow[] {
    const { processId, committed, damage } = this.#options;
    const { endpoint } = worker.queue;
    const { rows, unreadable } = committed.leases.running(endpoint, (error) => damage.recordIfDamage(error, endpoint));
    const own = new Set(rows.filter((row) => row.processId === processId).map(({ id }) => id));
    worker.abortLost((id) => own.has(id) || this.#isUnreadable({ endpoint, id }, unreadable));
    return rows.map((row) => ({ ...row, worker }));
  }

  /** Whether a delivery is on a damaged page. The lease of such a delivery cannot be lost, because no process can read the delivery. */
  #isUnreadable(key: DeliveryKey, unreadable: ReadonlySet<number>): boolean {
    const { committed, damage } = this.#options;
    return damage.read(key.endpoint, () => unreadable.has(committed.leases.sequenceOf(key))) ?? true;
  }

  /** Requeues deliveries whose claim failed because the file was moved during the commit. The file that was moved back contains it. */
  async #releaseNotRunning(rows: readonly WorkerRow[]): Promise<void> {
    if (rows.length === 0) return;
    const { groupCommit, table, processId, now } = this.#options;
    await groupCommit.write(() => {
      for (const row of rows) table.leases.release(row, { processId, now: now() });
    });
  }

  async #recoverFromGone(running: readonly WorkerRow[]): Promise<void> {
    const heartbeats = running.length === 0 ? new Map<string, number>() : this.#options.committed.leases.heartbeats();
    const processes = new Map(running.map(({ processId }) => [processId, heartbeats.get(processId)] as const));
    for (const gone of this.#monitor.observe(processes)) {
      const rows = running.filter(({ processId }) => processId === gone);
      try {
        await this.#recoverAll(gone, rows, processes.get(gone));
      } catch (error) {
        // If this process cannot write to the file, other processes cannot write heartbeats either.
        this.#monitor.reset();
        throw error;
      }
    }
  }

  async #recoverAll(gone: string, rows: readonly WorkerRow[], heartbeats: number | undefined): Promise<void> {
    const { groupCommit, table, now, damage } = this.#options;
    const marked = await groupCommit.write(() => table.leases.markProcessGone(gone, heartbeats));
    if (!marked) return;
    const { running, lastHeartbeatAt } = marked;
    const recover = async (row: WorkerRow): Promise<void> => {
      const { endpoint, policy } = row.worker.queue;
      try {
        const crash = { wasAlone: running === 1, policy, lastHeartbeatAt };
        const recovered = await groupCommit.write(() => table.leases.recover(row, { ...crash, now: now() }));
        if (recovered) this.#log(recovered);
      } catch (error) {
        if (!damage.recordIfDamage(error, endpoint)) throw error;
      }
    };
    await Promise.all(rows.map(recover));
    await groupCommit.write(() => table.leases.removeProcess(gone));
  }

  #log({ endpoint, id: deliveryId, attempt, isCounted, isDead }: RecoveredDelivery): void {
    const { code, message } = storedCrashError;
    const fields = { endpoint, deliveryId, attempt, code };
    const { log } = this.#options;
    if (isDead) {
      const next = "The delivery is dead, because it has no attempts left. Replay the delivery to run it again.";
      log.error(fields, `${message} ${next}`);
    } else {
      const next = "The delivery will be retried, alone in its process if possible.";
      const uncounted = isCounted ? "" : " This attempt does not count, because other deliveries were running.";
      log.warn(fields, `${message} ${next}${uncounted}`);
    }
  }
}
