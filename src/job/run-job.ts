import { basename } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { RunOptions } from "../catch-up/catch-up.ts";
import type { CatchUpReport } from "../catch-up/endpoint-run.ts";
import { WebhookError, type WebhookErrorCode } from "../core/errors.ts";
import { untilAborted } from "../core/time.ts";
import { defaultPort } from "../core/urls.ts";
import type { DeliveryStatus } from "../inbox/inbox.ts";
import type { Outcome } from "../payload/parse.ts";
import { endpointUnknown } from "../receiver/context.ts";
import { type ControllableServer, type JobDelivery, launchInterceptor, serverControl } from "../receiver/control.ts";
import type { WebhooksServer } from "../receiver/server.ts";
import { serverFileInvalid } from "../server-file/load-failure.ts";

/** The options of {@link runJob}. */
export interface RunJobOptions {
  /** The endpoint to run. Required if the server has several endpoints. */
  endpoint?: string | undefined;
  /** Variables that contain `WEBHOOK_PAYLOAD` and `WEBHOOK_ID`. Default `process.env`. */
  environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Aborts the handler's signal. By default, the first SIGTERM or SIGINT aborts the handler's signal, and the second
   * signal exits the process.
   */
  signal?: AbortSignal;
}

/** The outcome of a job that did not fail: the handler succeeded, or the filter ignored the delivery. */
export type JobOutcome = Exclude<Outcome, { status: "failed" }>;

/**
 * Runs an endpoint of a server in a webhook's job. The Hub sets `WEBHOOK_PAYLOAD` to the payload and `WEBHOOK_ID` to
 * the delivery ID. The filter, schema, timeout, and logging of the endpoint apply as they do to a delivery over HTTP.
 * The secret is not checked, because setting environment variables requires more permissions than sending a request. A
 * background endpoint runs immediately, with one attempt and without an inbox. To retry, run the job again.
 *
 * If the handler fails, `runJob` throws the error. An uncaught error sets the exit code of the process to 1.
 *
 * @throws `HANDLER_FAILED` with the handler's error as `cause`, `HANDLER_TIMED_OUT`, `RESULT_NOT_JSON`;
 * `PAYLOAD_MISSING`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`;
 * `SERVER_FILE_INVALID` when a file that the `hub-webhooks` command runs calls `runJob`; `OPTION_INVALID`; the reason
 * of `signal` when `signal` is already aborted.
 * @example
 * ```ts
 * import { runJob } from "hub-webhooks/job";
 * import server from "./server.ts";
 *
 * await runJob(server, { endpoint: "retrain" });
 * ```
 */
export async function runJob(server: WebhooksServer, options: RunJobOptions = {}): Promise<JobOutcome> {
  if (launchInterceptor()) {
    throw serverFileInvalid(
      "The server file calls runJob(). Run the file with node, or move the call to a separate file.",
    );
  }
  const { environment = process.env } = options;
  const endpoint = chooseEndpoint(server, options.endpoint);
  const body = readPayload(environment);
  const handled = options.signal ? undefined : handleSignals();
  const signal = options.signal ?? handled?.signal ?? AbortSignal.abort();
  try {
    signal.throwIfAborted();
    const outcome = await deliver(server, { endpoint, body, id: environment.WEBHOOK_ID, signal });
    if (outcome.status === "failed") throw outcome.error;
    return outcome;
  } finally {
    handled?.release();
  }
}

/** The abort reason of a handler's signal when its job is stopped. */
function jobStopped(): WebhookError {
  return new WebhookError("The job was stopped. Run the job again to finish its work.", { code: "CLOSING" });
}

const stopSignals = ["SIGTERM", "SIGINT"] as const;

/**
 * Aborts the returned signal at the first SIGTERM or SIGINT. The second signal exits the process with code 1. Without a
 * signal handler, the first process of a container would ignore the second signal. `release()` removes the signal
 * handlers.
 */
function handleSignals(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(jobStopped());
  };
  for (const name of stopSignals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release() {
      for (const name of stopSignals) process.off(name, onSignal);
    },
  };
}

