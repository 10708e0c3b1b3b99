import type { JobStore, StoredJob } from "../store/job-store.ts";
import { type EventSource, streamEvents } from "./event-stream.ts";
import type { JobRunner } from "./job-runner.ts";

/** The maximum number of lines that a stream reads at once. */
const linesPerRead = 500;

interface JobStreamSource {
  store: JobStore;
  runner: Pick<JobRunner, "changes" | "isActive">;
}

/** Streams the last `tail` lines of a job and all new lines as server-sent events, until the job ends or is deleted. */
export function streamJobLogs(
  source: JobStreamSource,
  { jobId, tail = Number.POSITIVE_INFINITY }: { jobId: string; tail: number | undefined },
): ReadableStream<Uint8Array> {
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
        return [{ timestamp: new Date(createdAt).toISOString(), data: message ?? "" }];
      }
      const lines = store.lines(jobId, { after, limit: linesPerRead });
      after = lines.at(-1)?.number ?? after;
      return lines.map(({ timestamp, data }) => ({ timestamp: new Date(timestamp).toISOString(), data }));
    }),
  );
}

/** Streams a job as a server-sent event, first its current state, and again after each change of its status. */
export function streamJobEvents(
  source: JobStreamSource,
  { jobId, describe }: { jobId: string; describe: (job: StoredJob) => object },
): ReadableStream<Uint8Array> {
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
