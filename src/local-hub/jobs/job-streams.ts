import { setTimeout as delay } from "node:timers/promises";
import type { JobStore, StoredJob } from "../store/job-store.ts";
import type { JobRunner } from "./job-runner.ts";

/** The maximum number of lines that a stream reads at once. */
const linesPerRead = 500;
/** The pause after which a stream sends a comment, so that clients and proxies do not close the connection. As on the Hub. */
const keepAliveMs = 30_000;

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
  return streamChanges(source, jobId, () => {
    if (note) {
      const { createdAt, message } = note;
      note = undefined;
      return [{ timestamp: new Date(createdAt).toISOString(), data: message ?? "" }];
    }
    const lines = store.lines(jobId, { after, limit: linesPerRead });
    after = lines.at(-1)?.number ?? after;
    return lines.map(({ timestamp, data }) => ({ timestamp: new Date(timestamp).toISOString(), data }));
  });
}

/** Streams a job as a server-sent event, first its current state, and again after each change of its status. */
export function streamJobEvents(
  source: JobStreamSource,
  { jobId, describe }: { jobId: string; describe: (job: StoredJob) => object },
): ReadableStream<Uint8Array> {
  let latest = "";
  return streamChanges(source, jobId, () => {
    const job = source.store.get(jobId);
    const status = JSON.stringify([job?.stage, job?.message, job?.failureCount]);
    if (!job || status === latest) return [];
    latest = status;
    return [describe(job)];
  });
}

/** Calls `read` until it returns no events, and again after each change of the job. */
function streamChanges(
  source: JobStreamSource,
  jobId: string,
  read: () => readonly object[],
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const canceled = new AbortController();
  const texts = changesOf(source, { jobId, read, signal: canceled.signal });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel() {
      canceled.abort();
    },
  });
}

async function* changesOf(
  { store, runner }: JobStreamSource,
  { jobId, read, signal }: { jobId: string; read: () => readonly object[]; signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  // Sends the headers of the response before the first event.
  yield ": stream\n\n";
  while (!signal.aborted) {
    // The promise is created before the read, so that no change is missed.
    const changed = runner.changes.next(jobId);
    const job = store.get(jobId);
    const events = read();
    if (events.length > 0) yield events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    else if (!job || !runner.isActive(job)) return;
    else if (!(await waitForChange(changed, signal))) yield ": keep-alive\n\n";
  }
}

/** Resolves with whether the job changed before the next comment is due. */
async function waitForChange(changed: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const stop = new AbortController();
  const pause = delay(keepAliveMs, false, { signal: AbortSignal.any([signal, stop.signal]), ref: false });
  try {
    return await Promise.race([changed.then(() => true), pause.catch(() => true)]);
  } finally {
    stop.abort();
  }
}