/**
 * Returns the given endpoint, or the only endpoint of the server. Does not choose an endpoint by its filter, because
 * adding an endpoint could then change the endpoint that a job runs.
 */
function chooseEndpoint({ endpointNames: names }: ControllableServer, name: string | undefined): string {
  const [first] = names;
  if (name !== undefined && names.includes(name)) return name;
  if (name !== undefined || first === undefined) throw endpointUnknown(name, names);
  if (names.length === 1) return first;
  throw new WebhookError(
    `The server has several endpoints: ${names.join(", ")}. Choose an endpoint with --endpoint ${first} in the command, or with runJob(server, { endpoint: "${first}" }).`,
    { code: "ENDPOINT_REQUIRED" },
  );
}

function readPayload({ WEBHOOK_PAYLOAD: body }: Readonly<Record<string, string | undefined>>): string {
  if (body) return body;
  throw new WebhookError(
    "WEBHOOK_PAYLOAD is not set. The Hub sets this variable in the job of a webhook. To test locally, run the job with a local Hub (npx hub-webhooks hub --run-jobs), or set the variable to a payload.",
    { code: "PAYLOAD_MISSING" },
  );
}

const payloadCodes: ReadonlySet<WebhookErrorCode> = new Set(["BODY_NOT_JSON", "BODY_TOO_DEEP", "PAYLOAD_INVALID"]);

async function deliver(server: ControllableServer, job: JobDelivery): Promise<Outcome> {
  try {
    return await server[serverControl].runJob(job);
  } catch (error) {
    if (!WebhookError.isInstance(error) || !payloadCodes.has(error.code)) throw error;
    throw new WebhookError(
      `Endpoint "${job.endpoint}" cannot process WEBHOOK_PAYLOAD: ${error.message} Set WEBHOOK_PAYLOAD to the payload of a delivery, or choose another endpoint.`,
      { code: error.code, cause: error },
    );
  }
}

const url = `http://localhost:${defaultPort}`;
/** The result of `launch()` in the server file. In a job, `launch()` does not start a server. */
const launchResult = { port: defaultPort, url, publicUrl: url };

/**
 * Loads the server from a file, and runs the job in this process. If the file or a handler exits the process before the job is
 * finished, the exit code is 1.
 *
 * @param options.file The file that creates the server.
 * @param options.stopped Resolves when the job should stop.
 * @throws the errors of {@link runJob}; `SERVER_FILE_INVALID` with the error of the file as `cause`; `CLOSING` when the
 * job is stopped while the file loads.
 */
export async function runJobFile({
  file,
  stopped,
  ...options
}: Omit<RunJobOptions, "signal"> & { file: string; stopped: Promise<void> }): Promise<JobOutcome> {
  // The modules of server files are loaded here, because a file that calls runJob() does not need them.
  const { findServerFile } = await import("../server-file/find-server-file.ts");
  const path = findServerFile({ file });
  const controller = new AbortController();
  const aborted = stopped.then(() => {
    controller.abort(jobStopped());
    throw controller.signal.reason;
  });
  aborted.catch(() => {});
  process.on("exit", failUnfinished);
  try {
    const server = await Promise.race([loadServer(path), aborted]);
    return await runJob(server, { ...options, signal: controller.signal });
  } finally {
    process.off("exit", failUnfinished);
  }
}

function failUnfinished(code: number): void {
  if (code !== 0) return;
  console.error(
    "error: The process exited before the job was done. Remove calls to process.exit() from the file and its handlers, and look for a promise that never settles.",
  );
  process.exitCode = 1;
}

/** Loads the server of a file, whose `launch()` does not start a server. @throws `SERVER_FILE_INVALID` */
async function loadServer(path: string): Promise<WebhooksServer> {
  const { ServerFileLoader } = await import("../server-file/server-file-loader.ts");
  const loader = new ServerFileLoader();
  try {
    return await loader.load({ path, launchResult });
  } catch (error) {
    const { reason, stack } = loader.explain(error);
    if (stack !== undefined) console.error(stack);
    throw serverFileInvalid(`${basename(path)} failed to load. ${reason}`, { cause: error });
  }
}

