import type { JobInfo } from "../../../protocol/hub.ts";
import { formatDuration } from "../../format.ts";
import { Elapsed, Icon, type IconName } from "../../ui.tsx";

const looks: Readonly<Record<string, { color: string; icon: IconName }>> = {
  SCHEDULING: { color: "quiet", icon: "queued" },
  RUNNING: { color: "running", icon: "running" },
  COMPLETED: { color: "good", icon: "succeeded" },
  ERROR: { color: "bad", icon: "failed" },
  CANCELED: { color: "ignored", icon: "cancelled" },
  DELETED: { color: "ignored", icon: "discard" },
};

/** The stage of a job, in its color. */
export function JobStage({ job: { stage } }: { job: Pick<JobInfo, "stage"> }) {
  const { color, icon } = looks[stage] ?? { color: "quiet", icon: "queued" as const };
  return (
    <span class="status" data-color={color}>
      <Icon name={icon} />
      {stage.charAt(0) + stage.slice(1).toLowerCase()}
    </span>
  );
}

/** How long a job ran, or how long it has been running. */
export function JobDuration({ job: { startedAt, finishedAt, isActive } }: { job: JobInfo }) {
  if (startedAt === undefined) return null;
  if (finishedAt !== undefined) return <>{formatDuration(finishedAt - startedAt)}</>;
  return isActive ? <Elapsed since={startedAt} /> : null;
}
