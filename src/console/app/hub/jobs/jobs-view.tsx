import type { JobInfo, JobList } from "../../../protocol/hub.ts";
import { Command } from "../../components/command.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Text } from "../../components/text.tsx";
import { Moment } from "../../components/time.tsx";
import { formatPlural } from "../../format/number.ts";
import { useResource } from "../../state/resource.ts";
import { formatRoute, route } from "../../state/route.ts";
import { type DataColumn, DataTable } from "../data-table.tsx";
import { applyFilter, ListPage, readFilter, Unlisted } from "../list-page.tsx";
import { Split } from "../split.tsx";
import { JobDuration } from "./job-duration.tsx";
import { JobPane } from "./job-pane.tsx";
import { JobStage } from "./job-stage.tsx";

const columns: readonly DataColumn<JobInfo>[] = [
  { label: "Command", cell: ({ command, id }) => <Text value={command === "" ? id : command} /> },
  { label: "Stage", isShort: true, cell: (job) => <JobStage job={job} /> },
  { label: "Started by", from: 700, cell: ({ webhookId, owner }) => (webhookId ? "webhook" : <Text value={owner} />) },
  { label: "Duration", from: 480, isNumber: true, cell: (job) => <JobDuration job={job} /> },
  { label: "Created", from: 480, isShort: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

/** The jobs of the local Hub. */
export function JobsView() {
  const resource = useResource<JobList>("jobs", { features: ["jobs"] });
  const { path, query } = route.value;
  const openId = path === "jobs/one" ? query.id : undefined;
  const search = readFilter();
  return (
    <Split
      isOpen={openId !== undefined}
      list={
        <ListPage title="Jobs" filterLabel="Filter jobs" resource={resource}>
          {({ jobs, unlisted, runsJobs, runCommand }) => (
            <>
              {jobs.length === 0 ? (
                <EmptyState title="No jobs yet">
                  <p>A webhook of the kind job starts one for each delivery, and so does the API of jobs.</p>
                  {!runsJobs && (
                    <>
                      <p>This local Hub only records jobs. Start it like this to run their commands on this machine:</p>
                      <Command text={runCommand} />
                    </>
                  )}
                </EmptyState>
              ) : (
                <DataTable
                  caption={`${formatPlural(jobs.length, "job", "jobs")}, newest first`}
                  items={applyFilter(jobs, ({ id, stage, owner, command }) => [id, stage, owner, command].join(" "))}
                  columns={columns}
                  keyOf={({ id }) => id}
                  hashOf={({ id }) => formatRoute("jobs/one", { id, search })}
                  openKey={openId}
                />
              )}
              <Unlisted count={unlisted} noun={["job", "jobs"]} />
            </>
          )}
        </ListPage>
      }
      pane={openId !== undefined && <JobPane key={openId} id={openId} search={search} />}
    />
  );
}