/** The options of {@link catchUpFile}. */
export interface CatchUpFileOptions extends RunOptions {
  /** The absolute path of the file that creates the server. */
  path: string;
}

/** What {@link catchUpFile} has done. */
export interface CaughtUp {
  /** By endpoint. */
  reports: ReadonlyMap<string, CatchUpReport>;
  /**
   * The number of derived deliveries, and of earlier ones whose next attempt was due, in each status. A delivery that failed and is
   * retried later is `queued`.
   */
  statuses: Partial<Record<DeliveryStatus, number>>;
}

const pollMs = 50;

/** A delivery that the inbox runs. `attempts`: the number of those that had ended before. */
interface Expected {
  id: string;
  endpoint: string;
  attempts: number;
}

/**
 * Loads a server, derives what its endpoints missed, runs each derived delivery once, and closes the server. Also runs earlier
 * deliveries in the inbox whose next attempt is due. What fails stays in the inbox for its next attempt.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `INBOX_UNUSABLE`, errors of the Hub, and the reason of the signal.
 */
export async function catchUpFile(options: CatchUpFileOptions): Promise<CaughtUp> {
  // Nothing else keeps the process alive while the inbox waits for its next poll.
  const alive = setInterval(() => {}, 60_000);
  try {
    return await catchUp(options);
  } finally {
    clearInterval(alive);
  }
}

async function catchUp({ path, ...options }: CatchUpFileOptions): Promise<CaughtUp> {
  const { signal } = options;
  signal.throwIfAborted();
  await using server = await untilAborted(loadServer(path), signal);
  const startedAt = Date.now();
  const earlier: Expected[] = [];
  // During the comparison, the inbox already runs them.
  const onOpened = async () => void (options.dryRun || earlier.push(...(await listDue(server, startedAt))));
  const reports = await server[serverControl].catchUp({ ...options, onOpened });
  const statuses: CaughtUp["statuses"] = {};
  if (options.dryRun) return { reports, statuses };
  const derived = [...reports].flatMap(([endpoint, report]) =>
    report.derived.map(({ id }): Expected => ({ id, endpoint, attempts: 0 })),
  );
  for (const expected of [...earlier, ...derived]) {
    const status = await untilAttempted(server, expected, signal);
    if (status) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return { reports, statuses };
}

/** Returns the deliveries that run, or whose next attempt is due. */
async function listDue(server: WebhooksServer, startedAt: number): Promise<Expected[]> {
  const { inbox } = server;
  // Deliveries of an endpoint that no longer runs in the background stay in the inbox.
  const queues = new Set(
    server[serverControl].describe().endpoints.flatMap(({ name, background }) => (background ? [name] : [])),
  );
  const due: Expected[] = [];
  for (const status of ["queued", "running"] as const) {
    let cursor: string | undefined;
    do {
      const page = await inbox.list({ status, limit: 1_000, ...(cursor !== undefined && { cursor }) });
      for (const { id, endpoint, dueAt, attempts } of page.deliveries) {
        // The inbox can have run a delivery since it was opened.
        const ended = attempts.filter(({ startedAt: at }) => at === undefined || at.getTime() < startedAt).length;
        const isDue = dueAt === undefined || dueAt.getTime() <= Date.now() || ended < attempts.length;
        if (isDue && queues.has(endpoint)) due.push({ id, endpoint, attempts: ended });
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }
  return due;
}

/** Waits until the next attempt of a delivery has ended, and returns its status. `undefined`: its endpoint is paused. */
async function untilAttempted(
  { inbox }: WebhooksServer,
  { id, endpoint, attempts: before }: Expected,
  signal: AbortSignal,
): Promise<DeliveryStatus | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const stored = await inbox.get(id, { endpoint });
    // Another process can have deleted the delivery after it finished.
    if (!stored) return "succeeded";
    const { status, attempts } = stored;
    if (status !== "running" && (status !== "queued" || attempts.length > before)) return status;
    // A person can pause it at any time.
    if (status === "queued" && (await inbox.pausedEndpoints()).includes(endpoint)) return undefined;
    await wait(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
