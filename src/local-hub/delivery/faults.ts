import * as z from "zod/mini";
import { type Duration, isDuration, toMilliseconds } from "../../core/options.ts";
import { parseGiven } from "../error-response.ts";

const share = z.number().check(z.minimum(0), z.maximum(1));

const schema = z.strictObject({
  drop: z.optional(share),
  duplicate: z.optional(share),
  delay: z.optional(z.custom<Duration>(isDuration, 'expected a duration such as "5s"')),
  reorder: z.optional(z.boolean()),
});

/** What goes wrong with the deliveries of a local Hub, so that the recovery of a receiver can be tested. */
export interface DeliveryFaults {
  /** The share of deliveries that are lost, from 0 to 1: they are neither sent nor retried. Default `0`. */
  drop?: number | undefined;
  /** The share of deliveries that are sent twice, with the same `Webhook-Id`, from 0 to 1. Default `0`. */
  duplicate?: number | undefined;
  /** How long each delivery waits before its first attempt. Default: not at all. */
  delay?: Duration | undefined;
  /** Whether each delivery waits for a random part of `delay`, by default of 1 second, so that later ones overtake it. */
  reorder?: boolean | undefined;
}

const reorderMs = 1_000;

/** Decides the faults of each delivery. Replays have none. */
export class FaultyDelivery {
  readonly #random: () => number;
  #faults = { drop: 0, duplicate: 0, reorder: false, delayMs: 0 };

  /** @param random Returns a number from 0 (included) to 1 (excluded). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Replaces all faults. @throws `ARGUMENT_INVALID` with the invalid fields. */
  set(faults: unknown): void {
    const { drop = 0, duplicate = 0, reorder = false, delay } = parseGiven(schema, faults, "faults");
    const defaultMs = reorder ? reorderMs : 0;
    const delayMs = delay === undefined ? defaultMs : toMilliseconds(delay, "delay");
    this.#faults = { drop, duplicate, reorder, delayMs };
  }

  isDropped(): boolean {
    return this.#random() < this.#faults.drop;
  }

  isDuplicated(): boolean {
    return this.#random() < this.#faults.duplicate;
  }

  delayMs(): number {
    const { reorder, delayMs } = this.#faults;
    return reorder ? Math.floor(this.#random() * delayMs) : delayMs;
  }
}
