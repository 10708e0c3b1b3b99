import type { CallOptions } from "./call-options.ts";
import { type JobHardware, jobRoutes } from "./contract/jobs.ts";
import type { Transport } from "./transport.ts";

/** Jobs on the Hub's infrastructure: `hub.jobs`. */
export class HubJobs {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The hardware that a job can request: the `name` of each is a `flavor`.
   *
   * @example
   * ```ts
   * for (const { name, unitCostUSD, unitLabel } of await hub.jobs.hardware()) console.log(name, unitCostUSD, unitLabel);
   * ```
   */
  hardware(options?: CallOptions): Promise<JobHardware[]> {
    return this.#transport.call(jobRoutes.hardware, {}, options);
  }
}
