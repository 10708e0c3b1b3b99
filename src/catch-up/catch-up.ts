import { WebhookError } from "../core/errors.ts";
import { untilAborted } from "../core/time.ts";
import type { Cursors } from "../inbox/inbox.ts";
import { derivedIdPrefix } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import { type Coverage, uncoveredPart } from "./covered.ts";
import { cursorKeys, readCoveredChanges, readRepositoryCursor } from "./cursor.ts";
import {
  type CatchUpOptions,
  type CatchUpReport,
  type CatchUpTarget,
  EndpointRun,
  type ReadInbox,
} from "./endpoint-run.ts";
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

/** How long a process has the right to derive deliveries without renewing it. */
export const claimMs = 2 * 60_000;

/**
 * Derives the deliveries that an endpoint missed, from the state that the Hub publishes.
 *
 * A cursor per endpoint and repository contains the state up to which the endpoint was informed. It only advances here: what the Hub
 * delivered in the meantime is read from the inbox, so that accepting a delivery costs nothing more. The ID of a derived delivery
 * depends only on its content, so that a run after a crash derives a duplicate, which the inbox recognizes.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  /** Identifies this process when it claims the right to derive deliveries. */
  readonly #holder = crypto.randomUUID();
  /** The last turn of each endpoint and repository: see {@link #takeTurn}. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #ranges = new Map<string, readonly string[]>();

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
    const cursors = cursorsOf(inbox);
    const report: CatchUpReport = { isElsewhere: false, repositories: 0, total: 0, failed: 0, calls: 0, derived: [] };
    const claim = (forMs: number): Promise<boolean> =>
      dryRun ? Promise.resolve(true) : cursors.claim({ key: target.endpoint, holder: this.#holder, forMs });
    let hasClaim = await claim(claimMs);
    if (!hasClaim) return { ...report, isElsewhere: true };
    // Renewed by a timer, because a run can wait for minutes until the rate limit allows another call.
    const renewing = setInterval(async () => {
      hasClaim = await claim(claimMs).catch(() => false);
    }, claimMs / 4);
    try {
      const ranges = this.#ranges;
      const parts = { ...this.#options, target, inbox, cursors, signal, dryRun, report, ranges, since };
      const run = await EndpointRun.open(parts);
      for (const found of await run.list()) {
        signal.throwIfAborted();
        // Another process has taken over, because this one was suspended for a long time.
        if (!hasClaim) return { ...report, isElsewhere: true };
        onProgress?.(report);
        await this.#takeTurn(`${target.endpoint} ${found.repository.id}`, signal, () => run.compare(found));
      }
      await run.finish();
      onProgress?.(report);
      return report;
    } finally {
      clearInterval(renewing);
      await claim(0).catch(() => {});
    }
  }

  /** Returns what a delivery of the Hub changes that catch-up has not derived: see {@link uncoveredPart}. */
  async uncovered(
    { endpoint, payload, id }: { endpoint: string; payload: WebhookPayload; id: string },
    inbox: ReadInbox,
    signal: AbortSignal,
  ): Promise<Coverage["part"]> {
    const { cursors } = inbox;
    if (id.startsWith(derivedIdPrefix) || !cursors) return "all";
    const { repo } = payload;
    return this.#takeTurn(`${endpoint} ${repo.id}`, signal, async () => {
      const key = cursorKeys.covered(repo.id);
      const known = readCoveredChanges(await cursors.get(endpoint, key));
      if (known.length === 0) return "all";
      const cursor = readRepositoryCursor(await cursors.get(endpoint, cursorKeys.repository(repo.id)));
      if (cursor?.compared.includes(id)) return "all";
      const { hub, budget } = this.#options;
      const reader = new StateReader({
        ...{ hub, signal, ranges: this.#ranges },
        beforeCall: () => budget.take(signal),
        onHeaders: (headers) => budget.adopt(headers),
      });
      const { part, covered } = await uncoveredPart(payload, known, (range) => reader.commitRange(repo, range));
      if (covered !== known) await cursors.set(endpoint, new Map([[key, JSON.stringify(covered)]]));
      return part;
    });
  }

  /** Waits for the turns that were taken before: a comparison and the decisions about deliveries need what the others have stored. */
  async #takeTurn<Result>(key: string, signal: AbortSignal, take: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(key);
    const turn = before ? untilAborted(before, signal).then(take) : take();
    // A turn whose wait was aborted does not let the next one overtake the one before.
    const settled: Promise<void> = Promise.allSettled([before, turn]).then(() => {
      if (this.#turns.get(key) === settled) this.#turns.delete(key);
    });
    this.#turns.set(key, settled);
    return await turn;
  }
}

function cursorsOf({ cursors }: ReadInbox): Cursors {
  if (cursors) return cursors;
  throw new WebhookError(
    "The inbox cannot store what catch-up has seen of the Hub. Add `cursors` to your inbox, use a built-in inbox, or remove `catchUp` and `poll`.",
    { code: "INBOX_UNUSABLE" },
  );
}
