import type { Context } from "hono";
import { jobRequest } from "../../hub/jobs/definition.ts";
import { type Job, type JobQuery, job, jobHardware, jobLabels, jobOperations } from "../../hub/jobs/schemas.ts";
import { authorize, canReadPrivate } from "../access.ts";
import { accountId, type Caller, getAccountKind, getAvatarUrl } from "../accounts.ts";
import { badRequest, forbidden, invalidRequest, notFound } from "../error-response.ts";
import type { HubContext } from "../hub-context.ts";
import { type EventSource, eventStream, streamEvents, toLine } from "../jobs/event-stream.ts";
import { hardware } from "../jobs/hardware.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import {
  type ApiEnvironment,
  describeRoutes,
  linkNextPage,
  nextPageHeader,
  type ResourceApi,
  serveRoute,
} from "../routes/route.ts";
import type { JobStore, StoredJob } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";

const jobRoutes = describeRoutes(jobOperations, "jobs", {
  hardware: { success: "The hardware." },
  run: { success: "The job." },
  list: { success: "A page of jobs, the newest first.", headers: nextPageHeader },
  count: { success: "The number of jobs." },
  get: { success: "The job." },
  logs: {
    description:
      "A stream of server-sent events. The data of each event is `{timestamp, data}`, where `data` is a line.",
    parameters: { tail: { in: "query", description: "The maximum number of existing lines." } },
    success: "The lines that the job has printed, and new lines until the job ends.",
  },
  events: {
    description: "A stream of server-sent events. The data of each event is the job.",
    success: "The job, and the job after each change of its status until the job ends.",
  },
  cancel: { success: "The canceled job. A finished job is unchanged." },
  setLabels: { success: "The job." },
});

/** Users have access to their own jobs and to the jobs of their organizations. */
export const jobApi = {
  routes: jobRoutes,
  components: { Job: job, JobHardware: jobHardware, JobLabels: jobLabels, JobRequest: jobRequest },
  serve(app, hub) {
    const { store, jobs } = hub;
    const streamSource = { store: store.jobs, runner: jobs };
    const describe = (stored: StoredJob) => toJob(stored, hub);
    const check = (namespace: string, { var: { caller } }: Context<ApiEnvironment>, write = false) =>
      checkNamespace(store, namespace, caller, write);
    const find = (params: { namespace: string; jobId: string }, context: Context<ApiEnvironment>, write = false) => {
      check(params.namespace, context, write);
      return findJob(store, params);
    };

    serveRoute(app, jobRoutes.hardware, () => [...hardware]);

    serveRoute(app, jobRoutes.run, ({ params: { namespace }, body }, context) => {
      check(namespace, context, true);
      const { secrets = {}, ...definition } = body;
      const { aliases = [] } = definition.network ?? {};
      if (new Set(aliases).size < aliases.length) throw invalidRequest(["network.aliases: expected different names"]);
      return describe(jobs.run({ owner: namespace, createdBy: context.var.caller.user, definition, secrets }));
    });

    serveRoute(app, jobRoutes.list, ({ params: { namespace }, query }, context) => {
      check(namespace, context);
      const found = findJobs(store, namespace, query);
      const rest = query.cursor === undefined ? found : after(store, found, query.cursor);
      const page = rest.slice(0, pageSize);
      // The cursor is the ID of the last job on the page, so that new jobs do not move jobs to another page.
      const last = page.at(-1);
      if (last && rest.length > pageSize) linkNextPage(context, { cursor: last.id });
      return page.map(describe);
    });

    serveRoute(app, jobRoutes.count, ({ params: { namespace }, query }, context) => {
      check(namespace, context);
      return { count: findJobs(store, namespace, query).length };
    });

    serveRoute(app, jobRoutes.get, ({ params }, context) => describe(find(params, context)));

    serveRoute(app, jobRoutes.logs, ({ params, query: { tail } }, context) =>
      eventStream(streamJobLogs(streamSource, find(params, context).id, tail)),
    );

    serveRoute(app, jobRoutes.events, ({ params }, context) =>
      eventStream(streamJobEvents(streamSource, find(params, context).id, describe)),
    );

    serveRoute(app, jobRoutes.cancel, ({ params }, context) => {
      jobs.cancel(find(params, context, true).id);
      return describe(findJob(store, params));
    });

    serveRoute(app, jobRoutes.setLabels, ({ params, body: { labels } }, context) => {
      jobs.setLabels(find(params, context, true).id, labels);
      return describe(findJob(store, params));
    });
  },
} satisfies ResourceApi;

const pageSize = 50;

