import * as z from "zod/mini";
import { WebhookError } from "../../core/errors.ts";
import { schemaVersion } from "../sqlite/schema.ts";
import { heartbeatKey, LogWriter, type Owner, ownerSchema, yieldKey } from "./log.ts";
import type { LogReplay } from "./log-replay.ts";
import { encodeJson, parseJson } from "./object-store.ts";
import {
  createOwnerHeartbeat,
  type Heartbeat,
  InboxInUseError,
  isLive,
  isSameSpace,
  type OwnerHeartbeat,
  type OwnerHeartbeatOptions,
  readHeartbeats,
  storeHeartbeat,
} from "./ownership.ts";

const yieldRequestSchema = z.object({ writerId: z.string(), owner: ownerSchema });

/** A yield lasts this time, unless the other process takes over earlier. */
const maxYieldMs = 8_000;
const yieldPollMs = 500;
const minReadMs = 500;
/** The interval of reads of a request while no records are stored. */
const idleReadMs = 1_000;
/** Older requests are those of processes that no longer wait. */
const maxRequestAgeMs = 30_000;
/** After a yield in vain, requests are ignored for this time, so that crashing processes cannot block the owner. */
const pauseAfterYieldMs = 60_000;

/** The interval of requests to yield. The owner can ignore requests for a minute, and ignores old ones. */
const requestIntervalMs = 10_000;

/** Requests the owners of the same Space to stop appending records. Otherwise, a loaded owner could always store the next one first. */
function createYieldRequest({ store, writerId, owner, rules, earlier, log, monotonicNow }: Contest) {
  const body = encodeJson({ writerId, owner } satisfies z.infer<typeof yieldRequestSchema>);
  const keys = earlier
    .filter((heartbeat) => rules.mayReplace && isLive(heartbeat) && isSameSpace(heartbeat.owner, owner))
    .map((heartbeat) => yieldKey(heartbeat.writerId));
  let dueAt = Number.NEGATIVE_INFINITY;
  let sent: Promise<unknown> | undefined;
  return {
    send(): void {
      if (keys.length === 0 || monotonicNow() < dueAt) return;
      dueAt = monotonicNow() + requestIntervalMs;
      if (sent === undefined) {
        log.info(
          "Another process stores records, so this process has requested the inbox from the owners of its Space.",
        );
      }
      // Without a request, the processes race for the next record.
      sent = Promise.all([sent, ...keys.map((key) => store.put(key, body).catch(() => {}))]);
    },
    async withdraw(): Promise<void> {
      if (sent === undefined) return;
      // A request in flight could otherwise be stored after its removal.
      await sent;
      await Promise.all(keys.map((key) => store.delete(key).catch(() => {})));
    },
  };
}

export type YieldGate = ReturnType<typeof createYieldGate>;

/** Stops an owner from appending records while a new process of the same Space takes over. */
function createYieldGate(options: Omit<OwnerHeartbeatOptions, "intervalMs">) {
  const { store, writer, owner, log, monotonicNow, wait } = options;
  const closed = new AbortController();
  const { signal } = closed;
  let readAt = Number.NEGATIVE_INFINITY;
  let isReading = false;
  let ignoresUntil = Number.NEGATIVE_INFINITY;
  let yielding: Promise<void> | undefined;

  /**
   * Called before each record. Reads a request in parallel with the record, so that records take no longer. The record waits for a
   * yield.
   */
  function enter(): Promise<void> | undefined {
    const now = monotonicNow();
    const isDue = now >= Math.max(readAt + minReadMs, ignoresUntil);
    if (owner.spaceId !== undefined && isDue && !isReading && !yielding) {
      readAt = now;
      isReading = true;
      void read().finally(() => {
        isReading = false;
      });
    }
    return yielding;
  }

  async function read(): Promise<void> {
    const found = await store.get(yieldKey(writer.writerId)).catch(() => undefined);
    if (found === undefined || found.ageMs > maxRequestAgeMs || signal.aborted) return;
    const request = yieldRequestSchema.safeParse(parseJson(found.body)).data;
    if (request === undefined || !isSameSpace(request.owner, owner)) return;
    yielding = yieldTo(request.owner).finally(() => {
      yielding = undefined;
    });
  }

  async function yieldTo(newOwner: Owner): Promise<void> {
    const until = monotonicNow() + maxYieldMs;
    log.warn(
      { owner: newOwner },
      "A new process of this Space is taking over the inbox. This process rejects deliveries in the meantime.",
    );
    while (monotonicNow() < until) {
      await wait(yieldPollMs, signal).catch(() => {});
      if (!signal.aborted) await writer.detectTakeover().catch(() => {});
      if (signal.aborted || writer.fencedBy) return;
    }
    ignoresUntil = monotonicNow() + pauseAfterYieldMs;
    log.warn("The new process has not taken over the inbox, so this process accepts deliveries again.");
    await store.delete(yieldKey(writer.writerId)).catch(() => {});
  }

  return {
    enter,
    isYielding: () => yielding !== undefined,
    /** Reads the request of another process each second, until the gate closes or another process has taken over. */
    async watch(): Promise<void> {
      while (owner.spaceId !== undefined && !signal.aborted && !writer.fencedBy) {
        await wait(idleReadMs, signal, { ref: false }).catch(() => {});
        if (!signal.aborted && !writer.fencedBy) void enter();
      }
    },
    close: () => closed.abort(),
  };
}

