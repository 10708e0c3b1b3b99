import type * as z from "zod/mini";
import { messageOf } from "../../core/describe.ts";
import { HubError } from "../../core/errors.ts";
import { type Duration, toMilliseconds } from "../../core/options.ts";
import { accountOperations } from "../account.ts";
import type { CallOptions } from "../operation.ts";
import { Pages } from "../pages.ts";
import type { Transport } from "../transport/transport.ts";
import { fieldInvalid } from "../validation/arguments.ts";
import type { jobRequest } from "./definition.ts";
import { type Job, type JobHardware, type JobStage, jobLogEvent, jobOperations } from "./schemas.ts";

/** The options of calls for jobs. */
export interface JobCallOptions extends CallOptions {
  /** The user or organization that owns the job. Default: the token's user. */
  namespace?: string | undefined;
}

/** The job to start with {@link HubJobs.run}. Set either `image` or `space`. */
export interface JobRequest
  extends Omit<z.input<typeof jobRequest>, "dockerImage" | "spaceId" | "flavor" | "timeoutSeconds">,
    Pick<JobCallOptions, "namespace"> {
  /** The Docker image, such as `python:3.13`. */
  image?: string | undefined;
  /** The Space whose image runs the job, as `owner/name`. */
  space?: string | undefined;
  /** The hardware. Default `cpu-basic`. */
  flavor?: z.input<typeof jobRequest>["flavor"] | undefined;
  /** The Hub stops the job after this time, rounded up to whole seconds. By default, the Hub chooses the timeout. */
  timeout?: Duration | undefined;
}

/** A search for jobs. */
export interface JobSearch {
  /** Selects jobs in one of these stages. */
  stage?: JobStage | JobStage[] | undefined;
  /** Selects jobs with all these labels. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/** The options of {@link HubJobs.logs}. */
export interface JobLogOptions extends JobCallOptions {
  /** Whether to wait for new lines until the job ends. By default, only the existing lines are returned. */
  follow?: boolean | undefined;
  /** Skips all existing lines except for the last ones. This is the maximum number of lines to keep. */
  tail?: number | undefined;
}

/**
 * The methods of `hub.jobs` for jobs on the Hub's infrastructure.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields. Methods with a job ID throw `HUB_NOT_FOUND` if the namespace has no such job.
 */
export class HubJobs {
  readonly #transport: Transport;
  #user: string | undefined;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the hardware that a job can request. Pass a returned `name` as the `flavor` of a job.
   *
   * @example
   * ```ts
   * for (const { name, unitCostUSD, unitLabel } of await hub.jobs.hardware()) console.log(name, unitCostUSD, unitLabel);
   * ```
   */
  hardware(options?: CallOptions): Promise<JobHardware[]> {
    return this.#transport.call(jobOperations.hardware, {}, options);
  }

  /**
   * Starts a job. Returns as soon as the job is scheduled. The call is retried only if the Hub cannot have processed the call.
   *
   * @example
   * ```ts
   * const { id } = await hub.jobs.run({
   *   image: "python:3.13",
   *   command: ["python", "-c", "print('Hello')"],
   *   secrets: { HF_TOKEN: process.env.HF_TOKEN ?? "" },
   *   timeout: "10m",
   * });
   * ```
   */
  async run(request: JobRequest, options?: CallOptions): Promise<Job> {
    const { image, space, flavor = "cpu-basic", timeout, namespace, ...further } = request;
    if ((image === undefined) === (space === undefined)) {
      throw fieldInvalid("image", "pass either an image or a space");
    }
    const timeoutSeconds = timeout === undefined ? undefined : toSeconds(timeout);
    const body = { ...further, flavor, timeoutSeconds, dockerImage: image, spaceId: space };
    const params = await this.#params({ ...options, namespace });
    return this.#transport.call(jobOperations.run, { params, body }, options);
  }

  /**
   * Lists the jobs of a namespace, newest first. Requests each page only when the page is needed.
   *
   * @example
   * ```ts
   * for await (const { id, status } of hub.jobs.list({ stage: "RUNNING", labels: { team: "data" } })) console.log(id, status);
   * ```
   */
  list({ stage, labels = {} }: JobSearch = {}, options: JobCallOptions = {}): Pages<Job> {
    const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const open = async () =>
      this.#transport.pages(
        jobOperations.list,
        { params: await this.#params(options), query: { stage, label } },
        options,
      );
    return new Pages(open, options);
  }

