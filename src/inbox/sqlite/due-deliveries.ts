import { storedCrashError } from "../errors.ts";
import type { DeliveryKey } from "../inbox.ts";
import { createClaimGate, type Suspect } from "./claim-gate.ts";
import type { InboxContext } from "./context.ts";
import type { EndpointWorker } from "./endpoint-worker.ts";
import type { RecoveredDelivery, RunningRow } from "./leases.ts";

type Workers = ReadonlyMap<string, EndpointWorker>;

export type DueDeliveries = ReturnType<typeof createDueDeliveries>;

/** Wakes the workers whose deliveries are due. See `retry.ts` for the term "suspect". */
export function createDueDeliveries(context: InboxContext, workers: Workers) {
  const { table, committed, groupCommit, damage, tasks, pollMs, now, monotonicNow } = context;
  /** The time of the last poll. The first poll corrects times that were stored before the clock was set back. */
  let lastPoll = Number.POSITIVE_INFINITY;
  /** When `wake` is scheduled. */
  let wakeAt = Number.POSITIVE_INFINITY;
  let cancelWake = () => {};

  const gate = createClaimGate({
    now,
    monotonicNow,
    firstHoldMs: pollMs,
    findSuspects,
    wakeWorkers: () => {
      for (const worker of workers.values()) worker.wake();
    },
  });

  function findSuspects(): Suspect[] {
    return [...workers].flatMap(([endpoint, worker]) => {
      const found = damage.read(endpoint, () => committed.nextSuspect(endpoint, now()));
      if (!found) return [];
      if (found.dueAt > now()) wakeBy(found.dueAt);
      return [{ dueAt: found.dueAt, run: () => worker.runSuspect() }];
    });
  }

  /** Schedules a wake at a time, unless the next poll is earlier. */
  function wakeBy(dueAt: number): void {
    const delay = Math.max(0, dueAt - now());
    if (dueAt >= wakeAt || delay > pollMs || tasks.isClosed) return;
    cancelWake();
    wakeAt = dueAt;
    cancelWake = tasks.runAfter(delay, async () => {
      wakeAt = Number.POSITIVE_INFINITY;
      wake();
      gate.poll();
    });
  }

  function wake(): void {
    const wokenAt = now();
    for (const [endpoint, worker] of workers) {
      const dueAt = damage.read(endpoint, () => committed.nextDueAt(endpoint));
      const isDue = dueAt !== undefined && dueAt <= wokenAt;
      // A worker whose last claim failed claims again even if no delivery is due, to check whether claims succeed again.
      if (isDue || worker.failingMs > 0) worker.wake();
      const nextDueAt = isDue ? damage.read(endpoint, () => committed.nextDueAt(endpoint, wokenAt)) : dueAt;
      if (nextDueAt !== undefined) wakeBy(nextDueAt);
    }
  }

  async function correctClock(): Promise<void> {
    const polledAt = now();
    const wasSetBack = polledAt < lastPoll;
    lastPoll = polledAt;
    if (!wasSetBack) return;
    try {
      for (const { endpoint } of committed.endpoints()) {
        await groupCommit
          .write(() => table.correctClock(endpoint, polledAt))
          .catch((error: unknown) => {
            if (!damage.recordIfDamage(error, endpoint)) throw error;
          });
      }
    } catch (error) {
      // The next poll corrects the times of all endpoints again.
      lastPoll = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  return {
    gate,
    wakeBy,
    /** Corrects due times after the clock was set back, and wakes the workers of due deliveries. Call this method at regular intervals. */
    async poll(): Promise<void> {
      await correctClock();
      wake();
    },
  };
}

/**
 * Detects processes that are gone: their number of heartbeats has not changed for the duration of a lease. The time is measured with
 * the monotonic clock of this process, so that wrong clocks of other processes have no effect.
 */
export function createHeartbeatMonitor({ leaseMs, monotonicNow }: { leaseMs: number; monotonicNow: () => number }) {
  /** The last observed number of heartbeats of each process, and how long this number has not changed. */
  const observations = new Map<string, { heartbeats: number | undefined; unchangedMs: number }>();
  let lastAt = monotonicNow();
  return {
    /**
     * Observes the number of heartbeats of each process with running deliveries. The number is `undefined` for a process that has not
     * sent any heartbeats yet. Returns the IDs of the processes that are gone.
     */
    observe(processes: ReadonlyMap<string, number | undefined>): string[] {
      const now = monotonicNow();
      // The limit gives other processes time to send a heartbeat after the machine was suspended.
      const elapsed = Math.min(now - lastAt, leaseMs / 3);
      lastAt = now;
      for (const id of observations.keys()) if (!processes.has(id)) observations.delete(id);
      return [...processes].flatMap(([id, heartbeats]) => {
        const last = observations.get(id);
        const unchangedMs = last && last.heartbeats === heartbeats ? last.unchangedMs + elapsed : 0;
        observations.set(id, { heartbeats, unchangedMs });
        return unchangedMs >= leaseMs ? [id] : [];
      });
    },

    /** Restarts all observations. Call this method after a period in which no process could write heartbeats. */
    reset: () => observations.clear(),
  };
}

type WorkerRow = RunningRow & { worker: EndpointWorker };

/**
 * Returns a function that recovers deliveries from processes that are gone (see `retry.ts` for the term "suspect"). Call it at regular
 * intervals.
 */
export function createLeaseRecovery(context: InboxContext, workers: Workers, leaseMs: number) {
  const { processId, table, committed, groupCommit, damage, now, monotonicNow, log } = context;
  const monitor = createHeartbeatMonitor({ leaseMs, monotonicNow });

  /** Finds an endpoint's running deliveries in all processes. Aborts the handlers of deliveries whose lease this process has lost. */
  function findRunning(worker: EndpointWorker): WorkerRow[] {
    const { endpoint } = worker.queue;
    const { rows, unreadable } = committed.leases.running(endpoint, (error) => damage.recordIfDamage(error, endpoint));
    const own = new Set(rows.filter((row) => row.processId === processId).map(({ id }) => id));
    worker.abortLost((id) => own.has(id) || isUnreadable({ endpoint, id }, unreadable));
    return rows.map((row) => ({ ...row, worker }));
  }

  /** Whether a delivery is on a damaged page. The lease of such a delivery cannot be lost, because no process can read the delivery. */
  function isUnreadable(key: DeliveryKey, unreadable: ReadonlySet<number>): boolean {
    return damage.read(key.endpoint, () => unreadable.has(committed.sequenceOf(key) ?? 0)) ?? true;
  }

  /** Requeues deliveries whose claim failed because the file was moved during the commit. The file that was moved back contains it. */
  async function releaseNotRunning(rows: readonly WorkerRow[]): Promise<void> {
    if (rows.length === 0) return;
    await groupCommit.write(() => {
      for (const row of rows) table.leases.release(row, { processId, now: now() });
    });
  }

  async function recoverFromGone(running: readonly WorkerRow[]): Promise<void> {
    const heartbeats = running.length === 0 ? new Map<string, number>() : committed.leases.heartbeats();
    const processes = new Map(running.map((row) => [row.processId, heartbeats.get(row.processId)] as const));
    for (const gone of monitor.observe(processes)) {
      const rows = running.filter((row) => row.processId === gone);
      try {
        await recoverAll(gone, rows, processes.get(gone));
      } catch (error) {
        // If this process cannot write to the file, other processes cannot write heartbeats either.
        monitor.reset();
        throw error;
      }
    }
  }

  async function recoverAll(gone: string, rows: readonly WorkerRow[], heartbeats: number | undefined): Promise<void> {
    const marked = await groupCommit.write(() => table.leases.markProcessGone(gone, heartbeats));
    if (!marked) return;
    const { running, lastHeartbeatAt } = marked;
    const recover = async (row: WorkerRow): Promise<void> => {
      const { endpoint, policy } = row.worker.queue;
      try {
        const crash = { wasAlone: running === 1, policy, lastHeartbeatAt };
        const recovered = await groupCommit.write(() => table.leases.recover(row, { ...crash, now: now() }));
        if (recovered) logRecovered(recovered);
      } catch (error) {
        if (!damage.recordIfDamage(error, endpoint)) throw error;
      }
    };
    await Promise.all(rows.map(recover));
    await groupCommit.write(() => table.leases.removeProcess(gone));
  }

  function logRecovered({ endpoint, id: deliveryId, attempt, isCounted, isDead }: RecoveredDelivery): void {
    const { code, message } = storedCrashError;
    const fields = { endpoint, deliveryId, attempt, code };
    if (isDead) {
      const next = "The delivery is dead, because it has no attempts left. Replay the delivery to run it again.";
      log.error(fields, `${message} ${next}`);
    } else {
      const next = "The delivery will be retried, alone in its process if possible.";
      const uncounted = isCounted ? "" : " This attempt does not count, because other deliveries were running.";
      log.warn(fields, `${message} ${next}${uncounted}`);
    }
  }

  return async (): Promise<void> => {
    const running = [...workers.values()].flatMap(findRunning);
    const own = running.filter((row) => row.processId === processId);
    await releaseNotRunning(own.filter(({ id, worker }) => !worker.isRunning(id)));
    await recoverFromGone(running.filter((row) => row.processId !== processId));
  };
}
