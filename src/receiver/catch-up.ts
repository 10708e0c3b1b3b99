import { followBucket } from "../catch-up/bucket-stream.ts";
import { CallBudget } from "../catch-up/call-budget.ts";
import { CatchUp, claimMs, type DecidedDelivery } from "../catch-up/catch-up.ts";
import type { CatchUpTarget } from "../catch-up/cursor.ts";
import type { CatchUpReport, ReadInbox } from "../catch-up/endpoint-run.ts";
import { derivableTypes } from "../catch-up/repository-state.ts";
import { readEnvironment, readSpace } from "../core/environment.ts";
import { HubError, WebhookError } from "../core/errors.ts";
import { type Duration, formatDuration, isDuration, maxTimerMs, optionError, toMilliseconds } from "../core/options.ts";
import { exponentialBackoff, untilAborted } from "../core/time.ts";
import { isOnThisMachine } from "../core/urls.ts";
import { isOnLocalDisk, openInbox } from "../inbox/open-inbox.ts";
import type { ServerContext } from "./context.ts";
import type { CommandRunOptions } from "./control.ts";
import type { DeliveryPipeline } from "./deliver.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ServerHub } from "./hub.ts";
import type { BackgroundWork } from "./inbox.ts";
import { listIntervalMs, OwnWebhooks } from "./own-webhooks.ts";

interface CatchUpParts {
  background: BackgroundWork;
  hub: ServerHub;
  pipeline: DeliveryPipeline;
}

/** An endpoint that catches up, and the interval of its runs. */
interface ScheduledTarget extends CatchUpTarget {
  everyMs: number;
  /** Whether the endpoint also expects deliveries, and is not only polled. */
  hasWebhook: boolean;
}

/** The inbox of a server that has not run yet. */
const emptyInbox: ReadInbox = {
  list: async () => ({ deliveries: [] }),
  get: async () => undefined,
  cursors: { get: async () => undefined, list: async () => new Map(), set: async () => {}, claim: async () => true },
};

/** The wait after the first failed run. Later waits double, up to the interval. */
const firstRetryMs = 60_000;
/** The maximum time between the first and the second run: a webhook that is enabled after the start misses what happens before. */
const secondRunMs = 10 * 60_000;
/** How often refused deliveries are looked for. */
const checkMs = 60_000;
/** The wait for further changes after the first change of a bucket. */
const debounceMs = 500;

/** Derives the deliveries that the endpoints of a server missed: at the start, and then in intervals. */
export class ServerCatchUp {
  readonly #context: ServerContext;
  readonly #parts: CatchUpParts;
  readonly #catchUp: CatchUp;
  readonly #budget: CallBudget;
  #running: Promise<unknown> = Promise.resolve();
  #stop = new AbortController();
  /** Aborted to compare an endpoint without waiting for the interval, or again after the comparison that is running. */
  readonly #wakes = new Map<string, AbortController>();

