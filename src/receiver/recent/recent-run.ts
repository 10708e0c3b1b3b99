import type { Logger } from "../../core/logger.ts";
import type { AttemptDetails } from "../../inbox/inbox.ts";
import type { Delivery, Outcome } from "../../payload/delivery.ts";
import { AttemptRecorder, type AttemptRecorderOptions, trimResult } from "./attempt-recorder.ts";
import type { HeaderEntries } from "./request-headers.ts";

/** The memory of a run without its body and details, in bytes: objects, headers, and keys. */
const bytesPerRun = 2_048;

/** The end of a run. */
export interface RunEnd {
  durationMs: number;
  outcome: Outcome;
  /** The status of the response. Missing if no client waits for one. */
  responseStatus?: number | undefined;
}

/** A run of an inline delivery, as the console shows it. */
export interface RecentAttempt {
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Missing while the handler runs. */
  end?: RunEnd & { details: () => AttemptDetails | undefined };
}

/** The start of a run. */
export interface RunStart extends Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt"> {
  headers?: (() => HeaderEntries) | undefined;
  replayOf?: string | undefined;
  /** Whether the delivery has failed before, and the Hub sent it again. Default `false`. */
  isRepeat?: boolean;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** The outcome of each success. The handler's result is not kept, because it can be of any size. The details contain its text. */
export const succeeded: Outcome = { status: "succeeded", result: undefined };

/**
 * One run of a delivery that no inbox stores. It is one object, whose parts are only created when the console reads them or the
 * handler logs, because every inline delivery creates one.
 */
export class RecentRun implements RunStart {
  readonly id: string;
  readonly endpoint: string;
  readonly body: string;
  readonly receivedAt: Date;
  readonly headers: (() => HeaderEntries) | undefined;
  readonly replayOf: string | undefined;
  readonly startedAt: number;
  /** The memory of the run. Only `RecentDeliveries` changes it. */
  bytes: number;
  /** Whether the delivery has failed before, so that this run is another attempt. */
  readonly isRepeat: boolean;
  /** Whether the run is kept. Only `RecentDeliveries` changes it. */
  isKept = false;
  /** `undefined`: details are not recorded. */
  readonly #recording: AttemptRecorderOptions | undefined;
  #recorder: AttemptRecorder | undefined = undefined;
  #end: RunEnd | undefined = undefined;
  #result: string | null = null;
  #knownDetails: AttemptDetails | undefined = undefined;

  constructor(start: RunStart, recording: AttemptRecorderOptions | undefined) {
    this.id = start.id;
    this.endpoint = start.endpoint;
    this.body = start.body;
    this.receivedAt = start.receivedAt;
    this.headers = recording && start.headers;
    this.replayOf = start.replayOf;
    this.isRepeat = start.isRepeat ?? false;
    this.startedAt = start.startedAt;
    this.#recording = recording;
    // A character takes two bytes unless the whole text is Latin-1.
    this.bytes = bytesPerRun + 2 * start.body.length;
  }

  /** Returns a logger that writes to `log` and records each line. */
  wrap(log: Logger): Logger {
    if (!this.#recording) return log;
    this.#recorder ??= new AttemptRecorder(this.#recording);
    return this.#recorder.wrap(log);
  }

  /** Records the end of the run. Returns the memory that the run needs in addition, in bytes. */
  finish(end: RunEnd, resultText: string | null): number {
    this.#end = end;
    this.#result = resultText === null || !this.#recording ? null : trimResult(resultText);
    return 2 * ((this.#recorder?.size ?? 0) + (this.#result?.length ?? 0));
  }

  /** Restores a run of another process, which has ended. */
  restore(end: RunEnd, details: AttemptDetails | undefined): void {
    this.#end = end;
    this.#knownDetails = details;
    if (details) this.bytes += 2 * JSON.stringify(details).length;
  }

  /** Describes the run. */
  get attempt(): RecentAttempt {
    const { startedAt } = this;
    return this.#end ? { startedAt, end: { ...this.#end, details: () => this.#details() } } : { startedAt };
  }

  #details(): AttemptDetails | undefined {
    if (this.#knownDetails) return this.#knownDetails;
    if (!this.#recording || !this.#end) return undefined;
    const recorder = this.#recorder ?? new AttemptRecorder(this.#recording);
    return recorder.details(this.#end.outcome, this.#result);
  }
}
