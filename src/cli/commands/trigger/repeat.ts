import { isWithoutEffect, type TriggerOutcome, type TriggerTarget } from "./target.ts";

/** What {@link repeatTrigger} needs. */
export interface RepeatOptions {
  target: TriggerTarget;
  times: number;
  /** How many are under way together. */
  concurrency: number;
  /** Ends it: what is under way is not waited for. */
  signal: AbortSignal;
  /** Told of each event whose deliveries are over. */
  onOutcome: (outcome: TriggerOutcome) => void;
}

/**
 * Lets an event happen many times. It ends early when an event leads to nothing, since the next would not either, and
 * when something is wrong that is not the receiver's: that is returned. Never rejects.
 */
export async function repeatTrigger(options: RepeatOptions): Promise<{ error?: unknown }> {
  const { target, times, concurrency, signal, onOutcome } = options;
  const failed = new AbortController();
  const ends = AbortSignal.any([signal, failed.signal]);
  const ended: { error?: unknown } = {};
  let begun = 0;
  let isSilent = false;
  const work = async () => {
    while (begun < times && !isSilent && !ends.aborted) {
      begun += 1;
      try {
        const outcome = await target.trigger(ends);
        if (isWithoutEffect(outcome)) isSilent = true;
        onOutcome(outcome);
      } catch (error) {
        if (ends.aborted) return;
        ended.error = error;
        failed.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, times) }, work));
  return ended;
}
