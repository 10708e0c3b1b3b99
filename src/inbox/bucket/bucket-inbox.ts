import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { formatDuration } from "../../core/options.ts";
import { untilAborted, withDeadline } from "../../core/time.ts";
import { inboxTakenOver, inboxUnavailable, RepeatedErrors, unavailable } from "../errors.ts";
import type {
  Cursors,
  DeliveryKey,
  EndpointQueue,
  Inbox,
  InboxProblem,
  IncomingDelivery,
  ListOptions,
  OwnActions,
  RepairedGap,
} from "../inbox.ts";
import type { SqliteInbox } from "../sqlite/sqlite-inbox.ts";
import type { LogWriter, Wait } from "./log.ts";
import { accessHint, type ObjectStore, ObjectStoreError } from "./object-store.ts";
import { type Heartbeat, InboxInUseError } from "./ownership.ts";
import type { YieldGate } from "./take-over.ts";
import { readOpenGaps, repairGaps } from "./working-database.ts";

export interface OwnedInbox {
  inbox: SqliteInbox;
  database: DatabaseSync;
  writer: LogWriter;
  gate: YieldGate;
  /** Resolves with the ID of the writer that has taken over the inbox. */
  fenced: Promise<string>;
  /** Releases the inbox after the last record was stored. */
  close: (graceMs: number) => Promise<{ interrupted: number }>;
}

export interface Opening {
  writerId: string;
  /** Whether this process has not owned the inbox yet. Otherwise, it must wait until its owner stops. */
  isFirst: boolean;
  fencedBy: string | undefined;
  signal: AbortSignal;
  onOwned: () => void;
}

export interface BucketInboxOptions {
  store: ObjectStore;
  log: Logger;
  now: () => number;
  monotonicNow: () => number;
  wait: Wait;
  /** Whether to try again after an error before the inbox is open for the first time. Default: if the error can heal. */
  canRetry?: (error: unknown) => boolean;
  /** Called when the inbox cannot be opened, and is not retried. */
  onFailure?: (error: unknown) => void;
  /** How long a delivery waits for the bucket. Default `20_000`: the Hub then receives a response before its timeout of 30 s. */
  maxWaitMs?: number | undefined;
  /** The maximum size of the deliveries that wait for the bucket, in bytes. Default 32 MiB. */
  maxWaitingBytes?: number | undefined;
}

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
const inUsePauseMs = 5_000;
/** How long an attempt to open the inbox may take when the inbox closes. */
const maxStopMs = 5_000;

/** Stores deliveries in a bucket, with a SQLite file as the working store. Until the inbox is open again after a takeover, rejects them. */
export class BucketInbox implements Inbox {
  readonly ownActions: OwnActions = {
    add: (keys) => this.#change(({ inbox }) => inbox.ownActions.add(keys)),
    find: async (keys) => this.#readable().inbox.ownActions.find(keys),
  };
  readonly cursors: Cursors = {
    get: async (endpoint, key) => this.#readable().inbox.cursors.get(endpoint, key),
    list: async (endpoint) => this.#readable().inbox.cursors.list(endpoint),
    set: (endpoint, texts) => this.#change(({ inbox }) => inbox.cursors.set(endpoint, texts)),
    // Only one process owns the inbox.
    claim: async () => true,
  };
  readonly bucket?: string;
  readonly #opened = Promise.withResolvers<void>();
  /** Resolves when the inbox is open for the first time. Rejects if it cannot be opened, or was closed before. */
  readonly opened = this.#opened.promise;
  /** Resolved when the first attempt has failed and will be repeated. */
  readonly #tried = Promise.withResolvers<void>();
  readonly #options: BucketInboxOptions;
  readonly #openOwned: (opening: Opening) => Promise<OwnedInbox>;
  readonly #maxWaitMs: number;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  readonly #queues = new Map<string, EndpointQueue>();
  /** The inbox that this process owns, or owned before another process took it over. */
  #owned: OwnedInbox | undefined;
  #replaced: Promise<unknown> = Promise.resolve();
  #problem: InboxProblem;
  #waitingBytes = 0;
  #closed: Promise<{ interrupted: number }> | undefined;

  constructor(options: BucketInboxOptions, openOwned: (opening: Opening) => Promise<OwnedInbox>) {
    const { name } = options.store;
    this.#options = options;
    this.#openOwned = openOwned;
    this.#maxWaitMs = options.maxWaitMs ?? 20_000;
    const bucket = /^hf:\/\/buckets\/([^/]+\/[^/]+)/.exec(name)?.[1];
    if (bucket !== undefined) this.bucket = bucket;
    this.#problem = unavailable(`The inbox ${name} is being opened.`);
    this.opened.catch(() => {});
    this.#running = this.#run().catch(this.#opened.reject);
  }

