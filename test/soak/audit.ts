import type { DeliveryKey, Inbox, StoredDelivery } from "../../src/inbox/inbox.ts";
import type { Findings } from "../support/monitored-receiver.ts";

interface Acknowledged extends DeliveryKey {
  /** In milliseconds of `performance.now()`. */
  acknowledgedAt: number;
}

/** Counts of the acknowledged deliveries by outcome. */
export interface AuditResult {
  acknowledged: number;
  succeeded: number;
  dead: number;
  /** Succeeded or dead after a process exited while it ran them. */
  interrupted: number;
  open: number;
  lost: number;
}

/** Younger deliveries are probably still running. */
const minAgeMs = 5_000;
/** All attempts end within this time, also when a process is killed and its lease has to expire first. */
const maxAgeMs = 240_000;
const maxAttempts = 5;

/** Checks that every acknowledged delivery is in the inbox and ends with the expected outcome. */
export class Audit {
  readonly #inbox: Inbox;
  readonly #findings: Findings;
  readonly #open = new Map<string, Acknowledged>();
  readonly #counts = { acknowledged: 0, succeeded: 0, dead: 0, interrupted: 0, lost: 0 };

  constructor({ inbox, findings }: { inbox: Inbox; findings: Findings }) {
    this.#inbox = inbox;
    this.#findings = findings;
  }

  /** Records that a receiver has acknowledged a delivery. */
  acknowledge(key: DeliveryKey): void {
    this.#open.set(key.id, { ...key, acknowledgedAt: performance.now() });
    this.#counts.acknowledged += 1;
  }

  get result(): AuditResult {
    return { ...this.#counts, open: this.#open.size };
  }

  /** Checks the oldest open deliveries. */
  async check({ max = 300, includeYoung = false } = {}): Promise<void> {
    const now = performance.now();
    let checked = 0;
    for (const key of [...this.#open.values()]) {
      if (checked === max || (!includeYoung && now - key.acknowledgedAt < minAgeMs)) break;
      checked += 1;
      this.#checkOutcome(key, await this.#inbox.get(key));
    }
  }

  #checkOutcome(key: Acknowledged, found: StoredDelivery | undefined): void {
    this.#open.delete(key.id);
    if (!found) {
      this.#counts.lost += 1;
      this.#findings.note("an acknowledged delivery is not in the inbox", key.id);
      return;
    }
    const { status, attempts } = found;
    if (status !== "succeeded" && status !== "dead") {
      // At the end of the queue, for the next check.
      this.#open.set(key.id, key);
      if (performance.now() - key.acknowledgedAt > maxAgeMs) this.#findings.note(`a delivery stays ${status}`, key.id);
      return;
    }
    this.#counts[status] += 1;
    const wasInterrupted = attempts.some(({ outcome }) => outcome === "abandoned");
    if (wasInterrupted) this.#counts.interrupted += 1;
    if (!isAsExpected(key.id, found)) {
      const outcomes = attempts.map(({ outcome, error }) => `${outcome} ${error?.code ?? ""}`.trim()).join(", ");
      this.#findings.note(`a delivery is ${status} with attempts (${outcomes})`, key.id);
    }
  }
}

function isAsExpected(id: string, { status, attempts }: StoredDelivery): boolean {
  // An attempt that a shutdown interrupted does not count.
  const counted = attempts.filter(({ error }) => error?.code !== "CLOSING");
  const failed = counted.filter(({ outcome }) => outcome === "failed").length;
  const abandoned = counted.filter(({ outcome }) => outcome === "abandoned").length;
  // A crash counts, unless other deliveries were running. Then up to three crashes do not count (see retry.ts).
  const mostAttempts = maxAttempts + Math.min(abandoned, 3);
  const areAttemptsUsed = counted.length >= maxAttempts && counted.length <= mostAttempts;
  if (id.startsWith("poison")) return status === "dead" && areAttemptsUsed && failed <= maxAttempts;
  if (id.startsWith("unretriable")) return status === "dead" && failed === 1;
  if (status === "succeeded") return counted.at(-1)?.outcome === "succeeded";
  // The process was killed during several attempts.
  return areAttemptsUsed && abandoned > 0;
}
