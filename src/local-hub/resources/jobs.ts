import { HTTPException } from "hono/http-exception";
import type { Job, JobQuery } from "../../hub/jobs/schemas.ts";
import { authorize, canReadPrivate } from "../access.ts";
import { accountId, type Caller, getAccountKind } from "../accounts.ts";
import type { StoredJob } from "../store/job-store.ts";
import type { Store } from "../store/store.ts";
import { getAvatarUrl } from "./avatars.ts";

/** The number of jobs per page. */
const pageSize = 50;

export interface JobSource {
  store: Store;
  hubUrl: string;
  now: () => number;
}

/** Returns a job in the format of the Hub's API. */
export function toJob(
  { id, owner, createdBy, webhookId, definition, secretNames, stage, message, failureCount, ...times }: StoredJob,
  source: Pick<JobSource, "hubUrl" | "now">,
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

function toAccount(name: string, { hubUrl }: Pick<JobSource, "hubUrl">) {
  const type = getAccountKind(name) ?? "user";
  return { id: accountId(name), name, type, avatarUrl: getAvatarUrl(name, { hubUrl }) };
}

/**
 * Checks whether a caller can read, or start and change, the jobs of a user or an organization. Unknown namespaces belong to the
 * developer.
 *
 * @throws HTTPException 404 if the caller cannot read the jobs, 403 if the caller can only read the jobs.
 */
export function checkNamespace(
  store: Store,
  { namespace, caller, write = false }: { namespace: string; caller: Caller; write?: boolean },
): void {
  if (getAccountKind(namespace) === "org") authorize({ store, caller, organization: namespace }, { role: "anyone" });
  if (!canReadPrivate(store, { user: caller.user, owner: namespace })) {
    throw new HTTPException(404, {
      message: `There are no jobs of "${namespace}" that you can access. Use your own name or the name of your organization.`,
    });
  }
  if (!write || namespace === caller.user) return;
  const isReader = store.members.get({ owner: namespace, id: caller.user })?.role === "read";
  if (caller.tokenRole !== "write" || isReader) {
    throw new HTTPException(403, {
      message: `You cannot start or change jobs of "${namespace}". Use the token hf_local, or your own namespace.`,
    });
  }
}

/** Returns a job of a namespace. @throws HTTPException 404 if the namespace has no such job. */
export function findJob(store: Store, { namespace, jobId }: { namespace: string; jobId: string }): StoredJob {
  const job = store.jobs.get(jobId);
  if (job?.owner === namespace) return job;
  throw new HTTPException(404, { message: `There is no job "${jobId}" in the namespace "${namespace}".` });
}

/** Returns the jobs of a namespace that match a query, newest first. */
export function findJobs(store: Store, { namespace, ...query }: JobQuery & { namespace: string }): StoredJob[] {
  const stages = [query.stage ?? []].flat();
  const labels = [query.label ?? []].flat();
  return store.jobs.all().filter(({ owner, stage, definition }) => {
    const own = Object.entries(definition.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    const isInStage = stages.length === 0 || stages.includes(stage);
    return owner === namespace && isInStage && labels.every((label) => own.includes(label));
  });
}

/**
 * Returns a page of jobs, and the cursor of the next page if there is one. The cursor is the ID of the last job on the page, so that
 * new jobs do not move jobs to another page.
 *
 * @throws HTTPException 400 if the cursor is unknown.
 */
export function listJobs(
  store: Store,
  query: JobQuery & { namespace: string },
): { jobs: StoredJob[]; next: string | undefined } {
  const { cursor, ...filter } = query;
  const found = findJobs(store, filter);
  const rest = cursor === undefined ? found : after(store, { cursor, found });
  const jobs = rest.slice(0, pageSize);
  return { jobs, next: rest.length > pageSize ? jobs.at(-1)?.id : undefined };
}

/** Returns the jobs after the cursor. The job of the cursor can have left the selected stage, so all jobs are read. */
function after(store: Store, { cursor, found }: { cursor: string; found: readonly StoredJob[] }): StoredJob[] {
  const ids = store.jobs.all().map(({ id }) => id);
  if (!ids.includes(cursor)) {
    throw new HTTPException(400, {
      message: 'cursor: expected a cursor from a "Link" header. Omit the cursor to get the first page',
    });
  }
  const later = new Set(ids.slice(ids.indexOf(cursor) + 1));
  return found.filter(({ id }) => later.has(id));
}
