import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../core/describe.ts";
import type { Logger } from "../../core/log.ts";
import { formatDuration } from "../../core/options.ts";
import { parseBucketUrl, type ReadVariable, readBucketCredentials } from "./bucket-url.ts";
import { checkObjectStore, checkPrefix, type ObjectStore, ObjectStoreError } from "./object-store.ts";
import { openBucketInbox } from "./open-bucket.ts";
import { openS3ObjectStore } from "./s3.ts";

/** The maximum time of a check, without the removal of its objects. */
const maxCheckMs = 45_000;
const maxRemovalMs = 10_000;
/** The time after which a part is not repeated again. */
const maxPartMs = 8_000;
const requestTimeoutMs = 5_000;
/** From the first heartbeat of the new process, a takeover takes at most 5 s if each request is faster than this time. */
const maxQuickMs = 1_000;
/** The age of an object has a resolution of a second, so it is read this long after the object was stored. */
const minAgeMs = 3_000;
const maxAgeErrorMs = 10_000;
const racesAtOnce = 5;
const writes = 12;
const deliveries = { oneAtATime: 10, together: 60, connections: 20 };
const maxDeletes = 16;

interface CheckedPart {
  name: string;
  /** `slow`: the bucket can be used, but deliveries wait for it. `skipped`: an earlier part failed, or the check was stopped. */
  outcome: "passed" | "slow" | "failed" | "skipped";
  details: string;
}

export interface BucketReport {
  /** The URL of the inbox, without credentials. */
  inbox: string;
  verdict: "passed" | "failed";
  parts: CheckedPart[];
  latencyMs: Record<string, { p50: number; p99: number }>;
  /** Requests to the bucket for each delivery that is accepted and run. */
  requestsPerDelivery?: { oneAtATime: number; together: number };
  /** The number of objects that the check could not remove, and their prefix in the bucket. */
  remaining: { objects: number; prefix: string };
}

interface CheckBucketOptions {
  url: string;
  log: Logger;
  readVariable: ReadVariable;
  /** Stops the check. Its objects are then removed. */
  signal: AbortSignal;
  wait?: (ms: number) => Promise<void>;
  /** The number of keys for which several conditional writes compete. Default `30`. */
  races?: number;
}

/**
 * Checks in less than a minute whether a bucket can be used for an inbox: the permissions of the access key, conditional writes under a
 * race, whether reads and lists are current, the latency, and the deliveries of a temporary inbox. All objects are below
 * `check/` and are removed. An inbox at the same URL is not affected.
 *
 * @throws `OPTION_INVALID` if the URL is invalid, `INBOX_UNUSABLE` if there is no access key.
 */
export async function checkBucket({
  url,
  log,
  readVariable,
  signal,
  wait = (ms) => delay(ms),
  races = 30,
}: CheckBucketOptions): Promise<BucketReport> {
  const location = parseBucketUrl(url, readVariable);
  const credentials = readBucketCredentials(location.name, readVariable);
  const prefix = `${location.prefix}${checkPrefix}${crypto.randomUUID()}/`;
  const connection = { location: { ...location, prefix }, credentials, timeoutMs: requestTimeoutMs };
  const store = await openS3ObjectStore(connection);
  const ended = AbortSignal.any([signal, AbortSignal.timeout(maxCheckMs)]);
  const scope = createCheckedStore(store, { signal: ended, wait });
  const checked = await checkParts(scope, { log, races, signal: ended });
  return {
    inbox: store.name,
    verdict: checked.parts.some(({ outcome }) => outcome === "failed" || outcome === "skipped") ? "failed" : "passed",
    ...checked,
    remaining: { objects: await scope.removeAll(), prefix },
  };
}

