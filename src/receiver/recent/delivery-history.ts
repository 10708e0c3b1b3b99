import type { DeliveryKey } from "../../inbox/inbox.ts";
import type { ParsedDelivery } from "../endpoint/endpoint.ts";
import { AttemptRecorder, type AttemptRecorderOptions } from "./attempt-recorder.ts";
import { RecentDeliveries } from "./recent-deliveries.ts";
import { RecentRun, type RunEnd, succeeded } from "./recent-run.ts";
import { type HeaderEntries, recordHeaders } from "./request-headers.ts";

export interface DeliveryHistoryOptions extends AttemptRecorderOptions {
  /** Whether to record results, stacks, logs, and request headers. */
  recordDetails: boolean;
}

/** Records deliveries and attempts for the console, and reports changes to it. */
export class DeliveryHistory {
  readonly recent = new RecentDeliveries();
  readonly recordsDetails: boolean;
  readonly #options: DeliveryHistoryOptions;
  readonly #recording: AttemptRecorderOptions | undefined;
  #onChange: ((key: DeliveryKey) => void) | undefined;

  constructor(options: DeliveryHistoryOptions) {
    this.#options = options;
    this.recordsDetails = options.recordDetails;
    this.#recording = options.recordDetails ? options : undefined;
  }

  /** Calls `onChange` for each later change of a delivery. */
  observe(onChange: (key: DeliveryKey) => void): void {
    this.#onChange = onChange;
  }

  /** Reports that a delivery is new or has changed. */
  changed(key: DeliveryKey): void {
    this.#onChange?.(key);
  }

  /** Creates the recorder of a background attempt, or `undefined` if details are not recorded. */
  createRecorder(): AttemptRecorder | undefined {
    return this.#recording && new AttemptRecorder(this.#recording);
  }

  /** Returns the headers that the inbox stores with a delivery. */
  headersToStore(entries: HeaderEntries | undefined): Readonly<Record<string, string>> | undefined {
    return this.recordsDetails && entries ? recordHeaders(entries, this.#options.redact) : undefined;
  }

  /** Records the start of a run of a delivery that no inbox stores. Returns `undefined` in runtimes without a console. */
  start(
    { delivery }: ParsedDelivery,
    { headers, replayOf }: { headers?: (() => HeaderEntries) | undefined; replayOf?: string | undefined },
  ): RecentRun | undefined {
    const { id, endpoint, body, receivedAt } = delivery;
    // The time of arrival is close enough to the start, and reading the clock again costs more than adding the run.
    const startedAt = receivedAt.getTime();
    const isRepeat = this.recent.failed.has(delivery);
    const run = new RecentRun(
      { id, endpoint, body, receivedAt, headers, replayOf, isRepeat, startedAt },
      this.#recording,
    );
    if (!this.recent.isFlooded(startedAt)) {
      this.recent.add(run);
      this.#onChange?.(delivery);
    }
    return run;
  }

  /** Records the end of a run. `resultText`: the handler's result as JSON text. */
  end(run: RecentRun, { outcome, durationMs, responseStatus }: RunEnd, resultText: string | null): void {
    const kept = outcome.status === "succeeded" ? succeeded : outcome;
    const bytes = run.finish({ outcome: kept, durationMs, responseStatus }, resultText);
    // A failure is kept even in a flood, because failures are the reason to open the list.
    if (outcome.status === "failed") {
      this.recent.failed.add(run);
      if (!run.isKept) this.recent.add(run);
    }
    this.recent.grow(run, bytes);
    this.#onChange?.(run);
  }
}