interface TakeOverOptions extends Omit<OwnerHeartbeatOptions, "writer" | "intervalMs"> {
  writerId: string;
  rules: {
    /** Whether to take over the inbox although its owner still runs. */
    isForced: boolean;
    /** Whether to replace an owner of the same Space, because a new version of a Space starts before the old one stops. */
    mayReplace: boolean;
  };
  signal: AbortSignal;
  onTakenOver: (writerId: string) => void;
  fencedBy?: string | undefined;
  heartbeatMs?: number | undefined;
  /** Until it resolves, the takeover is not stored. */
  storeChecked?: Promise<void>;
}

interface OwnedLog {
  writer: LogWriter;
  heartbeat: OwnerHeartbeat;
  gate: YieldGate;
  earlier: readonly Heartbeat[];
}

/**
 * Returns the heartbeats of other processes. Another process owns the inbox until 60 s after its last heartbeat.
 *
 * @throws {@link InboxInUseError}, `ObjectStoreError`.
 */
export async function checkOwner(options: TakeOverOptions, lastWriter?: string): Promise<Heartbeat[]> {
  const { store, writerId, owner, rules, fencedBy } = options;
  // A list can omit the heartbeat of the owner.
  const known = [fencedBy, lastWriter].filter((writer) => writer !== undefined);
  const heartbeats = await readHeartbeats(store, known);
  // An earlier attempt of this process can have left a heartbeat.
  const others = heartbeats.filter((heartbeat) => heartbeat.writerId !== writerId);
  const current = others.find(
    (heartbeat) => isLive(heartbeat) && !(rules.mayReplace && isSameSpace(heartbeat.owner, owner)),
  );
  if (current !== undefined && !rules.isForced) throw new InboxInUseError(store.name, current);
  return others;
}

/** An owner that has stored no record for this time counts as idle. */
const minIdleMs = 5_000;
/** After this time, or if another process runs, the heartbeats are read again before the takeover. */
const maxCheckAgeMs = 5_000;
/** A process that has read more records than this number reads the log again, because its owner has stored further ones. */
const maxNewRecords = 16;

function lastPosition(heartbeats: readonly Heartbeat[]): number {
  return Math.max(0, ...heartbeats.map(({ position }) => position));
}

/**
 * Reads the log to its end and appends a record that fences the previous owner. Returns `undefined` if the working file is outdated.
 *
 * @param options.recent the result of the check before the snapshot was restored. `at`: by the monotonic clock.
 * @throws `INBOX_IN_USE` if another process owns the inbox, `ObjectStoreError`.
 */
