import { replayedRow } from "./job-history.ts";
import type { DeliveryJob } from "./stored-job.ts";

/** Moves a finished job back into the queue, and notes the replay. Returns whether it was still in that state. */
export async function retryFinished(job: DeliveryJob, state: "failed" | "completed"): Promise<boolean> {
  await job.log(replayedRow(job));
  try {
    await job.retry(state);
    return true;
  } catch (error) {
    // Another process was faster.
    if ((await job.getState()) !== state) return false;
    throw error;
  }
}
