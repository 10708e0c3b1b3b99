import type { PgNotification, PgPool, PgPoolClient, PgQueryResult } from "bullmq";
import type { Pool, PoolClient } from "pg";
import { describeError, toError } from "../../core/describe.ts";

/** The maximum number of connections of a process, including the connection that listens for new deliveries. */
export const maxConnections = 10;

/** The minimum number of connections. One connection listens for new deliveries, and one connection runs queries. */
export const minConnections = 2;

/** The remedy for errors that a lack of free connections can cause. */
export const connectionHint = `Each server process uses up to ${maxConnections} connections and needs at least ${minConnections}. Raise "max_connections", close other clients, or run fewer server processes.`;

/** After PostgreSQL has rejected a connection, the pool opens no more connections for this time. */
const shrunkMs = 5_000;

export class ConnectionsExhaustedError extends Error {
  /** BullMQ waits before it retries after an error with this code. */
  readonly code = "ECONNREFUSED";

  constructor(cause: Error) {
    super(`PostgreSQL has no connection left for this process (${cause.message}). ${connectionHint}`, { cause });
  }
}

/** Whether PostgreSQL has rejected a connection because too many connections are open. */
export function isExhaustion(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "53300";
}

/** Whether a connection or a query timed out. The timeout errors of `pg` have no code, so the message is checked. */
export function isTimeout(error: unknown): boolean {
  const { code, message } = describeError(error);
  return code === "ETIMEDOUT" || (code === undefined && /timeout/i.test(message));
}

/**
 * A `pg` pool for BullMQ. If PostgreSQL rejects a new connection, queries wait for one of the open connections instead
 * of failing, unless all open connections are reserved.
 */
export class PostgresPool implements PgPool {
  readonly #pool: Pool;
  readonly #onError: (error: Error) => void;
  /** The number of open connections. The count in `pg` also includes connections that are being opened. */
  #open = 0;
  /** The number of reserved connections, such as the connection that listens for new deliveries. */
  #reserved = 0;
  #growTimer: NodeJS.Timeout | undefined;

  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
    pool.on("connect", (client) => {
      this.#open += 1;
      // If a connection is lost, the running query fails. Without this listener, the `error` event would also end the process.
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
      client.release(isServerResponse(error) ? undefined : toError(error));
      throw error;
    }
  }

  async connect(): Promise<PgPoolClient> {
    const client = await this.#acquire();
    this.#reserved += 1;
    return new SharedClient(client, () => {
      this.#reserved -= 1;
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
        if (this.#open <= this.#reserved) throw exhausted;
        this.#shrink();
      }
    }
  }

  #shrink(): void {
    this.#pool.options.max = this.#open;
    clearTimeout(this.#growTimer);
    this.#growTimer = setTimeout(() => {
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
    clearTimeout(this.#growTimer);
    await this.#pool.end();
  }
}

/** A connection that several callers share. Queries run one after the other. */
class SharedClient implements PgPoolClient {
  readonly #client: PoolClient;
  readonly #onRelease: () => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: PoolClient, onRelease: () => void) {
    // All workers listen on the same connection.
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

/** Whether PostgreSQL returned an error with severity `ERROR`. After such an error, the connection is still usable. */
function isServerResponse(error: unknown): boolean {
  return error instanceof Error && "severity" in error && error.severity === "ERROR";
}
