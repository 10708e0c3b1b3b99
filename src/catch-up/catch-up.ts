import { WebhookError } from "../core/errors.ts";
import { untilAborted } from "../core/time.ts";
import type { Cursors } from "../inbox/inbox.ts";
import { derivedIdPrefix } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import { uncoveredPart } from "./covered.ts";
import {
  type CatchUpTarget,
  type Coverage,
  type CoverageStore,
  changeCoverage,
  cursorKeys,
  type DeliveryPart,
  idOf,
  readCoverage,
  readRepositoryCursor,
  recheckMs,
  rememberPart,
} from "./cursor.ts";
import { type CatchUpOptions, type CatchUpReport, EndpointRun, type ReadInbox } from "./endpoint-run.ts";
import { StateReader } from "./repository-state.ts";

export interface RunOptions {
  signal: AbortSignal;
  /** Where the comparison starts if that is earlier than the end of the last run. */
  since?: CatchUpTarget["since"] | undefined;
  /** Called before each comparison, and at the end. */
  onProgress?: ((report: CatchUpReport) => void) | undefined;
  /** Whether to only report what would be derived. Cursors do not change. */
  dryRun?: boolean;
}

export interface DecidedDelivery {
  endpoint: string;
  payload: WebhookPayload;
  id: string;
  receivedAt: Date;
}

/** How long a claim lasts without being renewed. */
export const claimMs = 2 * 60_000;
/** A delivery waits for the comparison of its repository, which can take several windows of the rate limit. */
const maxWaitMs = 15 * 60_000;
/** The maximum time for the calls of a decision. */
const maxCallsMs = 30_000;

