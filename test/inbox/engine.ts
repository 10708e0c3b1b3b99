import { expect, onTestFinished } from "vitest";
import { WebhookError } from "../../src/core/errors.ts";
import type { Logger } from "../../src/core/log.ts";
import type {
  ClaimedDelivery,
  EndpointQueue,
  FinishedRun,
  Inbox,
  ListOptions,
  StoredDelivery,
} from "../../src/inbox/inbox.ts";
import { createRetryPolicy } from "../../src/inbox/retry.ts";
import type { Outcome } from "../../src/payload/parse.ts";
import { createMemoryLogger, type MemoryLogger } from "../support/memory-logger.ts";
import { type ReceiverProcess, startReceiverProcess } from "../support/receiver-process.ts";
import { waitFor } from "../support/wait-for.ts";

/** Options of an inbox under test. */
export interface EngineOptions {
  /** A file or URL. Inboxes with the same store share their deliveries. */
  store: string;
  log: Logger;
  maxQueued?: number;
  leaseMs?: number;
  /** Default `Date.now`. */
  now?: () => number;
}

/** An inbox engine. */
export interface Engine {
  name: string;
  /** Creates an empty store. */
  emptyStore: () => string | Promise<string>;
  open: (options: EngineOptions) => Inbox | Promise<Inbox>;
  /**
   * Opens an inbox for reading while another process owns it. Only for engines that permit one process at a time. Tests of processes
   * that share an inbox do not apply to these engines.
   */
  openReader?: (store: string) => Promise<Inbox>;
}

/** An inbox under test. */
export interface OpenedInbox {
  inbox: Inbox;
  store: string;
  logger: MemoryLogger;
}

/** Opens an inbox and closes it after the test. */
export async function openInbox(engine: Engine, options: Partial<EngineOptions> = {}): Promise<OpenedInbox> {
  const logger = createMemoryLogger();
  const store = options.store ?? (await engine.emptyStore());
  const inbox = await engine.open({ log: logger, ...options, store });
  onTestFinished(async () => void (await inbox.close(1_000)));
  return { inbox, store, logger };
}

/** An inbox whose store other processes may use. */
export interface LentInbox {
  /** Reads the deliveries in the meantime. */
  reader: Inbox;
  /** Returns the inbox after the other processes have exited. */
  takeBack: () => Promise<Inbox>;
}

/** Permits other processes to open the store of an inbox. */
export async function lend(engine: Engine, { inbox, store }: OpenedInbox): Promise<LentInbox> {
  if (engine.openReader === undefined) return { reader: inbox, takeBack: async () => inbox };
  await inbox.close(0);
  const reader = await engine.openReader(store);
  onTestFinished(async () => void (await reader.close(0)));
  return { reader, takeBack: async () => (await openInbox(engine, { store })).inbox };
}

/** Starts a process that runs deliveries. See `inbox-process.ts`. */
export function startProcess(
  { name }: Pick<Engine, "name">,
  store: string,
  variables: Readonly<Record<string, string>>,
): ReceiverProcess {
  const script = new URL("inbox-process.ts", import.meta.url);
  return startReceiverProcess(script, { ENGINE: name, STORE: store, ...variables });
}

export const succeeded: Outcome = { status: "succeeded", result: undefined };

/** Returns the outcome of a failed handler. */
export function failed({ message = "It failed.", retryable = true, retryAt, cause }: FailureOptions = {}): Outcome {
  const error = new WebhookError(message, { code: "HANDLER_FAILED", retryable, cause });
  return { status: "failed", error, ...(retryAt && { retryAt }) };
}

interface FailureOptions {
  message?: string;
  retryable?: boolean;
  retryAt?: Date;
  /** The value that the handler threw. */
  cause?: unknown;
}

/** Starts a worker for an endpoint. Returns a list that contains the deliveries it has run so far. */
export function work(
  inbox: Inbox,
  run: (claimed: ClaimedDelivery, signal: AbortSignal) => FinishedRun | Promise<FinishedRun>,
  queue: Partial<EndpointQueue> = {},
): ClaimedDelivery[] {
  const runs: ClaimedDelivery[] = [];
  inbox.startWorker({
    endpoint: "retrain",
    concurrency: 4,
    policy: createRetryPolicy({ attempts: 3, backoff: { first: 1, max: 5 } }),
    retentionMs: 60_000,
    ...queue,
    run: async (claimed, signal) => {
      runs.push(claimed);
      return run(claimed, signal);
    },
  });
  return runs;
}

/** Runs deliveries, by default "a", whose handlers end when `end` is called. */
export async function hold(inbox: Inbox, { ids = ["a"], ...queue }: Partial<EndpointQueue> & { ids?: string[] } = {}) {
  const { promise, resolve: end } = Promise.withResolvers<FinishedRun>();
  const signals: AbortSignal[] = [];
  const run = (_claimed: ClaimedDelivery, signal: AbortSignal) => {
    signals.push(signal);
    return promise;
  };
  const runs = work(inbox, run, queue);
  for (const id of ids) await inbox.accept(incoming(id));
  await waitFor(() => expect(runs).toHaveLength(ids.length));
  return { runs, signals, end };
}

/** Returns a delivery that was received now. */
export function incoming(id: string, { endpoint = "retrain", body = `{"id":"${id}"}` } = {}) {
  return { id, endpoint, body, receivedAt: new Date() };
}

/** Returns the deliveries of all pages. */
export async function listAll(inbox: Inbox, options: ListOptions): Promise<StoredDelivery[]> {
  const found: StoredDelivery[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await inbox.list({ ...options, ...(cursor !== undefined && { cursor }) });
    found.push(...page.deliveries);
    cursor = page.next;
    if (cursor === undefined) return found;
  }
}

/** Waits until a delivery has this status and returns it. */
export async function waitForStatus(inbox: Inbox, id: string, status: string) {
  return waitFor(
    async () => {
      const found = await inbox.get({ id, endpoint: "retrain" });
      expect(found).toMatchObject({ status });
      return found;
    },
    { interval: 5 },
  );
}
