import type { PgPool, PgPoolClient } from "bullmq";
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
 * Makes a `pg` pool usable for BullMQ. If PostgreSQL rejects a new connection, queries wait for one of the open connections
 * instead of failing, unless all open connections are reserved.
 */
export function sharePool(pool: Pool, onError: (error: Error) => void): PgPool {
  /** The number of open connections. The count in `pg` also includes connections that are being opened. */
  let open = 0;
  /** The number of reserved connections, such as the connection that listens for new deliveries. */
  let reserved = 0;
  let growTimer: NodeJS.Timeout | undefined;
  pool.on("connect", (client) => {
    open += 1;
    // If a connection is lost, the running query fails. Without this listener, the `error` event would also end the process.
    client.on("error", () => {});
  });
  pool.on("remove", () => {
    open -= 1;
  });

  async function acquire(): Promise<PoolClient> {
    for (;;) {
      try {
        return await pool.connect();
      } catch (error) {
        if (!isExhaustion(error)) throw error;
        const exhausted = new ConnectionsExhaustedError(error);
        onError(exhausted);
        if (open <= reserved) throw exhausted;
        shrink();
      }
    }
  }

  function shrink(): void {
    pool.options.max = open;
    clearTimeout(growTimer);
    growTimer = setTimeout(() => {
      pool.options.max = maxConnections;
    }, shrunkMs).unref();
  }

  const shared: PgPool = {
    async query(text, params = []) {
      const client = await acquire();
      try {
        const result = await client.query(text, [...params]);
        client.release();
        return result;
      } catch (error) {
        client.release(isServerResponse(error) ? undefined : toError(error));
        throw error;
      }
    },
    async connect() {
      const client = await acquire();
      reserved += 1;
      return shareClient(client, () => {
        reserved -= 1;
      });
    },
    on(event: "error" | "connect", listener: (...args: never[]) => void) {
      pool.on(event, listener as (...args: unknown[]) => void);
      return shared;
    },
    removeAllListeners(event?: "error" | "connect") {
      pool.removeAllListeners(event);
      return shared;
    },
    async end() {
      clearTimeout(growTimer);
      await pool.end();
    },
  };
  return shared;
}

/** Lets several callers share a connection. Queries run one after the other. */
function shareClient(client: PoolClient, onRelease: () => void): PgPoolClient {
  // All workers listen on the same connection.
  client.setMaxListeners(0);
  let last: Promise<unknown> = Promise.resolve();
  const shared: PgPoolClient = {
    query(text, params = []) {
      const result = last.then(() => client.query(text, [...params]));
      last = result.catch(() => {});
      return result;
    },
    on(event: "notification" | "error" | "end", listener: (...args: never[]) => void) {
      client.on(event as "notification", listener as () => void);
      return shared;
    },
    removeListener(event, listener) {
      client.removeListener(event, listener);
      return shared;
    },
    removeAllListeners(event) {
      client.removeAllListeners(event);
      return shared;
    },
    release(destroy) {
      onRelease();
      client.release(destroy);
    },
  };
  return shared;
}

/** Whether PostgreSQL returned an error with severity `ERROR`. After such an error, the connection is still usable. */
function isServerResponse(error: unknown): boolean {
  return error instanceof Error && "severity" in error && error.severity === "ERROR";
}
