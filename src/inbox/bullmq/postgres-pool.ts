import type { PgNotification, PgPool, PgPoolClient, PgQueryResult } from "bullmq";
import type { Pool, PoolClient } from "pg";
import { describeError, toError } from "../../core/describe-error.ts";

/** Connections of one receiver to PostgreSQL: for queries, and the one that waits for news of arrivals. */
export const maxConnections = 10;

/** Fewer are not enough: one waits for news, another one has to do the rest. */
export const minConnections = 2;

/** How many connections a receiver takes, and how to make room for them. */
export const connectionNeeds = `A receiver uses up to ${maxConnections} connections and needs at least ${minConnections}: raise "max_connections", close other clients, or run fewer receivers.`;

/** How long the pool stays as small as the server has made it, in milliseconds. */
const shrunkMs = 5_000;

/** What is thrown when PostgreSQL has no connection left. */
export class ConnectionsExhaustedError extends Error {
  /** BullMQ waits a while after an error of this code before it tries again, and does not after others. */
  readonly code = "ECONNREFUSED";

  constructor(cause: Error) {
    super(`PostgreSQL has no connection left for this receiver (${cause.message}). ${connectionNeeds}`, { cause });
  }
}

/** Whether PostgreSQL has refused a connection because there are too many. */
export function isExhaustion(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "53300";
}

/** Whether PostgreSQL took too long to connect or to answer: `pg` gives the errors of its own timeouts no code. */
export function isTimeout(error: unknown): boolean {
  const { code, message } = describeError(error);
  return code === "ETIMEDOUT" || (code === undefined && /timeout/i.test(message));
}

/**
 * A pool of `pg` that makes do with the connections that it has when the server refuses further ones, and keeps them. It
 * is what BullMQ expects of a pool.
 */
export class PostgresPool implements PgPool {
  readonly #pool: Pool;
  readonly #onError: (error: Error) => void;
  /** Connections that are established; `pg` also counts those that are about to be refused. */
  #open = 0;
  /** Those of them that do not come back, such as the one that waits for news. */
  #claimed = 0;
  #growing: NodeJS.Timeout | undefined;

  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
    pool.on("connect", (client) => {
      this.#open += 1;
      // A connection that is lost during a query fails the query; unheard, its error would end the process as well.
      client.on("error", () => {});
    });
    pool.on("remove", () => {
      this.#open -= 1;
    });
  }

  async query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    const client = await this.#acquire();
    try {
      const result = await client.query(text, [...params]);
      client.release();
      return result;
    } catch (error) {
      client.release(isAnswer(error) ? undefined : toError(error));
      throw error;
    }
  }

  async connect(): Promise<PgPoolClient> {
    const client = await this.#acquire();
    this.#claimed += 1;
    return new SharedClient(client, () => {
      this.#claimed -= 1;
    });
  }

  async #acquire(): Promise<PoolClient> {
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        if (!isExhaustion(error)) throw error;
        const exhausted = new ConnectionsExhaustedError(error);
        this.#onError(exhausted);
        if (this.#open <= this.#claimed) throw exhausted;
        this.#shrink();
      }
    }
  }

  /** From now on, queries wait for one of the connections that are open. */
  #shrink(): void {
    this.#pool.options.max = this.#open;
    clearTimeout(this.#growing);
    this.#growing = setTimeout(() => {
      this.#pool.options.max = maxConnections;
    }, shrunkMs).unref();
  }

  on(event: "error" | "connect", listener: (...args: never[]) => void): this {
    this.#pool.on(event, listener as (...args: unknown[]) => void);
    return this;
  }

  removeAllListeners(event?: "error" | "connect"): this {
    this.#pool.removeAllListeners(event);
    return this;
  }

  async end(): Promise<void> {
    clearTimeout(this.#growing);
    await this.#pool.end();
  }
}

/** A connection that many may use at the same time: one query follows the other. */
class SharedClient implements PgPoolClient {
  readonly #client: PoolClient;
  readonly #onRelease: () => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: PoolClient, onRelease: () => void) {
    // Each worker listens for news on the same one.
    this.#client = client.setMaxListeners(0);
    this.#onRelease = onRelease;
  }

  query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    const result = this.#last.then(() => this.#client.query(text, [...params]));
    this.#last = result.catch(() => {});
    return result;
  }

  on(event: "notification" | "error" | "end", listener: (...args: never[]) => void): this {
    this.#client.on(event as "notification", listener as () => void);
    return this;
  }

  removeListener(event: "notification", listener: (message: PgNotification) => void): this {
    this.#client.removeListener(event, listener);
    return this;
  }

  removeAllListeners(event?: string): this {
    this.#client.removeAllListeners(event);
    return this;
  }

  release(destroy?: boolean): void {
    this.#onRelease();
    this.#client.release(destroy);
  }
}

/** An error that PostgreSQL has answered with leaves its connection as good as it was. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && "severity" in error && error.severity === "ERROR";
}
