import type { Retention } from "../retention.ts";
import { type DeliveryQueue, endpointsQueueName, openQueue, type QueueServer } from "./queue-server.ts";
import { type JobData, jobIdOf } from "./stored-job.ts";

/** The names of all endpoints that a server keeps deliveries of, as jobs that no worker takes. */
export class StoredEndpoints {
  readonly #server: QueueServer;
  readonly #registered = new Map<string, Promise<unknown>>();
  #queue: DeliveryQueue | undefined;

  constructor(server: QueueServer) {
    this.#server = server;
    // At the start, and not on the way of the first delivery.
    this.#opened();
  }

  /** Notes an endpoint, so that it is found by every process that opens the inbox. */
  add(endpoint: string): Promise<unknown> {
    let registered = this.#registered.get(endpoint);
    if (!registered) {
      const data = { id: endpoint, body: "" };
      registered = this.#opened().add("endpoint", data, { jobId: jobIdOf(endpoint) });
      registered.catch(() => this.#registered.delete(endpoint));
      this.#registered.set(endpoint, registered);
    }
    return registered;
  }

  /** Stores how long finished deliveries of an endpoint are kept, for receivers that do not have it. */
  async setRetention(endpoint: string, { bodiesMs, idsMs }: Retention): Promise<void> {
    await this.add(endpoint);
    const job = await this.#opened().getJob(jobIdOf(endpoint));
    if (!job || (job.data.retentionMs === bodiesMs && job.data.idsKeptMs === idsMs)) return;
    await job.updateData({ ...job.data, retentionMs: bodiesMs, idsKeptMs: idsMs });
  }

  async has(endpoint: string): Promise<boolean> {
    return (await this.#opened().getJobState(jobIdOf(endpoint))) !== "unknown";
  }

  /** All endpoints by name, with the retention that was stored last. */
  async read(): Promise<ReadonlyMap<string, Partial<Retention>>> {
    const jobs = await this.#opened().getJobs(["wait"]);
    const endpoints = new Map<string, Partial<Retention>>(jobs.map(({ data }) => [data.id, storedRetention(data)]));
    // Emptying the server has emptied this list as well.
    for (const name of [...this.#registered.keys()].filter((one) => !endpoints.has(one))) {
      this.#registered.delete(name);
      await this.add(name);
      endpoints.set(name, {});
    }
    return new Map([...endpoints].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  async close(): Promise<void> {
    await this.#queue?.close();
  }

  #opened(): DeliveryQueue {
    this.#queue ??= openQueue(this.#server, endpointsQueueName, () => {
      this.#queue = undefined;
    });
    return this.#queue;
  }
}

function storedRetention({ retentionMs, idsKeptMs }: JobData): Partial<Retention> {
  return {
    ...(retentionMs !== undefined && { bodiesMs: retentionMs }),
    ...(idsKeptMs !== undefined && { idsMs: idsKeptMs }),
  };
}