  /** Counts the jobs of a namespace, or the jobs in some stages. */
  async count({ stage }: Pick<JobSearch, "stage"> = {}, options?: JobCallOptions): Promise<number> {
    const params = await this.#params(options);
    return (await this.#transport.call(jobOperations.count, { params, query: { stage } }, options)).count;
  }

  /** Returns a job. */
  async get(jobId: string, options?: JobCallOptions): Promise<Job> {
    return this.#transport.call(jobOperations.get, { params: await this.#jobParams(jobId, options) }, options);
  }

  /**
   * Yields the lines that a job has printed. With `follow`, waits for new lines until the job ends, and reconnects if the connection
   * is lost. Without `follow`, stops 5 s after the last line of a running job, because the Hub does not mark the last line.
   *
   * @example
   * ```ts
   * for await (const { line } of hub.jobs.logs(id, { follow: true })) console.log(line);
   * ```
   */
  async *logs(jobId: string, options: JobLogOptions = {}): AsyncGenerator<JobLogLine, void, undefined> {
    yield* readJobLogs(this.#transport, { params: await this.#jobParams(jobId, options), ...options });
  }

  /** Cancels a job. Has no effect on a finished job. */
  async cancel(jobId: string, options?: JobCallOptions): Promise<Job> {
    const params = await this.#jobParams(jobId, options);
    return this.#transport.call(jobOperations.cancel, { params }, { ...options, idempotent: true });
  }

  /** Replaces all labels of a job. */
  async setLabels(jobId: string, labels: Readonly<Record<string, string>>, options?: JobCallOptions): Promise<Job> {
    const params = await this.#jobParams(jobId, options);
    return this.#transport.call(jobOperations.setLabels, { params, body: { labels } }, options);
  }

  async #jobParams(jobId: string, options?: JobCallOptions): Promise<{ namespace: string; jobId: string }> {
    return { ...(await this.#params(options)), jobId };
  }

  /**
   * Returns the namespace. Reads the token's user on the first call without a namespace, and caches the user. Concurrent calls do not
   * share the request, because the signal of each call would abort the others.
   */
  async #params({ namespace, signal }: JobCallOptions = {}): Promise<{ namespace: string }> {
    if (namespace !== undefined) return { namespace };
    this.#user ??= (await this.#transport.call(accountOperations.whoami, {}, { signal })).name;
    return { namespace: this.#user };
  }
}

function toSeconds(timeout: Duration): number {
  try {
    return Math.ceil(toMilliseconds(timeout, "timeout") / 1000);
  } catch (error) {
    throw fieldInvalid("timeout", messageOf(error));
  }
}

/** A line that a job has printed. */
export interface JobLogLine {
  /** The time of the line in ISO 8601 format. */
  timestamp: string;
  line: string;
}

/** The maximum time without data while the client follows a job. The Hub sends a comment every 30 s. */
const followIdleMs = 120_000;
/** The time after which a client that does not follow a running job stops. The Hub sends the existing lines without pauses. */
const snapshotIdleMs = 5_000;
/** The maximum number of connections in a row that are lost without a new line. */
const maxLostConnections = 4;

/** Yields the lines of a job. With `follow`, reconnects if the connection is lost, and skips lines that it has already yielded. */
async function* readJobLogs(
  transport: Transport,
  { params, follow = false, tail, signal }: JobLogOptions & { params: { namespace: string; jobId: string } },
): AsyncGenerator<JobLogLine, void, undefined> {
  const resumed = new ResumedLines();
  const idle = follow ? { idleMs: followIdleMs } : { idleMs: snapshotIdleMs, endsWhenIdle: true };
  for (let lost = 1; ; lost += 1) {
    try {
      const query = { tail: resumed.isEmpty ? tail : undefined };
      const input = { params, query, item: jobLogEvent, ...idle };
      for await (const { timestamp, data } of transport.events(jobOperations.logs, input, { signal })) {
        if (resumed.isRepeated(timestamp)) continue;
        lost = 0;
        // The Hub marks the start of each attempt with this line, which the job did not print.
        if (!data.startsWith("===== Job started")) yield { timestamp, line: data };
      }
      if (!follow) return;
      const { status } = await transport.call(jobOperations.get, { params }, { signal });
      if (!/ING$/.test(status.stage)) return;
      // The log of a scheduled or running job can end early, such as before the job starts.
      lost = 0;
      await transport.waitBeforeRetry(5, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!follow || !HubError.isInstance(error) || !error.retryable || lost >= maxLostConnections) throw error;
    }
    resumed.restart();
    await transport.waitBeforeRetry(lost, signal);
  }
}

/** Recognizes lines by their times, because a new connection starts with earlier lines. */
class ResumedLines {
  #latest = 0;
  /** The number of lines with the latest time. */
  #count = 0;
  /** The latest time before this connection. */
  #from = 0;
  /** The number of lines with this time that this connection must skip. */
  #skip = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  restart(): void {
    this.#from = this.#latest;
    this.#skip = this.#count;
  }

  isRepeated(timestamp: string): boolean {
    const time = Date.parse(timestamp);
    if (time < this.#from) return true;
    if (time === this.#from && this.#skip > 0) {
      this.#skip -= 1;
      return true;
    }
    this.#count = time === this.#latest ? this.#count + 1 : 1;
    this.#latest = time;
    return false;
  }
}