/**
 * Derives the deliveries that an endpoint missed, from the state that the Hub publishes.
 *
 * A cursor per endpoint and repository contains the state up to which the endpoint was informed. It only advances here: what the Hub
 * delivered in the meantime is read from the inbox, so that accepting a delivery costs nothing more. What is derived is stored with the
 * cursor, and then accepted. After a crash in between, the next run accepts it again, and the inbox recognizes duplicates by their IDs.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #holder = crypto.randomUUID();
  /** The last turn of each endpoint and repository: see {@link #takeTurn}. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #ranges = new Map<string, readonly string[]>();
  readonly #comparing = new Set<string>();

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /**
   * Derives and accepts what an endpoint missed since the last run.
   *
   * @throws `INBOX_UNUSABLE` if the inbox keeps no cursors, errors of the Hub that concern all repositories, and errors of the inbox.
   */
  async run(target: CatchUpTarget, inbox: ReadInbox, options: RunOptions): Promise<CatchUpReport> {
    const { signal, since, onProgress, dryRun = false } = options;
    const { now } = this.#options;
    const cursors = cursorsOf(inbox);
    const report: CatchUpReport = { isElsewhere: false, repositories: 0, total: 0, failed: 0, calls: 0, derived: [] };
    const claim = (forMs: number): Promise<boolean> =>
      dryRun ? Promise.resolve(true) : cursors.claim({ key: target.endpoint, holder: this.#holder, forMs });
    let claimedUntil = Number.POSITIVE_INFINITY;
    // By the clock, because a process that was suspended learns later that another one has taken over. What it has read is old then, so
    // it does not go on even if it could claim again.
    const hasClaim = () => now() < claimedUntil;
    const renew = async () => {
      if (!hasClaim()) return;
      const from = now();
      claimedUntil = (await claim(claimMs)) ? from + claimMs : 0;
    };
    await renew();
    if (!hasClaim()) return { ...report, isElsewhere: true };
    // Renewed by a timer, because a run can wait for minutes until the rate limit allows another call.
    const renewing = setInterval(() => void renew().catch(() => {}), claimMs / 4);
    if (!dryRun) this.#comparing.add(target.endpoint);
    try {
      const run = await EndpointRun.open({
        ...this.#options,
        ...{ target, inbox, cursors, hasClaim, signal, dryRun, report, since },
        ...{ holder: this.#holder, ranges: this.#ranges },
      });
      for (const found of await run.list()) {
        signal.throwIfAborted();
        // Another process has taken over, because this one was suspended for a long time.
        if (!hasClaim()) return { ...report, isElsewhere: true };
        onProgress?.(report);
        await this.#takeTurn(`${target.endpoint} ${found.repository.id}`, signal, () => run.compare(found));
      }
      if (!hasClaim()) return { ...report, isElsewhere: true };
      await run.finish();
      onProgress?.(report);
      return report;
    } finally {
      clearInterval(renewing);
      if (!dryRun) this.#comparing.delete(target.endpoint);
      await claim(0).catch(() => {});
    }
  }

  /** See {@link uncoveredPart}. @throws the abort reason of the signal, and a `TimeoutError` if a comparison or the Hub takes too long. */
  async uncovered(
    { endpoint, payload, id, receivedAt }: DecidedDelivery,
    inbox: ReadInbox,
    signal: AbortSignal,
  ): Promise<"all" | "nothing" | DeliveryPart> {
    const { cursors } = inbox;
    if (id.startsWith(derivedIdPrefix) || !cursors) return "all";
    const { repo } = payload;
    const repositoryId = idOf(repo);
    const { hub, budget, wait } = this.#options;
    return this.#takeTurn(`${endpoint} ${repositoryId}`, signal, async () => {
      const store = { cursors, endpoint, repositoryId, wait, signal };
      for (;;) {
        const { text, coverage } = await this.#coverageOf(store);
        const { changes, parts } = coverage;
        if (changes.length === 0) return "all";
        if (parts[id]) return parts[id];
        const cursor = readRepositoryCursor(await cursors.get(endpoint, cursorKeys.repository(repositoryId)));
        if (cursor?.compared.includes(id)) return "all";
        const calling = AbortSignal.any([signal, AbortSignal.timeout(maxCallsMs)]);
        const reader = new StateReader({ hub, budget, signal: calling, ranges: this.#ranges });
        const { part, covered } = await uncoveredPart({ payload, receivedAt: receivedAt.getTime() }, changes, (range) =>
          reader.commitRange(repo, range),
        );
        const isPart = typeof part === "object";
        if (!isPart && covered === changes) return part;
        const next: Coverage = { changes: [...covered], parts: isPart ? rememberPart(parts, id, part) : parts };
        // Otherwise, another process has started to derive deliveries meanwhile.
        if (await changeCoverage(store, (_, present) => (present === text ? next : undefined))) return part;
      }
    });
  }

  /**
   * Reads the coverage of a repository when no other process derives deliveries of it. A process announces that before it reads the inbox
   * the last time. A decision that does not see this concerns a delivery that the process then reads, and is the same as that of the
   * process. A later decision uses what the process has stored.
   */
  async #coverageOf(store: CoverageStore): Promise<{ text: string | undefined; coverage: Coverage }> {
    const { cursors, endpoint, repositoryId, wait, signal } = store;
    const key = cursorKeys.coverage(repositoryId);
    let waiting: AbortSignal | undefined;
    for (;;) {
      const text = await cursors.get(endpoint, key);
      const { comparing, ...coverage } = readCoverage(text);
      // In this process, a comparison has its turn before or after.
      if (comparing === undefined || comparing === this.#holder) return { text, coverage };
      // Without the claim, the other process has crashed or was suspended. It must not go on with what it has read.
      const claim = { key: endpoint, holder: this.#holder, forMs: 0 };
      if (this.#comparing.has(endpoint) || (await cursors.claim(claim))) {
        await changeCoverage(store, (_, present) => (present === text ? coverage : undefined));
        continue;
      }
      waiting ??= withMaxWait(signal);
      await wait(recheckMs, waiting);
    }
  }

  /** Waits for the turns that were taken before: a comparison and the decisions about deliveries need what the others have stored. */
  async #takeTurn<Result>(key: string, signal: AbortSignal, take: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(key);
    const turn = before ? untilAborted(before, withMaxWait(signal)).then(take) : take();
    // A turn whose wait was aborted does not let the next one overtake the one before.
    const settled: Promise<void> = Promise.allSettled([before, turn]).then(() => {
      if (this.#turns.get(key) === settled) this.#turns.delete(key);
    });
    this.#turns.set(key, settled);
    return await turn;
  }
}

function withMaxWait(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
}

function cursorsOf({ cursors }: ReadInbox): Cursors {
  if (cursors) return cursors;
  throw new WebhookError(
    "The inbox cannot store what catch-up has seen of the Hub. Add `cursors` to your inbox, use a built-in inbox, or remove `catchUp` and `poll`.",
    { code: "INBOX_UNUSABLE" },
  );
}
