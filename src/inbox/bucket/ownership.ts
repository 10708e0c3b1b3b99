import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import * as z from "zod/mini";
import { WebhookError } from "../../core/errors.ts";
import { programUrl } from "../../core/files.ts";
import type { Logger } from "../../core/log.ts";
import { formatDuration } from "../../core/options.ts";
import { loadOnce } from "../../core/time.ts";
import { RepeatedErrors } from "../errors.ts";
import { createLoopCounter, defaultMaxBlockedMs, type LoopCounter } from "../loop-monitor.ts";
import {
  heartbeatKey,
  heartbeatPrefix,
  type LogWriter,
  type Owner,
  ownerSchema,
  type Wait,
  yieldPrefix,
} from "./log.ts";
import {
  checkPrefix,
  encodeJson,
  type ObjectStore,
  parseJson,
  type ReadOptions,
  readObject,
  type StoreConnection,
} from "./object-store.ts";

export interface HeartbeatSenderData {
  connection: StoreConnection;
  key: string;
  heartbeat: object;
  intervalMs: number;
  /** The interval in which the event loop increments the loop counter and the thread reads the counter. */
  countIntervalMs: number;
  maxBlockedMs: number;
  loopCounter: LoopCounter;
  position: BigInt64Array<SharedArrayBuffer>;
}

interface HeartbeatSenderOptions extends Pick<HeartbeatSenderData, "connection" | "key" | "heartbeat" | "intervalMs"> {
  readPosition: () => number;
  /** After this time, a blocked event loop counts as hung. */
  maxBlockedMs?: number;
  onError: (error: unknown) => void;
}

/**
 * Sends heartbeats from a thread after the event loop has been blocked for a quarter of the interval, until it runs again or counts as
 * hung.
 */
export function startHeartbeatSender({
  readPosition,
  onError,
  maxBlockedMs = defaultMaxBlockedMs,
  ...options
}: HeartbeatSenderOptions) {
  const loopCounter = createLoopCounter();
  const position = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
  const update = () => {
    Atomics.store(position, 0, BigInt(readPosition()));
    Atomics.add(loopCounter, 0, 1);
  };
  update();
  const countIntervalMs = options.intervalMs / 8;
  const workerData: HeartbeatSenderData = { ...options, countIntervalMs, maxBlockedMs, loopCounter, position };
  const thread = new Worker(programUrl("heartbeat-sender-thread", import.meta.url), { workerData, execArgv: [] });
  const exited = new Promise((resolve) => thread.on("exit", resolve));
  thread.on("message", onError);
  thread.on("error", (cause) => {
    const message =
      "The thread that sends heartbeats has failed. Another process can take over the inbox while a handler blocks the event loop for more than 30 s. Restart the server.";
    onError(new Error(message, { cause }));
  });
  thread.unref();
  const timer = setInterval(update, countIntervalMs).unref();
  return {
    /** Resolves after the heartbeat in flight was stored, and no further one is sent. */
    async stop(): Promise<void> {
      clearInterval(timer);
      thread.postMessage("stop");
      await exited;
    },
  };
}

const defaultIntervalMs = 20_000;
/** If the last heartbeat of an owner is older than this time, another process may take over the inbox. */
const maxHeartbeatAgeMs = 60_000;
/** How long the heartbeat in flight may take when the inbox closes. */
const maxReleaseMs = 5_000;
/** Objects of processes that have died while opening the inbox are deleted after this time. */
const minLeftoverAgeMs = 600_000;

const heartbeatSchema = z.object({
  owner: ownerSchema,
  /** The number of the last record. If the log ends earlier, records are missing. */
  position: z.number(),
  isReleased: z.boolean(),
});

export interface Heartbeat extends z.infer<typeof heartbeatSchema> {
  writerId: string;
  ageMs: number;
}

export function describeProcess(spaceId: string | undefined, now: number): Owner {
  return {
    ...(spaceId !== undefined && { spaceId }),
    host: hostname(),
    pid: process.pid,
    startedAt: new Date(now).toISOString(),
  };
}

/** Returns the last heartbeats since the last takeover. `known`: writers whose heartbeats are read although a list can omit them. */
export async function readHeartbeats(store: ObjectStore, known: readonly string[] = []): Promise<Heartbeat[]> {
  const listed = await listHeartbeats(store);
  const others = known.map(heartbeatKey).filter((key) => !listed.has(key));
  const isDeleted = async (key: string) => !(await listHeartbeats(store)).has(key);
  const found = await Promise.all([
    ...[...listed].map((key) => readHeartbeat(store, key, { isObsolete: () => isDeleted(key) })),
    ...others.map((key) => readHeartbeat(store, key, { isOptional: true })),
  ]);
  return found.filter((heartbeat) => heartbeat !== undefined);
}

async function listHeartbeats(store: ObjectStore): Promise<ReadonlySet<string>> {
  return new Set((await store.list(heartbeatPrefix)).map(({ key }) => key));
}

/** An owner whose heartbeat is not found would lose the inbox, so one read does not decide. */
async function readHeartbeat(
  store: ObjectStore,
  key: string,
  options: Pick<ReadOptions<Heartbeat>, "isObsolete" | "isOptional">,
): Promise<Heartbeat | undefined> {
  const read = await readObject(store, key, {
    decode: (body, ageMs) => {
      const heartbeat = heartbeatSchema.safeParse(parseJson(body)).data;
      return heartbeat && { ...heartbeat, writerId: key.slice(heartbeatPrefix.length), ageMs };
    },
    ...options,
  });
  return read.state === "readable" ? read.content : undefined;
}

