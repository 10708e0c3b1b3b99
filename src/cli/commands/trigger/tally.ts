import type { TriggeredDelivery } from "./target.ts";

/** What many deliveries came to. */
export interface TriggerSummary {
  deliveries: number;
  succeeded: number;
  failed: number;
  /** How many were answered with each status; `none` for no answer. */
  byStatus: Readonly<Record<string, number>>;
  /** What the latest attempts took, in milliseconds; `null` where there was none. */
  durationMs: { p50: number | null; p95: number | null; max: number | null };
  /** Deliveries a second. */
  perSecond: number;
}

/** How many deliveries are listed one by one; of more, as many of those that failed. */
const listedAtMost = 10;

/** Whether a delivery was taken: answered with 200 to 299. */
export function isTaken({ status }: Pick<TriggeredDelivery, "status">): boolean {
  return status !== null && status >= 200 && status <= 299;
}

/** Whether a receiver has refused a delivery because of its secret. */
export function isRefusal({ status }: Pick<TriggeredDelivery, "status">): boolean {
  return status === 401 || status === 403;
}

/** Counts deliveries, and keeps those that are to be shown. */
export class Tally {
  readonly #keepsAll: boolean;
  readonly #kept: TriggeredDelivery[] = [];
  readonly #failed: TriggeredDelivery[] = [];
  readonly #durations: number[] = [];
  readonly #byStatus = new Map<string, number>();
  #count = 0;
  #failures = 0;

  /** `keepsAll`: every delivery is to be shown, however many there are. */
  constructor({ keepsAll }: { keepsAll: boolean }) {
    this.#keepsAll = keepsAll;
  }

  add(delivery: TriggeredDelivery): void {
    const status = String(delivery.status ?? "none");
    this.#count += 1;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    if (delivery.durationMs !== null) this.#durations.push(delivery.durationMs);
    if (this.#keepsAll || this.#kept.length < listedAtMost) this.#kept.push(delivery);
    if (isTaken(delivery)) return;
    this.#failures += 1;
    if (this.#failed.length < listedAtMost) this.#failed.push(delivery);
  }

  get count(): number {
    return this.#count;
  }

  get failures(): number {
    return this.#failures;
  }

  /** All where few or all are kept, else the first that failed. */
  get listed(): readonly TriggeredDelivery[] {
    return this.#keepsAll || this.#count <= listedAtMost ? this.#kept : this.#failed;
  }

  /** `elapsedMs`: since the first was sent. */
  summary({ elapsedMs }: { elapsedMs: number }): TriggerSummary {
    const sorted = this.#durations.toSorted((left, right) => left - right);
    return {
      deliveries: this.#count,
      succeeded: this.#count - this.#failures,
      failed: this.#failures,
      byStatus: Object.fromEntries([...this.#byStatus].sort(([left], [right]) => left.localeCompare(right))),
      durationMs: { p50: percentile(sorted, 50), p95: percentile(sorted, 95), max: sorted.at(-1) ?? null },
      perSecond: elapsedMs > 0 ? Math.round((this.#count / elapsedMs) * 10_000) / 10 : 0,
    };
  }
}

/** The least value that is not below so many of a hundred. */
function percentile(sorted: readonly number[], percent: number): number | null {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? null;
}
