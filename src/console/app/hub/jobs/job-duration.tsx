import type { JobInfo } from "../../../protocol/hub.ts";
import { Elapsed } from "../../components/time.tsx";
import { formatDuration } from "../../format/time.ts";

/** How long a job ran, or how long it has been running. */
export function JobDuration({ job: { startedAt, finishedAt, isActive } }: { job: JobInfo }) {
  if (startedAt === undefined) return null;
  if (finishedAt !== undefined) return <>{formatDuration(finishedAt - startedAt)}</>;
  return isActive ? <Elapsed since={startedAt} /> : null;
}