export function toJob(
  { id, owner, createdBy, webhookId, definition, secretNames, stage, message, failureCount, ...times }: StoredJob,
  source: Pick<HubContext, "hubUrl" | "now">,
): Job {
  const { attempts, timeoutSeconds, ssh: _ssh, ...same } = definition;
  const { createdAt, startedAt, finishedAt } = times;
  const seconds = (from: number, to: number) => Math.max(0, Math.floor((to - from) / 1000));
  const end = finishedAt ?? source.now();
  return {
    type: "job",
    id,
    createdAt: new Date(createdAt).toISOString(),
    ...(startedAt !== undefined && { startedAt: new Date(startedAt).toISOString() }),
    ...(finishedAt !== undefined && { finishedAt: new Date(finishedAt).toISOString() }),
    durations: {
      ...(startedAt !== undefined && {
        schedulingSecs: seconds(createdAt, startedAt),
        runningSecs: seconds(startedAt, end),
      }),
      totalSecs: seconds(createdAt, end),
    },
    owner: toAccount(owner, source),
    createdBy: { id: accountId(createdBy), name: createdBy },
    initiator: webhookId === undefined ? toAccount(createdBy, source) : { type: "webhook", id: webhookId },
    ...same,
    ...(secretNames.length > 0 && { secrets: [...secretNames] }),
    ...(timeoutSeconds !== null && { timeout: timeoutSeconds }),
    retry: attempts - 1,
    status: { stage, message, ...(failureCount !== undefined && { failureCount }) },
  };
}

function toAccount(name: string, { hubUrl }: Pick<HubContext, "hubUrl">) {
  const type = getAccountKind(name) ?? "user";
  return { id: accountId(name), name, type, avatarUrl: getAvatarUrl(name, { hubUrl }) };
}

/** Unknown namespaces belong to the developer. @throws HTTPException 404 if the caller cannot read, 403 if only reading is allowed. */
function checkNamespace(store: Store, namespace: string, caller: Caller, write: boolean): void {
  if (getAccountKind(namespace) === "org") authorize(store, caller, namespace, { role: "anyone" });
  if (!canReadPrivate(store, caller.user, namespace)) {
    throw notFound(
      `There are no jobs of "${namespace}" that you can access. Use your own name or the name of your organization.`,
    );
  }
  if (!write || namespace === caller.user) return;
  const isReader = store.members.get({ owner: namespace, id: caller.user })?.role === "read";
  if (caller.tokenRole !== "write" || isReader) {
    throw forbidden(
      `You cannot start or change jobs of "${namespace}". Use the token hf_local, or your own namespace.`,
    );
  }
}

function findJob(store: Store, { namespace, jobId }: { namespace: string; jobId: string }): StoredJob {
  const job = store.jobs.get(jobId);
  if (job?.owner === namespace) return job;
  throw notFound(`There is no job "${jobId}" in the namespace "${namespace}".`);
}

function findJobs(store: Store, namespace: string, query: JobQuery): StoredJob[] {
  const stages = [query.stage ?? []].flat();
  const labels = [query.label ?? []].flat();
  return store.jobs.all().filter(({ owner, stage, definition }) => {
    const own = Object.entries(definition.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    const isInStage = stages.length === 0 || stages.includes(stage);
    return owner === namespace && isInStage && labels.every((label) => own.includes(label));
  });
}

/** The job of the cursor can have left the selected stage. @throws HTTPException 400 if the cursor is unknown. */
function after(store: Store, found: readonly StoredJob[], cursor: string): StoredJob[] {
  const ids = store.jobs.all().map(({ id }) => id);
  if (!ids.includes(cursor)) {
    throw badRequest('cursor: expected a cursor from a "Link" header. Omit the cursor to get the first page');
  }
  const later = new Set(ids.slice(ids.indexOf(cursor) + 1));
  return found.filter(({ id }) => later.has(id));
}

const linesPerRead = 500;

interface JobStreamSource {
  store: JobStore;
  runner: Pick<JobRunner, "changes" | "isActive">;
}

/** Streams the last `tail` lines of a job and all new lines as server-sent events, until the job ends or is deleted. */
export function streamJobLogs(source: JobStreamSource, jobId: string, tail = Number.POSITIVE_INFINITY) {
  const { store } = source;
  let after = Math.max(0, store.lineCount(jobId) - tail);
  const job = store.get(jobId);
  // A job that is only recorded prints nothing, so the stream contains the reason.
  let note = job?.stage === "SCHEDULING" && !source.runner.isActive(job) ? job : undefined;
  return streamEvents(
    changesOf(source, jobId, () => {
      if (note) {
        const { createdAt, message } = note;
        note = undefined;
        return [toLine({ timestamp: createdAt, data: message ?? "" })];
      }
      const lines = store.lines(jobId, { after, limit: linesPerRead });
      after = lines.at(-1)?.number ?? after;
      return lines.map(toLine);
    }),
  );
}

/** Streams a job as a server-sent event, first its current state, and again after each change of its status. */
export function streamJobEvents(source: JobStreamSource, jobId: string, describe: (job: StoredJob) => object) {
  let latest = "";
  return streamEvents(
    changesOf(source, jobId, () => {
      const job = source.store.get(jobId);
      const status = JSON.stringify([job?.stage, job?.message, job?.failureCount]);
      if (!job || status === latest) return [];
      latest = status;
      return [describe(job)];
    }),
  );
}

function changesOf({ store, runner }: JobStreamSource, jobId: string, read: EventSource["read"]): EventSource {
  const isActive = () => {
    const job = store.get(jobId);
    return job !== undefined && runner.isActive(job);
  };
  return { nextChange: () => runner.changes.next(jobId), read, isActive };
}