export async function takeOverLog(
  options: TakeOverOptions & { replay: LogReplay; recent?: { heartbeats: Heartbeat[]; at: number } },
): Promise<OwnedLog | undefined> {
  const { replay, recent } = options;
  const isRecent = recent && options.monotonicNow() - recent.at < maxCheckAgeMs && !recent.heartbeats.some(isLive);
  let known = isRecent ? recent.heartbeats : undefined;
  let lastKnown = lastPosition(known ?? []);
  let read = Number.POSITIVE_INFINITY;
  for (;;) {
    options.signal.throwIfAborted();
    const { next: first, lastWriter: checked } = replay;
    const checking = known ? Promise.resolve(known) : checkOwner(options, checked);
    known = undefined;
    // The error is thrown after the log was read.
    checking.catch(() => {});
    if (!(await replay.catchUp(lastKnown))) return undefined;
    const earlier = await checking;
    lastKnown = lastPosition(earlier);
    const { lastWriter } = replay;
    const isChecked = lastWriter === checked || earlier.some(({ writerId }) => writerId === lastWriter);
    if (replay.next <= lastKnown || !isChecked) continue;
    const lastRead = read;
    read = replay.next - first;
    // An owner that stores records faster than they are read must not prevent the takeover.
    if (earlier.some(isLive) && read > maxNewRecords && read < lastRead / 2) continue;
    await options.storeChecked;
    const result = await race(replay, { ...options, earlier });
    if (result !== "another takeover") return result === "outdated" ? undefined : result;
  }
}

type Contest = TakeOverOptions & Pick<OwnedLog, "earlier">;

/** Appends the takeover at the first free number. The owner can append records too, so each attempt also reads the next records. */
async function race(replay: LogReplay, options: Contest): Promise<OwnedLog | "another takeover" | "outdated"> {
  const { store, writerId, owner, log, monotonicNow, wait, signal, earlier, onTakenOver } = options;
  const shared = { store, owner, log, monotonicNow, wait };
  const fences = replay.fences.length;
  const request = createYieldRequest(options);
  // An idle owner needs no request, because it does not compete for the next record.
  if (replay.newestAgeMs < minIdleMs) request.send();
  const announced = storeHeartbeat(store, { writerId, owner, position: replay.next - 1, isReleased: false });
  try {
    // The heartbeat precedes the record, so that another process that starts now finds an owner. Without a live owner, a process that
    // does not find the heartbeat yet only takes the inbox over before this process accepts a delivery.
    if (earlier.some(isLive)) await announced;
    for (;;) {
      signal.throwIfAborted();
      const { next } = replay;
      const writer = new LogWriter({ ...shared, writerId, next, onTakenOver, beforeAppend: () => gate.enter() });
      const gate = createYieldGate({ ...shared, writer });
      // A writer repeats its request until it is closed.
      announced.catch(() => writer.close());
      const [isStored] = await Promise.all([tryToTakeOver(writer, replay, options), announced]);
      if (isStored) {
        if (!(await replay.isComplete(writer.next - 1))) {
          await removeHeartbeat();
          return "outdated";
        }
        const heartbeat = createOwnerHeartbeat({ ...shared, writer, intervalMs: options.heartbeatMs });
        return { writer, heartbeat, gate, earlier };
      }
      // The record at this number is unreadable, or the store returns different results.
      const isOutdated = replay.next === next && !(await replay.catchUp());
      if (isOutdated || replay.fences.length > fences) {
        await removeHeartbeat();
        return isOutdated ? "outdated" : "another takeover";
      }
      request.send();
    }
  } catch (error) {
    await removeHeartbeat();
    throw error;
  } finally {
    void request.withdraw();
  }

  async function removeHeartbeat(): Promise<void> {
    // A heartbeat in flight could otherwise be stored after its removal.
    await announced.catch(() => {});
    await store.delete(heartbeatKey(writerId)).catch(() => {});
  }
}

/** Appends the takeover at the next number, and reads the records that follow. Returns whether the takeover was stored. */
async function tryToTakeOver(writer: LogWriter, replay: LogReplay, { owner, signal }: Contest): Promise<boolean> {
  const stop = () => writer.close();
  signal.addEventListener("abort", stop);
  // The error of the write is more important.
  const following = replay.follow().catch(() => undefined);
  const storing = writer.append({ kind: "takeover", owner, schemaVersion, body: () => new Uint8Array() });
  const isStored = storing
    .then(
      () => true,
      (error) => {
        if (!WebhookError.isInstance(error) || error.code !== "INBOX_TAKEN_OVER") throw error;
        return false;
      },
    )
    .finally(() => signal.removeEventListener("abort", stop));
  // A record of another writer proves the collision before the response to the write.
  const isTaken = following.then((first) => (first === undefined || first === writer.writerId ? isStored : false));
  // If the collision is known, the result of the write does not matter.
  isStored.catch(() => {});
  const result = await Promise.race([isStored, isTaken]);
  await following;
  return result;
}
