import { isDamage } from "../../core/files.ts";
import { storedCrashError } from "../errors.ts";
import { countsAsAttempt, type RetryPolicy } from "../retry.ts";
import { type Totals, toAttemptRow } from "./delivery-reader.ts";
import type { Statements } from "./statements.ts";

/** A process that claims or requeues deliveries, and the current time. */
export interface Claimant {
  processId: string;
  now: number;
}

/** A running delivery of any process. */
export interface RunningRow {
  sequence: number;
  id: string;
  processId: string;
}

export type RecoveredDelivery = NonNullable<ReturnType<Leases["recover"]>>;

/**
 * Manages the leases of running deliveries. A process holds the leases of its running deliveries as long as it sends
 * heartbeats (see `createHeartbeatMonitor` in `due-deliveries.ts`). Call the methods that write inside a transaction.
 */
export class Leases {
  readonly #statements: Statements;
  readonly #totals: Totals;

  constructor(statements: Statements, totals: Totals) {
    this.#statements = statements;
    this.#totals = totals;
  }

  /** Finds an endpoint's running deliveries in all processes. `unreadable`: the sequences of those on damaged pages. */
  running(endpoint: string, onDamage: (error: unknown) => void) {
    const { running, runningSequences, row } = this.#statements;
    const unreadable = new Set<number>();
    try {
      return { rows: running().all(endpoint).map(toRunningRow), unreadable };
    } catch (error) {
      if (!isDamage(error)) throw error;
      onDamage(error);
    }
    const rows: RunningRow[] = [];
    for (const { sequence } of runningSequences().all(endpoint)) {
      try {
        const found = row().get(Number(sequence));
        if (found) rows.push(toRunningRow(found));
      } catch {
        unreadable.add(Number(sequence));
      }
    }
    return { rows, unreadable };
  }

  /** Requeues a delivery that this process claimed but never ran. */
  release({ sequence }: Pick<RunningRow, "sequence">, { processId, now }: Claimant): void {
    const released = this.#statements.release().get({ sequence, process_id: processId, now });
    if (released) this.#totals.move(String(released.endpoint), "running", "queued");
  }

  addHeartbeat({ processId, now }: Claimant): void {
    this.#statements.heartbeat().run(processId, now);
  }

  /** Returns the number of heartbeats of each process, by process ID. */
  heartbeats(): ReadonlyMap<string, number> {
    const rows = this.#statements.heartbeats().all();
    return new Map(rows.map(({ process_id, heartbeats }) => [String(process_id), Number(heartbeats)]));
  }

  /**
   * Marks a process as gone, unless its number of heartbeats is no longer `heartbeats`. Returns how many deliveries the
   * process was running and when it sent its last heartbeat, or `undefined` if the process has sent another heartbeat.
   * Only the first call counts the deliveries, because later calls run after some of them were recovered.
   */
  markProcessGone(processId: string, heartbeats: number | undefined) {
    const { process, markProcessGone, countRunning } = this.#statements;
    const row = process().get(processId);
    if (row?.heartbeats !== heartbeats) return undefined;
    const lastHeartbeatAt = Number(row?.last_heartbeat_at ?? 0);
    if (typeof row?.running_when_gone === "number") return { running: row.running_when_gone, lastHeartbeatAt };
    const running = Number(countRunning().get(processId)?.running);
    markProcessGone().run(processId, running);
    return { running, lastHeartbeatAt };
  }

  removeProcess(processId: string): void {
    this.#statements.removeProcess().run({ process_id: processId });
  }

  /** Removes processes that have no running deliveries and sent their last heartbeat before `time`. */
  removeProcessesBefore(time: number): void {
    this.#statements.removeProcessesBefore().run(time);
  }

  /** Makes a delivery of a process that is gone a suspect, or dead. Returns `undefined` if it is no longer running in that process. */
  recover(
    { sequence, processId }: RunningRow,
    crash: { wasAlone: boolean; policy: RetryPolicy; now: number; lastHeartbeatAt: number },
  ) {
    const { wasAlone, policy, now, lastHeartbeatAt } = crash;
    const row = this.#statements.row().get(sequence);
    if (row?.status !== "running" || row.process_id !== processId) return undefined;
    const uncountedCrashes = Number(row.uncounted_crashes);
    const isCounted = countsAsAttempt({ wasAlone, uncountedCrashes });
    const attempt = Number(row.attempts);
    const uncountedAttempts =
      row.replay_requested === 1 ? attempt : Number(row.uncounted_attempts) + (isCounted ? 0 : 1);
    const isDead = isCounted && attempt - uncountedAttempts >= policy.maxAttempts;
    // Some crashes do not count, so there can be more crashes than attempts. The wait is then the one before the last attempt.
    const crashes = Math.min(Number(row.crashes) + 1, Math.max(1, policy.maxAttempts - 1));
    this.#statements.recover().run({
      status: isDead ? "dead" : "queued",
      due_at: isDead ? null : now + policy.waitAfter(crashes),
      finished_at: isDead ? now : null,
      uncounted_attempts: uncountedAttempts,
      uncounted_crashes: uncountedCrashes + (isCounted ? 0 : 1),
      now,
      sequence,
    });
    this.#totals.move(String(row.endpoint), "running", isDead ? "dead" : "queued");
    const startedAt = Number(row.started_at ?? row.scheduled_at);
    const times = { startedAt: new Date(startedAt), durationMs: lastHeartbeatAt - startedAt };
    const abandoned = { number: attempt, ...times, outcome: "abandoned", error: storedCrashError } as const;
    this.#statements.addAttempt().run(...toAttemptRow(sequence, abandoned));
    return { endpoint: String(row.endpoint), id: String(row.id), attempt, isCounted, isDead };
  }
}

function toRunningRow(row: Record<string, unknown>): RunningRow {
  return { sequence: Number(row.sequence), id: String(row.id), processId: String(row.process_id) };
}