  /** Waits until the inbox is open, the first attempt has failed, or the time is over. @throws an error that cannot heal. */
  async settled(maxMs: number): Promise<void> {
    await this.#waitFor(Promise.race([this.opened, this.#tried.promise]), maxMs);
  }

  async #waitFor(promise: Promise<unknown>, maxMs: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([promise, this.#options.wait(maxMs, over.signal).catch(() => {})]);
    over.abort();
  }

  async accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const { maxWaitingBytes = 32 * 2 ** 20 } = this.#options;
    const { inbox } = this.#writable();
    const bytes = Buffer.byteLength(delivery.body);
    // A single delivery is always accepted, because its body can be larger than the limit.
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > maxWaitingBytes) {
      throw inboxUnavailable(
        new Error(`More than ${maxWaitingBytes / 2 ** 20} MiB of deliveries are waiting for the bucket.`),
      );
    }
    this.#waitingBytes += bytes;
    const accepted = inbox.accept(delivery).finally(() => {
      this.#waitingBytes -= bytes;
    });
    return withDeadline(accepted, this.#maxWaitMs, notStoredInTime);
  }

  startWorker(queue: EndpointQueue): void {
    if (this.#queues.has(queue.endpoint)) return;
    this.#queues.set(queue.endpoint, queue);
    this.#owned?.inbox.startWorker(queue);
  }

  readonly list = async (options?: ListOptions) => this.#readable().inbox.list(options);
  readonly get = async (key: DeliveryKey) => this.#readable().inbox.get(key);
  readonly replay = (key: DeliveryKey) => this.#change(({ inbox }) => inbox.replay(key));
  readonly replayDead = (endpoint: string) => this.#change(({ inbox }) => inbox.replayDead(endpoint));
  readonly discard = (key: DeliveryKey) => this.#change(({ inbox }) => inbox.discard(key));
  readonly pause = (endpoint: string) => this.#change(({ inbox }) => inbox.pause(endpoint));
  readonly resume = (endpoint: string) => this.#change(({ inbox }) => inbox.resume(endpoint));
  readonly pausedEndpoints = async () => this.#readable().inbox.pausedEndpoints();
  readonly counts = async () => this.#readable().inbox.counts();

  async problems(): Promise<readonly InboxProblem[]> {
    const { name } = this.#options.store;
    const owned = this.#owned;
    if (owned === undefined || owned.writer.fencedBy) return [this.#problem];
    const { writer, gate, database, inbox } = owned;
    // While a record is being retried, a storage check would wait for it.
    if (writer.outage) {
      return [
        unavailable(
          `The bucket of the inbox ${name} has not stored a record for ${formatDuration(writer.outage.forMs)}. Check the status of the bucket and the access key.`,
        ),
      ];
    }
    if (gate.isYielding()) return [unavailable(`A new process of this Space is taking over the inbox ${name}.`)];
    const gaps = readOpenGaps(database);
    if (gaps.length === 0) return inbox.problems();
    const gap: InboxProblem = {
      code: "INBOX_DAMAGED",
      severity: "degraded",
      message: `Some records of the inbox ${name} are missing or unreadable (${gaps.slice(0, 10).join(", ")}), so deliveries can be missing. New deliveries are stored. To restore what is readable, run: npx hub-webhooks deliveries repair`,
    };
    return [...(await inbox.problems()), gap];
  }

  async prune(): Promise<number> {
    return this.#writable().inbox.prune();
  }

  async repair(): Promise<RepairedGap[]> {
    return repairGaps(this.#options, this.#writable());
  }

  close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closing.abort();
    await this.#waitFor(this.#running, maxStopMs);
    const result = (await this.#owned?.close(graceMs)) ?? { interrupted: 0 };
    await this.#replaced;
    return result;
  }

  /** Opens the inbox, also again after another process took it over and stopped. Rejects if the inbox cannot be opened. */
  async #run(): Promise<void> {
    const { store, log } = this.#options;
    let fencedBy: string | undefined;
    while (!this.#closing.signal.aborted) {
      const owned = await this.#open(fencedBy);
      if (owned === undefined) break;
      const replaced = this.#owned;
      this.#owned = owned;
      for (const queue of this.#queues.values()) owned.inbox.startWorker(queue);
      if (replaced) this.#replaced = Promise.all([this.#replaced, replaced.close(0)]);
      log.info({ inbox: store.name }, "Opened the inbox for background deliveries.");
      this.#opened.resolve();
      fencedBy = await untilAborted(owned.fenced, this.#closing.signal).catch(() => undefined);
      this.#problem = unavailable(
        `Another process has taken over the inbox ${store.name}, so this process rejects deliveries until the other process stops.`,
        "INBOX_TAKEN_OVER",
      );
    }
    throw new WebhookError("The inbox was closed before it was open.", { code: "CLOSING" });
  }

  /** Tries to open the inbox until it is open. Returns `undefined` if the inbox is closed. @throws an error that cannot heal. */
  async #open(fencedBy: string | undefined): Promise<OwnedInbox | undefined> {
    const { store, log, wait, monotonicNow, onFailure } = this.#options;
    const { signal } = this.#closing;
    const failures = new RepeatedErrors(monotonicNow);
    const hasRenewed = createOwnerWatch(monotonicNow);
    let opening = { writerId: crypto.randomUUID(), isFirst: fencedBy === undefined };
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const onOwned = () => {
        // A later attempt is not the first one, so that two processes of a Space cannot take over from each other forever.
        opening = { writerId: crypto.randomUUID(), isFirst: false };
      };
      try {
        const owned = await this.#openOwned({ ...opening, fencedBy, signal, onOwned });
        if (!signal.aborted) return owned;
        await owned.close(0);
        return undefined;
      } catch (error) {
        if (signal.aborted) return undefined;
        const { isFirst } = opening;
        const { canRetry = (thrown) => canHeal(thrown) && !(isFirst && hasRenewed(thrown)) } = this.#options;
        if (fencedBy === undefined ? !canRetry(error) : !canHeal(error)) {
          const code = WebhookError.isInstance(error) ? error.code : "INBOX_UNUSABLE";
          this.#problem = unavailable(messageOf(error), code);
          onFailure?.(error);
          throw error;
        }
        const isInUse = error instanceof InboxInUseError;
        if (fencedBy === undefined || !isInUse) {
          const code = isInUse ? error.code : "INBOX_UNAVAILABLE";
          const hint = error instanceof ObjectStoreError && error.isRefused ? ` ${accessHint}` : "";
          const message = `The inbox ${store.name} cannot be opened yet, so deliveries are rejected: ${messageOf(error)}${hint}`;
          this.#problem = unavailable(message, code);
          if (failures.shouldLog(error))
            log.error({ code }, `${message} The server tries again until the inbox is open.`);
        }
        this.#tried.resolve();
        await wait(isInUse ? inUsePauseMs : pauseMs, signal).catch(() => {});
      }
    }
  }

  async #change<Result>(change: (owned: OwnedInbox) => Promise<Result>): Promise<Result> {
    return withDeadline(change(this.#writable()), this.#maxWaitMs, notStoredInTime);
  }

  /** @throws `INBOX_UNAVAILABLE` before the inbox is open for the first time. */
  #readable(): OwnedInbox {
    if (this.#owned) return this.#owned;
    throw inboxUnavailable(new Error(this.#problem.message));
  }

  /** Rejects deliveries immediately while the bucket is away, so that they do not fill the memory. */
  #writable(): OwnedInbox {
    const owned = this.#readable();
    const { writer, gate } = owned;
    writer.throwIfTakenOver();
    if (gate.isYielding()) throw inboxTakenOver();
    if (writer.outage && writer.outage.forMs >= this.#maxWaitMs) throw inboxUnavailable(writer.outage.error);
    return owned;
  }
}

/**
 * Detects that another owner still runs: its heartbeat was renewed twice while this process waited. A store can apply the last
 * heartbeat of a process that has died up to a minute late, so one renewal proves nothing.
 */
function createOwnerWatch(monotonicNow: () => number): (error: unknown) => boolean {
  let last: { heartbeat: Heartbeat; at: number } | undefined;
  let renewals = 0;
  return (error) => {
    if (!(error instanceof InboxInUseError)) return false;
    const { heartbeat } = error;
    const before = last;
    last = { heartbeat, at: monotonicNow() };
    if (before?.heartbeat.writerId !== heartbeat.writerId) {
      renewals = 0;
      return false;
    }
    // Ages are in whole seconds.
    if (heartbeat.ageMs < before.heartbeat.ageMs + (last.at - before.at) - 3_000) renewals += 1;
    return renewals >= 2;
  };
}

/** Whether the inbox can be opened later without a change of its configuration or a restart. */
function canHeal(error: unknown): boolean {
  // 501: the store does not support a request.
  if (error instanceof ObjectStoreError) return error.status !== 501;
  const codes: readonly string[] = ["INBOX_IN_USE", "INBOX_TAKEN_OVER", "INBOX_UNAVAILABLE"];
  return WebhookError.isInstance(error) && codes.includes(error.code);
}

function notStoredInTime(): WebhookError {
  return inboxUnavailable(new Error("The bucket has not stored the delivery in time."));
}
