import type { Retention } from "../retry.ts";
import { type DeliveryQueue, endpointsQueueName, openQueue, type QueueServer } from "./queue-server.ts";
import { type JobData, jobIdOf } from "./stored-job.ts";

/** Stores the names and retention periods of all endpoints in the inbox. Each endpoint is a job that no worker processes. */
export class StoredEndpoints {
  readonly #server: QueueServer;
  readonly #added = new Map<string, Promise<unknown>>();
  #queue: DeliveryQueue | undefined;

  constructor(server: QueueServer) {
    this.#server = server;
    // Opening the queue here makes the first delivery faster.
    this.#open();
  }

  /** Stores the name of an endpoint, so that all processes that use this inbox can find the endpoint. */
  add(endpoint: string): Promise<unknown> {
    let added = this.#added.get(endpoint);
    if (!added) {
      const data = { id: endpoint, body: "" };
      added = this.#open().add("endpoint", data, { jobId: jobIdOf(endpoint) });
      added.catch(() => this.#added.delete(endpoint));
      this.#added.set(endpoint, added);
    }
    return added;
  }

  /** Stores the retention of an endpoint for processes that do not serve the endpoint. */
  async setRetention(endpoint: string, { bodiesMs, idsMs }: Retention): Promise<void> {
    await this.add(endpoint);
    const job = await this.#open().getJob(jobIdOf(endpoint));
    if (!job || (job.data.retentionMs === bodiesMs && job.data.idsKeptMs === idsMs)) return;
    await job.updateData({ ...job.data, retentionMs: bodiesMs, idsKeptMs: idsMs });
  }

  async has(endpoint: string): Promise<boolean> {
    return (await this.#open().getJobState(jobIdOf(endpoint))) !== "unknown";
  }

  /** Returns the stored retention of all endpoints by name, sorted by name. */
  async read(): Promise<ReadonlyMap<string, Partial<Retention>>> {
    const jobs = await this.#open().getJobs(["wait"]);
    const endpoints = new Map<string, Partial<Retention>>(jobs.map(({ data }) => [data.id, storedRetention(data)]));
    // If the data of the inbox server was deleted, the endpoints of this process are added again.
    for (const name of [...this.#added.keys()].filter((one) => !endpoints.has(one))) {
      this.#added.delete(name);
      await this.add(name);
      endpoints.set(name, {});
    }
    return new Map([...endpoints].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  async close(): Promise<void> {
    await this.#queue?.close();
  }

  #open(): DeliveryQueue {
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
