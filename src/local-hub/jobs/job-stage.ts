import type { JobStage } from "../../hub/jobs/schemas.ts";

/** Whether a job in this stage has ended. */
export function isFinished(stage: JobStage): boolean {
  return stage !== "SCHEDULING" && stage !== "RUNNING";
}
