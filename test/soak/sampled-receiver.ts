import { readdirSync } from "node:fs";
import { type MemoryUse, MonitoredReceiver, type MonitoredReceiverOptions } from "../support/monitored-receiver.ts";
import type { Measurement } from "./receiver.ts";

/** The resources that a process used at one moment. */
export interface Sample extends Measurement {
  /** Seconds since the process was ready. */
  at: number;
  /** Open files and sockets. `NaN` on systems without `/proc`. */
  handles: number;
}

const script = new URL("receiver.ts", import.meta.url);
/** A killed process leaves deliveries that die after their last attempt. */
const expectedErrors = ["HANDLER_FAILED", "NON_RETRIABLE", "ABANDONED"];

/** A receiver and the samples of its resources. */
export class SampledReceiver {
  readonly samples: Sample[] = [];
  readonly #process: MonitoredReceiver;
  readonly #startedAt = performance.now();

  private constructor(process: MonitoredReceiver) {
    this.#process = process;
  }

  /** Starts a receiver and waits until it is ready. */
  static async start(options: Omit<MonitoredReceiverOptions, "script" | "expectedErrors">): Promise<SampledReceiver> {
    return new SampledReceiver(await MonitoredReceiver.start({ ...options, script, expectedErrors }));
  }

  get url(): string {
    return this.#process.url;
  }

  get isStopping(): boolean {
    return this.#process.isStopping;
  }

  /** Seconds since it was ready. */
  get age(): number {
    return (performance.now() - this.#startedAt) / 1_000;
  }

  /** Adds a sample, unless the process has exited. */
  async sample(): Promise<Sample | undefined> {
    const measurement = await this.#process.measure();
    if (!measurement || !isComplete(measurement)) return undefined;
    const sample = { ...measurement, at: this.age, handles: openHandles(this.#process.pid) };
    this.samples.push(sample);
    return sample;
  }

  /** Stops it and returns its exit code, or the signal that ended it. */
  stop(signal: "SIGTERM" | "SIGKILL"): Promise<unknown> {
    return this.#process.stop(signal);
  }
}

function isComplete(measurement: MemoryUse): measurement is Measurement {
  return "external" in measurement;
}

function openHandles(pid: number | undefined): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}
