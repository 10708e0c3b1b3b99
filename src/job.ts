export { type JobOutcome, type RunJobOptions, runJob } from "./job/run-job.ts";