  constructor(context: ServerContext, parts: CatchUpParts) {
    const { log, now } = context;
    const hub = parts.hub.client;
    this.#context = context;
    this.#parts = parts;
    // A local Hub has no rate limit.
    const limit = isOnThisMachine(new URL(hub.hubUrl).hostname) ? Number.POSITIVE_INFINITY : undefined;
    this.#budget = new CallBudget({ monotonicNow: () => performance.now(), wait: pause, limit });
    this.#catchUp = new CatchUp({
      ...{ hub, log, now, wait: pause, budget: this.#budget },
      accept: ({ endpoint }, delivery) => parts.pipeline.acceptDerived(context.endpoints.find(endpoint), delivery),
    });
  }

  /**
   * Starts the runs of all endpoints with `catchUp`, or with `poll` of all endpoints with `watch`, and ends the runs of an earlier call.
   * With `poll`, resolves after the first run of each endpoint. Otherwise, the first runs wait for `listening`, because the webhooks that
   * they enable deliver to this server. Streams, which keep the process alive, are only opened if the server listens.
   *
   * @throws `OPTION_INVALID` if an endpoint cannot catch up, or the rate limit does not allow the interval; `INBOX_UNUSABLE` if the inbox
   *   would not survive a restart of a Space; with `poll`, errors of the first run.
   */
  async start(option: Duration | undefined, listening?: Promise<unknown>): Promise<void> {
    const poll = option ?? environmentInterval();
    const targets = this.#targets(poll);
    // `ready()` can be called several times, and before `launch()`. Of several calls, the last one counts.
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    await this.#running;
    // `close()` can be called in the meantime.
    if (targets.length === 0 || signal.aborted) return;
    this.#assertDurable();
    const { hub } = this.#parts;
    const onDue = (endpoint: string) => this.#wakes.get(endpoint)?.abort();
    const webhooks = new OwnWebhooks(this.#context, { hub, budget: this.#budget, onDue });
    if (poll !== undefined) await this.#runFirst(targets, signal);
    const options = { webhooks, signal, isFirst: poll === undefined, targetCount: targets.length };
    const repeat = async () => {
      if (listening) await untilAborted(listening, signal).catch(() => {});
      const loops = targets.map((target) => this.#repeat(target, options));
      if (targets.some(({ hasWebhook }) => hasWebhook)) loops.push(this.#checkWebhooks(webhooks, signal));
      if (poll !== undefined && listening) loops.push(...this.#followBuckets(targets, signal));
      await Promise.all(loops);
    };
    this.#running = repeat();
  }

  /** Compares all endpoints now, because their webhooks did not deliver for some time. */
  compareNow(): void {
    for (const wake of this.#wakes.values()) wake.abort();
  }

  /** Runs once for each endpoint, and returns the reports by endpoint. */
  async run({ onOpened, ...options }: CommandRunOptions): Promise<ReadonlyMap<string, CatchUpReport>> {
    const targets = this.#targets("6h");
    await using reading = options.dryRun ? await this.#openForReading() : undefined;
    const inbox = reading?.inbox ?? (await this.#parts.background.open());
    await onOpened?.();
    const reports = new Map<string, CatchUpReport>();
    for (const target of targets) {
      reports.set(target.endpoint, await this.#catchUp.run(target, inbox, options));
    }
    return reports;
  }

  /** Opens the inbox without running its deliveries. */
  async #openForReading(): Promise<{ inbox: ReadInbox } & AsyncDisposable> {
    const { inbox: given } = this.#parts.background;
    if (typeof given === "object") return { inbox: given, [Symbol.asyncDispose]: async () => {} };
    const { log, now } = this.#context;
    try {
      const url = given ?? readEnvironment("INBOX_URL");
      const inbox = await openInbox({ url, log, now, mustExist: true, access: "read" });
      return { inbox, [Symbol.asyncDispose]: async () => void (await inbox.close(0)) };
    } catch (error) {
      if (!WebhookError.isInstance(error) || error.code !== "INBOX_UNUSABLE") throw error;
      log.info(`${error.message} This is what a first run would do.`);
      return { inbox: emptyInbox, [Symbol.asyncDispose]: async () => {} };
    }
  }

  /** See `CatchUp.uncovered`. Without an open inbox, such as in a job, nothing was derived. */
  async uncovered(delivery: DecidedDelivery, signal: AbortSignal): ReturnType<CatchUp["uncovered"]> {
    const inbox = await this.#parts.background.opened;
    return inbox ? this.#catchUp.uncovered(delivery, inbox, signal) : "all";
  }

  /** Stops the runs, and waits until they have stopped. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #targets(poll: Duration | undefined): ScheduledTarget[] {
    const { all } = this.#context.endpoints;
    const targets = all.flatMap((endpoint): ScheduledTarget[] => {
      const { name, watch, domains, catchUp } = endpoint;
      if (catchUp === undefined && (poll === undefined || watch.length === 0)) return [];
      assertDerivable(endpoint);
      const { everyMs, since } = catchUp ?? { everyMs: Number.POSITIVE_INFINITY, since: "now" as const };
      const interval = poll === undefined ? everyMs : Math.min(everyMs, toMilliseconds(poll, "poll"));
      return [{ endpoint: name, watch, domains, since, everyMs: interval, hasWebhook: catchUp !== undefined }];
    });
    if (poll !== undefined && targets.length === 0) {
      throw optionError(
        'No endpoint has a "watch" option, so there is nothing to compare with the Hub. Add watch: "dataset:me/data" to an endpoint.',
      );
    }
    return targets;
  }

  #assertDurable(): void {
    const { inbox } = this.#parts.background;
    if (!readSpace() || typeof inbox === "object" || !isOnLocalDisk(inbox ?? readEnvironment("INBOX_URL"))) return;
    throw optionError(
      "Catch-up remembers in the inbox what it has seen, but every restart erases the disk of a Space. Set INBOX_URL to a Storage Bucket, such as hf://buckets/me/inbox, or remove catchUp and poll.",
    );
  }

  async #runFirst(targets: readonly ScheduledTarget[], signal: AbortSignal): Promise<void> {
    let calls = 0;
    // The server does not listen yet, so nothing else keeps the process alive.
    const alive = setInterval(() => {}, 60_000);
    try {
      for (const target of targets) calls += (await this.#runOnce(target, signal)).calls;
    } finally {
      clearInterval(alive);
    }
    const everyMs = Math.min(...targets.map((target) => target.everyMs));
    const shortest = this.#budget.shortestInterval(calls);
    if (everyMs >= shortest) return;
    throw optionError(
      `Option "poll" is ${formatDuration(everyMs)}, but one comparison takes ${calls} calls, and a fifth of the Hub's rate limit allows one every ${formatDuration(shortest)}. Set "poll" to at least "${Math.ceil(shortest / 1000)}s", or watch less.`,
    );
  }

  /** Makes the endpoints that watch a bucket by its name compare soon after it has changed. */
  #followBuckets(targets: readonly ScheduledTarget[], signal: AbortSignal): Promise<void>[] {
    const { log } = this.#context;
    const { hub, background } = this.#parts;
    const bucketsOf = ({ watch }: ScheduledTarget) =>
      watch.filter(({ type }) => type === "bucket").map(({ name }) => name);
    const names = new Set(targets.flatMap(bucketsOf).filter((name) => name !== background.bucket));
    return [...names].map((name) => {
      const onChange = () => {
        for (const target of targets) if (bucketsOf(target).includes(name)) this.#wakes.get(target.endpoint)?.abort();
      };
      const clock = { wait: pause, monotonicNow: () => performance.now() };
      const following = { hub: hub.client, budget: this.#budget, ...clock, log, name, onChange, signal };
      return followBucket(following);
    });
  }

  /** Looks for webhooks that were enabled, also between the comparisons. */
  async #checkWebhooks(webhooks: OwnWebhooks, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await pause(listIntervalMs, signal);
        // If the option `publicUrl` throws, the next comparison reports it.
        await webhooks.check(signal).catch(() => signal.throwIfAborted());
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** @param options.targetCount how many endpoints share the budget. */
  async #repeat(
    target: ScheduledTarget,
    options: { webhooks: OwnWebhooks; signal: AbortSignal; isFirst: boolean; targetCount: number },
  ): Promise<void> {
    const { webhooks, signal, isFirst, targetCount } = options;
    const { log, now } = this.#context;
    let failures = 0;
    let nextMs = Math.min(secondRunMs, target.everyMs);
    let waitMs = isFirst ? 0 : nextMs;
    /** When the budget allows a further run. After a failure, nothing shortens the wait. */
    let soonestAt = 0;
    let ranAt = now();
    this.#wakes.set(target.endpoint, new AbortController());
    while (!signal.aborted) {
      try {
        await this.#untilDue(target.endpoint, { waitMs, ranAt, soonestAt, signal });
        ranAt = now();
        this.#wakes.set(target.endpoint, new AbortController());
        if (target.hasWebhook) {
          // While the inbox does not answer, a webhook that is enabled would fail again.
          await (await this.#parts.background.open()).pausedEndpoints();
          await webhooks.enableSuspended(target, signal);
        }
        const { isElsewhere, calls, failure } = await this.#runOnce(target, signal);
        if (failure) throw failure;
        soonestAt = performance.now() + this.#budget.shortestInterval(calls * targetCount);
        failures = 0;
        // Another process may have crashed during its run.
        waitMs = isElsewhere ? Math.min(claimMs, target.everyMs) : nextMs;
        if (!isElsewhere) nextMs = target.everyMs;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const firstMs = Math.min(firstRetryMs, target.everyMs);
        waitMs = exponentialBackoff(failures, { firstMs, maxMs: target.everyMs });
        soonestAt = performance.now() + waitMs;
        const code = HubError.isInstance(error) ? error.code : undefined;
        log.warn(
          { err: error, code, endpoint: target.endpoint },
          `Catch-up could not compare the Hub with what was delivered. It tries again in ${formatDuration(waitMs)}.`,
        );
      }
    }
  }

  /** Waits, but not for long after a 503, because the Hub can have given up, or after a webhook was enabled or a bucket changed. */
  async #untilDue(
    endpoint: string,
    { waitMs, ranAt, soonestAt, signal }: { waitMs: number; ranAt: number; soonestAt: number; signal: AbortSignal },
  ): Promise<void> {
    const { history } = this.#context;
    const wake = this.#wakes.get(endpoint)?.signal;
    const ending = wake ? AbortSignal.any([signal, wake]) : signal;
    for (let leftMs = waitMs; ; leftMs -= checkMs) {
      await pause(Math.max(0, Math.min(leftMs, checkMs)), ending).catch(() => signal.throwIfAborted());
      if (ending.aborted) return pause(Math.max(debounceMs, soonestAt - performance.now()), signal);
      if (leftMs <= checkMs) return;
      const refused = history.refused.filter((group) => group.endpoint === endpoint && group.status === 503);
      if (refused.some(({ lastAt }) => lastAt > ranAt)) return;
    }
  }

  async #runOnce(target: ScheduledTarget, signal: AbortSignal): Promise<CatchUpReport> {
    const { catchUps, log, now } = this.#context;
    const counts = catchUps.get(target.endpoint) ?? { derived: 0, remaining: 0 };
    catchUps.set(target.endpoint, counts);
    const inbox = await this.#parts.background.open();
    const onProgress = ({ repositories, total }: CatchUpReport) => {
      counts.remaining = total - repositories;
    };
    const report = await this.#catchUp.run(target, inbox, { signal, onProgress }).finally(() => {
      counts.remaining = 0;
    });
    const { repositories, failed, calls, derived, isElsewhere } = report;
    if (isElsewhere) {
      log.debug({ endpoint: target.endpoint }, "Catch-up already runs in another process.");
      return report;
    }
    counts.derived += derived.length;
    counts.comparedAt = now();
    const fields = { endpoint: target.endpoint, repositories, failed, calls, derived: derived.length };
    if (derived.length === 0) log.debug(fields, "Catch-up found nothing that was missed.");
    else log.info(fields, "Catch-up accepted deliveries that the endpoint missed.");
    return report;
  }
}

function assertDerivable({ name, queue, watch }: Endpoint): void {
  if (!queue) {
    throw optionError(
      `Endpoint "${name}" runs before the response, but polling needs an inbox that remembers what was seen. Add background: true, or remove "watch".`,
    );
  }
  const types: readonly string[] = [...derivableTypes, "user", "org"];
  const other = watch.find(({ type }) => !types.includes(type));
  if (!other) return;
  throw optionError(
    `Endpoint "${name}" watches ${other.type}:${other.name}, but changes can only be derived for ${types.join(", ")}. Remove catchUp and poll, or watch this item with another endpoint.`,
  );
}

/** Reads `POLL`. @throws `OPTION_INVALID` */
function environmentInterval(): Duration | undefined {
  const text = readEnvironment("POLL");
  if (text === undefined || isDuration(text)) return text;
  throw optionError({ option: "POLL", value: text, expected: 'a duration such as "5m"' });
}

/** Waits, without keeping the process alive. @throws the abort reason of the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, maxTimerMs));
  timer.unref();
  await untilAborted(promise, signal).finally(() => clearTimeout(timer));
}
