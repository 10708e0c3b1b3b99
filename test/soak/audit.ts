import type { DeliveryKey, Inbox, StoredDelivery } from "../../src/inbox/inbox.ts";
import type { Findings } from "../support/findings.ts";

interface Acknowledged extends DeliveryKey {
  /** When it was acknowledged. */
  at: number;
}

/** What became of what was acknowledged. */
export interface Account {
  acknowledged: number;
  succeeded: number;
  dead: number;
  /** Succeeded, or are dead, after a process that worked on them had ended. */
  interrupted: number;
  open: number;
  lost: number;
}

/** Younger ones may well be in work. */
const restMs = 5_000;
/** By then every attempt is over, also that of a killed process, whose lease is half a minute. */
const longestMs = 240_000;
const attemptsAtMost = 5;

/** Looks for everything that was acknowledged, until it is done, and whether it ended as it had to. */
export class Audit {
  readonly #inbox: Inbox;
  readonly #findings: Findings;
  readonly #open = new Map<string, Acknowledged>();
  readonly #counts = { acknowledged: 0, succeeded: 0, dead: 0, interrupted: 0, lost: 0 };

  constructor({ inbox, findings }: { inbox: Inbox; findings: Findings }) {
    this.#inbox = inbox;
    this.#findings = findings;
  }

  /** Notes that a receiver has promised to keep a delivery. */
  acknowledge(key: DeliveryKey): void {
    this.#open.set(key.id, { ...key, at: performance.now() });
    this.#counts.acknowledged += 1;
  }

  get account(): Account {
    return { ...this.#counts, open: this.#open.size };
  }

  /** Looks at the oldest of those that are not known to be done. */
  async look({ most = 300, youngToo = false } = {}): Promise<void> {
    const now = performance.now();
    let looked = 0;
    for (const key of [...this.#open.values()]) {
      if (looked === most || (!youngToo && now - key.at < restMs)) break;
      looked += 1;
      this.#judge(key, await this.#inbox.get(key));
    }
  }

  #judge(key: Acknowledged, found: StoredDelivery | undefined): void {
    this.#open.delete(key.id);
    if (!found) {
      this.#counts.lost += 1;
      this.#findings.note("an acknowledged delivery is not in the inbox", key.id);
      return;
    }
    const { status, attempts } = found;
    if (status !== "succeeded" && status !== "dead") {
      // To the end of the queue, and with its own age: it is looked at again.
      this.#open.set(key.id, key);
      if (performance.now() - key.at > longestMs) this.#findings.note(`a delivery is ${status} without end`, key.id);
      return;
    }
    this.#counts[status] += 1;
    const wasInterrupted = attempts.some(({ outcome }) => outcome === "abandoned");
    if (wasInterrupted) this.#counts.interrupted += 1;
    if (!isAsExpected(key.id, found)) {
      const told = attempts.map(({ outcome, error }) => `${outcome} ${error?.code ?? ""}`.trim()).join(", ");
      this.#findings.note(`a delivery is ${status} with attempts (${told})`, key.id);
    }
  }
}

function isAsExpected(id: string, { status, attempts }: StoredDelivery): boolean {
  // What a shutdown handed back does not count as an attempt.
  const counted = attempts.filter(({ error }) => error?.code !== "CLOSING");
  const failed = counted.filter(({ outcome }) => outcome === "failed").length;
  if (id.startsWith("poison")) return status === "dead" && counted.length === attemptsAtMost;
  if (id.startsWith("hopeless")) return status === "dead" && failed === 1;
  if (status === "succeeded") return counted.at(-1)?.outcome === "succeeded";
  // Killed again and again in the middle of its work.
  return counted.length === attemptsAtMost && counted.some(({ outcome }) => outcome === "abandoned");
}
