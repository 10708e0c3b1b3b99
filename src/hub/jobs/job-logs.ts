import { HubError } from "../../core/errors.ts";
import type { CallOptions } from "../operation.ts";
import type { Transport } from "../transport/transport.ts";
import { jobLogEvent, jobOperations } from "./schemas.ts";

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

interface LogRequest extends CallOptions {
  params: { namespace: string; jobId: string };
  follow?: boolean | undefined;
  tail?: number | undefined;
}

/** Yields the lines of a job. With `follow`, reconnects if the connection is lost, and skips lines that it has already yielded. */
export async function* readJobLogs(
  transport: Transport,
  { params, follow = false, tail, signal }: LogRequest,
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
      return;
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
  #latest = Number.NEGATIVE_INFINITY;
  /** The number of lines with the latest time. */
  #count = 0;
  /** The number of lines with the latest time that this connection must skip. */
  #skip = 0;
  #isResuming = false;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  restart(): void {
    this.#isResuming = true;
    this.#skip = this.#count;
  }

  isRepeated(timestamp: string): boolean {
    const time = Date.parse(timestamp);
    if (this.#isResuming && time < this.#latest) return true;
    if (this.#isResuming && time === this.#latest && this.#skip > 0) {
      this.#skip -= 1;
      return true;
    }
    this.#count = time === this.#latest ? this.#count + 1 : 1;
    this.#latest = time;
    return false;
  }
}
