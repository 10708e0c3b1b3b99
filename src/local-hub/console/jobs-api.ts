import { type JobDetails, type JobInfo, type JobList, jobQuery } from "../../console/protocol/hub.ts";
import type { ConsoleResource } from "../../console/server/console.ts";
import { readQuery } from "../../console/server/requests.ts";
import { cutAt } from "../../core/text.ts";
import type { HubContext } from "../hub-context.ts";
import type { StoredJob } from "../store/job-store.ts";
import { runJobsCommand } from "./commands.ts";
import { notFound } from "./not-found.ts";

/** The maximum number of jobs in the list. */
const maxListed = 200;
/** The maximum number of lines in an answer. */
const maxLines = 1_000;
/** The maximum length of a variable, such as the payload. */
const maxVariableCharacters = 2_000;

/** The routes of the jobs. */
export function jobsApi(hub: HubContext): ConsoleResource {
  const { store, jobs, runJobs } = hub;
  return (app) => {
    app.get("/jobs", (context) => {
      const all = store.jobs.all();
      return context.json<JobList>({
        jobs: all.slice(0, maxListed).map((job) => toJobInfo(jobs, job)),
        unlisted: Math.max(0, all.length - maxListed),
        runsJobs: runJobs,
        runCommand: runJobsCommand,
      });
    });

    app.get("/jobs/one", (context) => {
      const { id, after } = readQuery(context, jobQuery);
      const job = store.jobs.get(id);
      if (!job) throw notFound("This job does not exist. The local Hub keeps the latest 1,000 jobs. Reload the list.");
      return context.json(toJobDetails(hub, { job, after }));
    });
  };
}

function toJobInfo(runner: HubContext["jobs"], job: StoredJob): JobInfo {
  const { id, owner, stage, message, createdAt, startedAt, finishedAt, definition, webhookId } = job;
  const { command = [], arguments: args = [], dockerImage, spaceId } = definition;
  const words = [...command, ...args].join(" ");
  return {
    ...{ id, owner, stage, createdAt, isActive: runner.isActive(job) },
    command: cutAt(words === "" ? (dockerImage ?? spaceId ?? "") : words, maxVariableCharacters),
    ...(message !== null && { message }),
    ...(startedAt !== undefined && { startedAt }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(webhookId !== undefined && { webhookId }),
  };
}

function toJobDetails(
  { store, jobs }: HubContext,
  { job, after }: { job: StoredJob; after: number | undefined },
): JobDetails {
  const { id, createdBy, definition, secretNames, failureCount = 0 } = job;
  const { flavor, dockerImage, spaceId, attempts, timeoutSeconds, environment } = definition;
  const image = dockerImage ?? spaceId;
  const first = after ?? Math.max(0, store.jobs.lineCount(id) - maxLines);
  return {
    ...toJobInfo(jobs, job),
    ...{ createdBy, flavor, attempts, failures: failureCount, secretNames },
    ...(image !== undefined && { image }),
    ...(timeoutSeconds !== null && { timeoutSeconds }),
    environment: Object.entries(environment).map(([name, value]) => [name, cutAt(value, maxVariableCharacters)]),
    logs: store.jobs
      .lines(id, { after: first, limit: maxLines })
      .map(({ number, timestamp, data }) => ({ number, at: timestamp, text: data })),
  };
}
