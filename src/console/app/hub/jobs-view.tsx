import { useEffect, useRef } from "preact/hooks";
import { escapeHidden } from "../../../core/text.ts";
import type { JobDetails, JobInfo, JobList } from "../../protocol/hub.ts";
import { Facts, RequestHeaders } from "../delivery/pane.tsx";
import { formatDuration, formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute } from "../state.ts";
import {
  Code,
  Command,
  CopyableCode,
  CopyButton,
  Elapsed,
  EmptyState,
  Moment,
  StateLabel,
  type StateLook,
  Text,
} from "../ui.tsx";
import { type DataColumn, ItemPane, ListView } from "./list-view.tsx";

const columns: readonly DataColumn<JobInfo>[] = [
  { label: "Command", cell: ({ command, id }) => <Text value={command === "" ? id : command} /> },
  { label: "Stage", isShort: true, cell: (job) => <JobStage job={job} /> },
  { label: "Started by", from: 700, cell: ({ webhookId, owner }) => (webhookId ? "webhook" : <Text value={owner} />) },
  { label: "Duration", from: 480, isNumber: true, cell: (job) => <JobDuration job={job} /> },
  { label: "Created", from: 480, isShort: true, cell: ({ createdAt }) => <Moment at={createdAt} /> },
];

export function JobsView() {
  return (
    <ListView
      noun={["job", "jobs"]}
      resource={useResource<JobList>("jobs", { features: ["jobs"] })}
      itemsOf={({ jobs }) => jobs}
      keys={["id"]}
      columns={columns}
      textOf={({ id, stage, owner, command }) => [id, stage, owner, command].join(" ")}
      isNewestFirst
      emptyState={({ runsJobs, runCommand }) => (
        <EmptyState title="No jobs yet">
          <p>A webhook of the kind job starts one for each delivery, and so does the API of jobs.</p>
          {!runsJobs && (
            <>
              <p>This local Hub only records jobs. Start it like this to run their commands on this machine:</p>
              <Command text={runCommand} />
            </>
          )}
        </EmptyState>
      )}
      pane={({ id = "" }) => <JobPane key={id} id={id} />}
    />
  );
}

/** The distance from the end within which the log follows new lines, in pixels. */
const followDistance = 40;

function JobPane({ id }: { id: string }) {
  const resource = useResource<JobDetails>("jobs/one", { query: { id }, features: ["jobs"] });
  return (
    <ItemPane title="Job" path="jobs" resource={resource}>
      {(job) => (
        <>
          <Summary job={job} />
          <Log job={job} />
          {job.environment.length > 0 && <RequestHeaders title="Environment" headers={job.environment} />}
        </>
      )}
    </ItemPane>
  );
}

function Summary({ job }: { job: JobDetails }) {
  const { id, command, message, owner, createdBy, webhookId, flavor, image, createdAt, attempts, failures } = job;
  return (
    <div>
      <p class="delivery-title">
        <JobStage job={job} />
        <Code class="hub-target" value={command} />
      </p>
      {message !== undefined && (
        <p class="quiet">
          <Text value={message} />
        </p>
      )}
      <Facts
        facts={{
          ID: <CopyableCode value={id} label="Copy ID" />,
          Owner: <Text value={owner} />,
          "Started by":
            webhookId === undefined ? (
              <Text value={createdBy} />
            ) : (
              <a href={formatRoute("webhooks/one", { id: webhookId })}>webhook {webhookId}</a>
            ),
          Created: <Moment at={createdAt} />,
          Duration: job.startedAt !== undefined && <JobDuration job={job} />,
          Image: image !== undefined && <Text value={image} />,
          Flavor: flavor,
          Timeout: job.timeoutSeconds !== undefined && formatDuration(job.timeoutSeconds * 1_000, { unit: "s" }),
          Attempts:
            attempts > 1 &&
            `at most ${attempts}${failures > 0 ? `, ${formatPlural(failures, "failed", "failed")}` : ""}`,
          Secrets: job.secretNames.join(", "),
        }}
      />
    </div>
  );
}

function Log({ job: { logs, isActive } }: { job: JobDetails }) {
  const element = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (follows.current) element.current?.scrollTo({ top: element.current.scrollHeight });
  }, [logs.at(-1)?.number]);
  return (
    <section class="pane-section">
      <div class="section-header">
        <h3>Log</h3>
        {logs.length > 0 && <CopyButton text={() => logs.map(({ text }) => text).join("\n")} label="Copy log" />}
      </div>
      {logs.length === 0 ? (
        <p class="quiet">{isActive ? "The job has not printed anything yet." : "The job printed nothing."}</p>
      ) : (
        <>
          {(logs[0]?.number ?? 1) > 1 && <p class="quiet">The latest {logs.length} lines.</p>}
          <section
            ref={element}
            class="job-log"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable with the keyboard
            tabIndex={0}
            aria-label="Lines of the log"
            onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
              follows.current = scrollHeight - scrollTop - clientHeight < followDistance;
            }}
          >
            <pre>{logs.map(({ text }) => `${escapeHidden(text)}\n`).join("")}</pre>
          </section>
        </>
      )}
    </section>
  );
}

const looks: Readonly<Record<string, Omit<StateLook, "label">>> = {
  SCHEDULING: { color: "quiet", icon: "queued" },
  RUNNING: { color: "running", icon: "running" },
  COMPLETED: { color: "good", icon: "succeeded" },
  ERROR: { color: "bad", icon: "failed" },
  CANCELED: { color: "ignored", icon: "cancelled" },
  DELETED: { color: "ignored", icon: "discard" },
};

function JobStage({ job: { stage } }: { job: Pick<JobInfo, "stage"> }) {
  const look = looks[stage] ?? ({ color: "quiet", icon: "queued" } as const);
  return <StateLabel {...look} label={stage.charAt(0) + stage.slice(1).toLowerCase()} />;
}

function JobDuration({ job: { startedAt, finishedAt, isActive } }: { job: JobInfo }) {
  if (startedAt === undefined) return null;
  if (finishedAt !== undefined) return <>{formatDuration(finishedAt - startedAt)}</>;
  return isActive ? <Elapsed since={startedAt} /> : null;
}