/** Counts the requests to a store, and keeps what is stored, so that it can be removed. */
function createCheckedStore(
  store: ObjectStore,
  { signal, wait }: Required<Pick<CheckBucketOptions, "signal" | "wait">>,
) {
  /** The keys of all objects that were stored, except those that were removed. */
  const written = new Set<string>();
  /** The keys for which a conditional write has succeeded, until they are deleted. */
  const created = new Set<string>();
  const pending = new Set<Promise<unknown>>();
  const counts = {
    requests: 0,
    rejected: 0,
    /** The number of conditional writes that succeeded although an earlier one for the same key had succeeded. */
    doubled: 0,
  };

  async function send<Result>(request: () => Promise<Result>): Promise<Result> {
    // A refused request is not repeated.
    if (signal.aborted) throw new ObjectStoreError("The check was stopped.", { isRefused: true });
    counts.requests += 1;
    const sent = request();
    pending.add(sent);
    return sent.finally(() => pending.delete(sent));
  }

  async function remove(): Promise<void> {
    const keys = [...written].values();
    const removeSome = async () => {
      for (const key of keys) {
        await store.delete(key).then(
          () => written.delete(key),
          () => {},
        );
      }
    };
    await Promise.all(Array.from({ length: maxDeletes }, removeSome));
  }

  const checked: ObjectStore = {
    name: store.name,
    wait,
    async put(key, body, options) {
      written.add(key);
      const result = await send(() => store.put(key, body, options));
      if (!options?.ifAbsent) return result;
      if (result === "exists") counts.rejected += 1;
      else if (created.has(key)) counts.doubled += 1;
      else created.add(key);
      return result;
    },
    get: (key) => send(() => store.get(key)),
    list: (prefix, options) => send(() => store.list(prefix, options)),
    delete(key) {
      created.delete(key);
      return send(() => store.delete(key));
    },
  };
  return {
    ...checked,
    counts,
    /** Returns the number of objects that may remain. */
    async removeAll(): Promise<number> {
      await Promise.allSettled(pending);
      await Promise.race([remove(), delay(maxRemovalMs, undefined, { ref: false })]);
      return written.size;
    },
  };
}

type PartResult = string | Omit<CheckedPart, "name">;