export class InboxInUseError extends WebhookError {
  readonly heartbeat: Heartbeat;

  constructor(name: string, heartbeat: Heartbeat) {
    const { owner, ageMs } = heartbeat;
    const place =
      owner.spaceId === undefined ? `process ${owner.pid} on "${owner.host}"` : `the Space "${owner.spaceId}"`;
    super(
      `The inbox ${name} is in use by ${place}, which started at ${owner.startedAt} and sent its last heartbeat ${formatDuration(ageMs)} ago. Stop that process, or set INBOX_URL to another inbox. To take over the inbox anyway, set INBOX_TAKE_OVER=1. The other process then rejects all deliveries. If the process no longer runs, the inbox is free 60 s after its last heartbeat.`,
      { code: "INBOX_IN_USE", retryable: true },
    );
    this.heartbeat = heartbeat;
  }
}

/** Whether the process that sent a heartbeat still owns the inbox, or owned it when the heartbeat was sent. */
export function isLive({ isReleased, ageMs }: Heartbeat): boolean {
  return !isReleased && ageMs <= maxHeartbeatAgeMs;
}

export function isSameSpace(one: Owner, other: Owner): boolean {
  return one.spaceId !== undefined && one.spaceId === other.spaceId;
}

export async function storeHeartbeat(
  store: ObjectStore,
  { writerId, ...heartbeat }: z.infer<typeof heartbeatSchema> & { writerId: string },
): Promise<void> {
  await store.put(heartbeatKey(writerId), encodeJson(heartbeat));
}

export interface OwnerHeartbeatOptions {
  store: ObjectStore;
  writer: LogWriter;
  owner: Owner;
  log: Logger;
  monotonicNow: () => number;
  wait: Wait;
  intervalMs?: number | undefined;
}

export type OwnerHeartbeat = ReturnType<typeof createOwnerHeartbeat>;

/** Sends the heartbeats of the owner, and detects that another process has taken over the inbox. */
export function createOwnerHeartbeat(options: OwnerHeartbeatOptions) {
  const { store, writer, owner, log, monotonicNow, wait, intervalMs = defaultIntervalMs } = options;
  const { writerId } = writer;
  const failures = new RepeatedErrors(monotonicNow);
  const stopped = new AbortController();
  const { signal } = stopped;
  /** Sends the heartbeats while the event loop is blocked. Missing if no thread can open the store. */
  let sender: ReturnType<typeof startHeartbeatSender> | undefined;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (;;) {
      await wait(intervalMs, signal, { ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        // Without new deliveries, this is the only way to detect that another process has taken over.
        await writer.detectTakeover();
        if (signal.aborted || writer.fencedBy) return;
        await send({ isReleased: false });
      } catch (error) {
        logFailure(error);
      }
    }
  }

  function send({ isReleased }: { isReleased: boolean }): Promise<void> {
    return storeHeartbeat(store, { writerId, owner, position: writer.next - 1, isReleased });
  }

  function logFailure(error: unknown): void {
    if (!failures.shouldLog(error)) return;
    log.warn({ err: error }, "A heartbeat of the inbox could not be stored. Heartbeats are sent every 20 s.");
  }

  return {
    /** Sends a heartbeat every 20 s, and removes the heartbeats of earlier owners and the objects of processes that have died. */
    start(earlier: readonly Heartbeat[]): void {
      const { connection } = store;
      if (connection) {
        sender = startHeartbeatSender({
          connection,
          key: heartbeatKey(writerId),
          heartbeat: { owner, isReleased: false },
          intervalMs,
          readPosition: () => writer.next - 1,
          onError: logFailure,
        });
      }
      running = run();
      void removeLeftovers(store, earlier);
    },
    /** Stops the heartbeats and releases the inbox. Call this function after the last record was stored. Never rejects. */
    stop: loadOnce(async () => {
      stopped.abort();
      // A heartbeat in flight could otherwise be stored after the inbox was released.
      const settled = Promise.all([running, sender?.stop()]).then(() => true);
      const isSettled = await Promise.race([settled, delay(maxReleaseMs, false, { ref: false })]);
      // While the store is away, the shutdown must not wait for the timeouts of further requests.
      if (writer.outage) return;
      try {
        if (!isSettled) throw new Error("The last heartbeat was not stored in time.");
        // After a takeover, only the heartbeat of the new owner counts.
        if (writer.fencedBy) await store.delete(heartbeatKey(writerId));
        else await send({ isReleased: true });
      } catch (error) {
        log.warn(
          { err: error },
          `The inbox ${store.name} could not be released. Another process can take over the inbox in 60 s.`,
        );
      }
    }),
  };
}

/** Never rejects: what could not be removed is removed after the next start. */
async function removeLeftovers(store: ObjectStore, earlier: readonly Heartbeat[]): Promise<void> {
  const remove = (key: string) => store.delete(key).catch(() => {});
  for (const { writerId } of earlier) await remove(heartbeatKey(writerId));
  for (const prefix of [checkPrefix, yieldPrefix]) {
    for (const { key } of await store.list(prefix).catch(() => [])) {
      // Another process that is starting now can still need its object.
      const stored = await store.get(key).catch(() => undefined);
      if (stored && stored.ageMs >= minLeftoverAgeMs) await remove(key);
    }
  }
}
