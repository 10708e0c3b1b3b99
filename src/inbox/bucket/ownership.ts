import { hostname } from "node:os";
import * as z from "zod";
import { formatDuration } from "../../core/duration.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { RepeatedErrors } from "../repeated-errors.ts";
import { heartbeatKey, heartbeatPrefix } from "./log-keys.ts";
import { type Owner, ownerSchema } from "./log-record.ts";
import type { LogWriter } from "./log-writer.ts";
import type { ObjectStore } from "./object-store.ts";

/** The interval between heartbeats of an owner, in milliseconds. */
const heartbeatMs = 20_000;
/** If the last heartbeat of an owner is older than this time in milliseconds, another process may take over the inbox. */
const maxHeartbeatAgeMs = 60_000;

const heartbeatSchema = z.object({
  owner: ownerSchema,
  /** The number of the last record. If the log ends earlier, records are missing. */
  position: z.number(),
  /** Whether the process has stopped properly. */
  isReleased: z.boolean(),
});

/** The last heartbeat of a process that owns an inbox or has owned it. */
export interface Heartbeat extends z.infer<typeof heartbeatSchema> {
  writerId: string;
  ageMs: number;
}

/** Returns the description of this process. `now` is in milliseconds since the epoch. */
export function describeProcess({ spaceId, now }: { spaceId: string | undefined; now: number }): Owner {
  return {
    ...(spaceId !== undefined && { spaceId }),
    host: hostname(),
    pid: process.pid,
    startedAt: new Date(now).toISOString(),
  };
}

/** Returns the last heartbeats of all processes since the last takeover. @throws `ObjectStoreError` */
export async function readHeartbeats(store: ObjectStore): Promise<Heartbeat[]> {
  const listed = await store.list(heartbeatPrefix);
  const found = await Promise.all(
    listed.map(async ({ key }) => {
      const stored = await store.get(key);
      const heartbeat = stored && heartbeatSchema.safeParse(parseJson(stored.body)).data;
      return heartbeat && { ...heartbeat, writerId: key.slice(heartbeatPrefix.length), ageMs: stored.ageMs };
    }),
  );
  return found.filter((heartbeat) => heartbeat !== undefined);
}

/**
 * Checks that no other process owns the inbox. A process of the same Space may take over, because a new version of a Space starts
 * before the old one stops. Other processes may take over 60 s after the last heartbeat.
 *
 * @throws `INBOX_IN_USE` if another process owns the inbox.
 */
export function checkTakeover(heartbeats: readonly Heartbeat[], { name, self }: { name: string; self: Owner }): void {
  const other = heartbeats.find(
    ({ owner, ageMs, isReleased }) =>
      !isReleased && ageMs <= maxHeartbeatAgeMs && (owner.spaceId === undefined || owner.spaceId !== self.spaceId),
  );
  if (other === undefined) return;
  const { owner, ageMs } = other;
  const place =
    owner.spaceId === undefined ? `process ${owner.pid} on "${owner.host}"` : `the Space "${owner.spaceId}"`;
  throw new WebhookError(
    `The inbox ${name} is in use by ${place}, which started at ${owner.startedAt} and sent its last heartbeat ${formatDuration(ageMs)} ago. Stop that process, or set INBOX_URL to another inbox. To take over the inbox anyway, set INBOX_TAKE_OVER=1. The other process then rejects all deliveries. If the process no longer runs, start again 60 s after its last heartbeat.`,
    { code: "INBOX_IN_USE", retryable: true },
  );
}

export interface OwnerHeartbeatOptions {
  store: ObjectStore;
  writer: LogWriter;
  owner: Owner;
  log: Logger;
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
}

/** Sends the heartbeats of the owner, and detects that another process has taken over the inbox. */
export class OwnerHeartbeat {
  readonly #options: OwnerHeartbeatOptions;
  readonly #failures: RepeatedErrors;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: OwnerHeartbeatOptions) {
    this.#options = options;
    this.#failures = new RepeatedErrors(options.monotonicNow);
  }

  /** Sends a heartbeat every 20 s, and removes the heartbeats of earlier owners. */
  start(earlier: readonly Heartbeat[]): void {
    this.#sending = this.#remove(earlier);
    this.#timer = setInterval(() => {
      this.#sending = this.#sendOrLog();
    }, heartbeatMs).unref();
  }

  /** Sends a heartbeat. @throws `ObjectStoreError` */
  send(): Promise<void> {
    return this.#store({ isReleased: false });
  }

  async #store({ isReleased }: { isReleased: boolean }): Promise<void> {
    const { store, writer, owner } = this.#options;
    const heartbeat: z.infer<typeof heartbeatSchema> = { owner, position: writer.next - 1, isReleased };
    await store.put(heartbeatKey(writer.writerId), new TextEncoder().encode(JSON.stringify(heartbeat)));
  }

  /** Stops the heartbeats and releases the inbox, so that another process can take over immediately. */
  async stop(): Promise<void> {
    const { store, writer, log } = this.#options;
    clearInterval(this.#timer);
    await this.#sending;
    // While the store is away, the shutdown must not wait for the timeouts of further requests.
    if (writer.outage) return;
    try {
      // After a takeover, only the heartbeat of the new owner counts.
      if (writer.fencedBy) await store.delete(heartbeatKey(writer.writerId));
      else await this.#store({ isReleased: true });
    } catch (error) {
      log.warn(
        { err: error },
        `The inbox ${store.name} could not be released. Another process can take over the inbox in 60 s.`,
      );
    }
  }

  async #sendOrLog(): Promise<void> {
    const { writer, log } = this.#options;
    try {
      // Without new deliveries, this is the only way to detect that another process has taken over.
      await writer.detectTakeover();
      if (!writer.fencedBy) await this.send();
    } catch (error) {
      if (!this.#failures.shouldLog(error)) return;
      log.warn({ err: error }, "A heartbeat of the inbox could not be stored. Heartbeats are sent every 20 s.");
    }
  }

  async #remove(heartbeats: readonly Heartbeat[]): Promise<void> {
    for (const { writerId } of heartbeats) await this.#options.store.delete(heartbeatKey(writerId)).catch(() => {});
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