async function checkParts(
  scope: ReturnType<typeof createCheckedStore>,
  { log, races, signal }: Required<Pick<CheckBucketOptions, "log" | "races" | "signal">>,
): Promise<Pick<BucketReport, "parts" | "latencyMs" | "requestsPerDelivery">> {
  const { counts } = scope;
  const parts: CheckedPart[] = [];
  const times = new Map<string, number[]>();
  let requestsPerDelivery: BucketReport["requestsPerDelivery"];
  /** Whether a request failed for another reason than a missing permission. */
  let isAway = false;

  async function part(
    name: string,
    run: () => Promise<PartResult>,
    { isTried = parts.every(({ outcome }) => outcome === "passed") } = {},
  ): Promise<void> {
    if (!isTried) {
      parts.push({ name, outcome: "skipped", details: "" });
      return;
    }
    try {
      const result = await run();
      parts.push({ name, ...(typeof result === "string" ? { outcome: "passed", details: result } : result) });
    } catch (error) {
      const { aborted, reason } = signal;
      const isLate = reason instanceof Error && reason.name === "TimeoutError";
      isAway = !(error instanceof ObjectStoreError && error.isRefused);
      const stopped = isLate ? `not finished after ${formatDuration(maxCheckMs)}` : "stopped";
      const details = aborted ? stopped : messageOf(error);
      parts.push({ name, outcome: aborted ? "skipped" : "failed", details });
    }
  }

  async function timed<Result>(request: string, run: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    const result = await run();
    times.set(request, [...(times.get(request) ?? []), performance.now() - startedAt]);
    return result;
  }

  async function race(): Promise<PartResult> {
    let finished = 0;
    for (const startedAt = performance.now(); finished < races && performance.now() - startedAt < maxPartMs; ) {
      // Waits for all races, so that none of them stores an object after the objects were removed.
      const started = Array.from({ length: racesAtOnce }, () => checkObjectStore(scope));
      await Promise.allSettled(started);
      await Promise.all(started);
      finished += racesAtOnce;
      if (counts.doubled > 0) return { outcome: "failed", details: "two conditional writes for one key succeeded" };
    }
    return `${finished} races of 8 writes for one key: always exactly one succeeded`;
  }

  async function readAfterWrites(): Promise<PartResult> {
    const outdated = { reads: 0, lists: 0 };
    const rejectedBefore = counts.rejected;
    let checked = 0;
    const startedAt = performance.now();
    for (let write = 0; write < writes && performance.now() - startedAt < maxPartMs; write += 1) {
      const key = `write/${write}`;
      for (const content of ["stored", "replaced", undefined]) {
        if (content === undefined) await timed("delete", () => scope.delete(key));
        else await timed("put", () => scope.put(key, bytesOf(content), { ifAbsent: content === "stored" }));
        const found = await timed("get", () => scope.get(key));
        const listed = await timed("list", () => scope.list("write/"));
        if ((found && new TextDecoder().decode(found.body)) !== content) outdated.reads += 1;
        if (listed.some((object) => object.key === key) !== (content !== undefined)) outdated.lists += 1;
        checked += 1;
      }
    }
    const rejected = counts.rejected - rejectedBefore;
    if (rejected > 0) return falselyRejected(rejected);
    if (outdated.reads + outdated.lists === 0) return `${checked} of ${checked} are current`;
    return {
      outcome: "failed",
      details: `${outdated.reads} of ${checked} reads and ${outdated.lists} of ${checked} lists were outdated`,
    };
  }

  async function deliver(): Promise<PartResult> {
    const rejectedBefore = counts.rejected;
    const inbox = await openBucketInbox({ store: scope, spaceId: undefined, takeOver: false, log, now: Date.now });
    const storedAfter: number[] = [];
    const run = new Map<string, () => void>();
    const send = async () => {
      const id = crypto.randomUUID();
      const { promise, resolve } = Promise.withResolvers<void>();
      run.set(id, resolve);
      const acceptedAt = performance.now();
      await inbox.accept({ id, endpoint: "check", body: JSON.stringify({ id }), receivedAt: new Date() });
      storedAfter.push(performance.now() - acceptedAt);
      await promise;
    };
    try {
      inbox.startWorker({
        endpoint: "check",
        concurrency: deliveries.connections,
        policy: { maxAttempts: 1, waitAfter: () => 0, totalWaitMs: 0 },
        retentionMs: maxCheckMs,
        run: async () => ({ status: "succeeded", result: undefined }),
        onAttemptStored: ({ id }) => run.get(id)?.(),
      });
      const first = counts.requests;
      const startedAt = performance.now();
      const isLate = () => performance.now() - startedAt > maxPartMs;
      while (storedAfter.length < deliveries.oneAtATime && !isLate()) await send();
      const [second, sent] = [counts.requests, storedAfter.length];
      const left = Array.from({ length: deliveries.together });
      await Promise.all(
        Array.from({ length: deliveries.connections }, async () => {
          do {
            left.pop();
            await send();
          } while (left.length > 0 && !isLate());
        }),
      );
      requestsPerDelivery = {
        oneAtATime: round((second - first) / sent),
        together: round((counts.requests - second) / (storedAfter.length - sent)),
      };
    } finally {
      await inbox.close(0);
    }
    // No other process writes to the temporary inbox.
    if (counts.rejected > rejectedBefore) return falselyRejected(counts.rejected - rejectedBefore);
    const { p50, p99 } = percentilesOf(storedAfter);
    const { oneAtATime, together } = requestsPerDelivery;
    return `${storedAfter.length} stored and run, stored after ${p50} ms (p50) and ${p99} ms (p99); requests per delivery: ${oneAtATime} one at a time, ${together} with ${deliveries.connections} at once`;
  }

  /** Another process takes over if the heartbeat of the owner is old, so the ages must be right. */
  async function readAge(storedAt: number): Promise<PartResult> {
    await scope.wait(Math.max(0, storedAt + minAgeMs - performance.now()));
    const elapsedMs = performance.now() - storedAt;
    const ageMs = (await scope.get("first"))?.ageMs ?? 0;
    const isRight = ageMs > 0 && Math.abs(ageMs - elapsedMs) < maxAgeErrorMs;
    const details = `an object was ${formatDuration(ageMs)} old ${formatDuration(elapsedMs)} after it was stored`;
    return { outcome: isRight ? "passed" : "failed", details };
  }

  function describeLatency(): PartResult {
    const latencies = Object.entries(latencyMs());
    const isSlow = latencies.some(([, { p99 }]) => p99 > maxQuickMs);
    const details = latencies
      .map(([request, { p50, p99 }]) => `${request} ${p50} ms (p50), ${p99} ms (p99)`)
      .join("; ");
    if (!isSlow) return details;
    return {
      outcome: "slow",
      details: `${details}. A takeover can take longer than 5 s if requests take longer than 1 s`,
    };
  }

  function latencyMs(): BucketReport["latencyMs"] {
    return Object.fromEntries([...times].map(([request, measured]) => [request, percentilesOf(measured)]));
  }

  await part("permission to put objects", () => scope.put("first", bytesOf("first")).then(() => ""));
  const storedAt = performance.now();
  // The access key needs all permissions, so each of them is tried.
  const requests = {
    get: () => scope.get("first"),
    list: () => scope.list(""),
    delete: () => scope.delete("missing"),
  };
  for (const [action, request] of Object.entries<() => Promise<unknown>>(requests)) {
    await part(`permission to ${action} objects`, () => request().then(() => ""), { isTried: !isAway });
  }
  await part("conditional writes", race);
  await part("reads and lists after writes", readAfterWrites);
  await part("deliveries", deliver);
  await part("ages of objects", () => readAge(storedAt));
  await part("latency", async () => describeLatency(), { isTried: times.size > 0 });
  return { parts, latencyMs: latencyMs(), ...(requestsPerDelivery && { requestsPerDelivery }) };
}

function falselyRejected(count: number): PartResult {
  return { outcome: "failed", details: `${count} conditional writes were rejected although no object had the key` };
}

function percentilesOf(times: readonly number[]): { p50: number; p99: number } {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
