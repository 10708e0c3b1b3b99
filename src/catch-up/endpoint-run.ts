import { HubError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { HubClient } from "../hub/client.ts";
import type { DiscussionSummary } from "../hub/repositories/discussions.ts";
import type { Cursors, Inbox } from "../inbox/inbox.ts";
import { derivedIdPrefix, parsePayload } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import { formatWatched, type WatchedItem, type WebhookDomain } from "../payload/watch.ts";
import { type AcceptedChanges, AcceptedDeliveries } from "./accepted.ts";
import type { CallBudget } from "./call-budget.ts";
import { findMissedChanges, type MissedChange, ownerOf, type PresentState, payloadOf } from "./changes.ts";
import { keyOf } from "./covered.ts";
import {
  type CoveredChange,
  coveredMs,
  cursorKeys,
  type EndpointCursor,
  type RefChange,
  type RepositoryCursor,
  readCoveredChanges,
  readEndpointCursor,
  readRepositoryCursor,
  remember,
} from "./cursor.ts";
import { type ListedRepository, StateReader } from "./repository-state.ts";

/** An endpoint whose missed deliveries are derived. */
export interface CatchUpTarget {
  endpoint: string;
  watch: readonly WatchedItem[];
  domains: readonly WebhookDomain[];
  /** Where the first run starts: at the present state, at the beginning, or at a time. */
  since: "now" | "all" | Date;
}

export interface CatchUpOptions {
  hub: HubClient;
  /** Accepts a derived delivery like one of the Hub. `ignored`: the filter of the endpoint does not match. */
  accept: (
    target: CatchUpTarget,
    delivery: { id: string; body: string; dryRun: boolean },
  ) => Promise<"accepted" | "duplicate" | "ignored">;
  budget: CallBudget;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** The part of an inbox that catch-up uses. What it derives is accepted by the server. */
export type ReadInbox = Pick<Inbox, "list" | "get" | "cursors">;

/** What a run has done. */
export interface CatchUpReport {
  /** Whether another process was catching up, so that this run did nothing. */
  isElsewhere: boolean;
  repositories: number;
  /** The number of repositories to compare. */
  total: number;
  /** The number of repositories that could not be read. The next run reads them again. */
  failed: number;
  /** The number of calls to the Hub. */
  calls: number;
  /** The derived deliveries, without those that the filter ignores. */
  derived: DerivedDelivery[];
}

export interface DerivedDelivery {
  id: string;
  scope: string;
  action: string;
  /** As `type:name`. */
  repository: string;
  /** Only for `repo.content`. */
  updatedRefs?: readonly RefChange[] | undefined;
}

/** The number of repositories after which the progress of a run is logged. */
const reportEvery = 100;
/** How long before the last read the deliveries are read again: a delivery can be stored some time after it arrived. */
const overlapMs = 2 * 60_000;

interface RunParts extends CatchUpOptions {
  target: CatchUpTarget;
  inbox: ReadInbox;
  cursors: Cursors;
  signal: AbortSignal;
  dryRun: boolean;
  report: CatchUpReport;
  /** See `StateReader`. */
  ranges: Map<string, readonly string[]>;
  /** See `RunOptions`. */
  since: CatchUpTarget["since"] | undefined;
}

/** A repository to compare. `isFirst`: whether the watched item that contains it has no cursors yet. */
interface FoundRepository {
  repository: ListedRepository;
  isFirst: boolean;
}

/** A derived delivery before it is accepted. */
interface DerivedPayload {
  id: string;
  body: string;
  payload: WebhookPayload;
}

/** One run for one endpoint. */
export class EndpointRun {
  readonly #parts: RunParts;
  readonly #reader: StateReader;
  readonly #startedAt: number;
  /** When the accepted deliveries were last read. */
  #readAt: number;
  readonly #stored: ReadonlyMap<string, string>;
  readonly #endpoint: EndpointCursor | undefined;
  readonly #accepted: AcceptedDeliveries;
  readonly #unfinished = new Map<string, number>();
  readonly #seen = new Set<string>();

  static async open(parts: RunParts): Promise<EndpointRun> {
    const { cursors, target, inbox, now } = parts;
    const startedAt = now();
    const stored = await cursors.list(target.endpoint);
    const endpoint = readEndpointCursor(stored.get(cursorKeys.endpoint));
    const accepted = new AcceptedDeliveries(target.endpoint, inbox);
    if (!endpoint && !parts.dryRun) {
      // If the first run is interrupted, the next one needs the deliveries since its start.
      const first: EndpointCursor = { ranAt: startedAt, watched: [], unfinished: {} };
      await cursors.set(target.endpoint, new Map([[cursorKeys.endpoint, JSON.stringify(first)]]));
    }
    const { ranAt = startedAt, unfinished = {} } = endpoint ?? {};
    const start = parts.since ?? (endpoint ? undefined : target.since);
    const since = start instanceof Date ? start.getTime() : start === "all" ? overlapMs : startedAt;
    // The clock can have been set back.
    await accepted.read(new Date(Math.min(startedAt, since, ranAt, ...Object.values(unfinished)) - overlapMs));
    return new EndpointRun(parts, { startedAt, stored, endpoint, accepted });
  }

  private constructor(
    parts: RunParts,
    read: {
      startedAt: number;
      stored: ReadonlyMap<string, string>;
      endpoint: EndpointCursor | undefined;
      accepted: AcceptedDeliveries;
    },
  ) {
    const { hub, budget, signal, report, ranges } = parts;
    this.#parts = parts;
    this.#startedAt = read.startedAt;
    this.#readAt = read.startedAt;
    this.#stored = read.stored;
    this.#endpoint = read.endpoint;
    this.#accepted = read.accepted;
    const beforeCall = async () => {
      await budget.take(signal);
      report.calls += 1;
    };
    this.#reader = new StateReader({ hub, signal, beforeCall, ranges, onHeaders: (headers) => budget.adopt(headers) });
  }

  /** Returns the repositories to compare, each once. */
  async list(): Promise<readonly FoundRepository[]> {
    const { target, report } = this.#parts;
    const found: FoundRepository[] = [];
    for (const watched of target.watch) {
      const [text = ""] = formatWatched([watched]);
      const isFirst = !this.#endpoint?.watched.includes(text);
      for await (const repository of this.#reader.repositories(watched)) {
        if (this.#seen.has(repository.id)) continue;
        this.#seen.add(repository.id);
        found.push({ repository, isFirst });
      }
    }
    report.total = found.length;
    return found;
  }

  /** Derives and accepts what the endpoint missed of a repository. A repository that cannot be read is left to the next run. */
  async compare(found: FoundRepository): Promise<void> {
    const { report, log, target, signal } = this.#parts;
    const { repository } = found;
    report.repositories += 1;
    if (report.repositories % reportEvery === 0) {
      const { repositories, total, calls } = report;
      log.info({ endpoint: target.endpoint, repositories, total, calls }, "Catch-up is comparing many repositories.");
    }
    try {
      await this.#compare(found);
    } catch (error) {
      if (signal.aborted || !isAboutRepository(error)) throw error;
      report.failed += 1;
      this.#leave(repository.id);
      log.warn(
        { err: error, endpoint: target.endpoint, repository: `${repository.type}:${repository.name}` },
        "Catch-up could not read a repository. The next run reads it again.",
      );
    }
  }

  /** Leaves a repository to the next run, which then needs the deliveries since the last complete one. */
  #leave(id: string): void {
    const { unfinished = {}, ranAt = this.#startedAt } = this.#endpoint ?? {};
    const since = unfinished[id] ?? ranAt;
    if (since > this.#startedAt - coveredMs) this.#unfinished.set(id, since);
  }

  async #compare({ repository: listed, isFirst }: FoundRepository): Promise<void> {
    let repository = listed;
    const { target, cursors, dryRun, now, since } = this.#parts;
    const stored = readRepositoryCursor(this.#stored.get(cursorKeys.repository(repository.id)));
    const isEarlier = since === "all" || (since instanceof Date && since.getTime() < (this.#endpoint?.ranAt ?? 0));
    const known = isEarlier ? undefined : stored;
    const isNew = !stored && !isFirst && this.#isCreatedLater(repository);
    const start = since ?? target.since;
    const compared = known?.compared ?? (start === "now" && !isNew ? "all" : []);
    let accepted = await this.#acceptedOf(repository, compared);
    let present = await this.#readPresent(repository, known, accepted);
    const cursor = known ?? (isNew ? undefined : await this.#firstCursor(present, { since: start, stored }));
    const hasRepoEvents = target.domains.includes("repo");
    const find = () =>
      findMissedChanges({
        ...{ cursor, present, accepted, hasRepoEvents },
        readDiscussion: (num) => this.#reader.discussion(repository, num),
        ownerId: (name) => this.#reader.ownerId(name),
      });
    let missed = await find();
    // The list can be older than the refs. If a force push restores its commit, the next list must not look as if nothing has changed.
    let isListCurrent = accepted.refs.size === 0;
    if (missed.length > 0) {
      // Deliveries that arrived after the last read. Those that arrive from now on wait until the comparison has ended.
      const lastReadAt = this.#readAt;
      this.#readAt = now();
      await this.#accepted.read(new Date(Math.min(lastReadAt, this.#readAt) - overlapMs));
      accepted = await this.#acceptedOf(repository, compared);
      // Otherwise, a delivery can contain a later state.
      const latest = await this.#reader.repository(repository);
      if (latest?.id !== repository.id) return this.#leave(repository.id);
      repository = latest;
      present = await this.#readPresent(repository, known, accepted);
      missed = await find();
      // After two repositories were renamed, the name can be that of the other one.
      const after = await this.#reader.repository(repository);
      if (after?.id !== repository.id) return this.#leave(repository.id);
      isListCurrent = after.lastModified === latest.lastModified;
    }
    const first = Math.max(stored?.derived ?? 0, accepted.derived);
    const deliveries = await this.#derive(missed, { present, first });
    await this.#remember(deliveries, repository.id, accepted);
    await this.#accept(deliveries);
    if (dryRun) return;
    // The next run finds out how it has ended, or whether its change was derived.
    if (accepted.openSince !== undefined && accepted.openSince > this.#startedAt - coveredMs) {
      this.#unfinished.set(repository.id, Math.min(this.#startedAt, accepted.openSince + overlapMs));
    }
    const ids = [...accepted.ids, ...deliveries.map(({ id }) => id)];
    const next = nextCursor({ cursor, present, compared: ids, derived: first + deliveries.length });
    const text = JSON.stringify(isListCurrent ? next : { ...next, lastModified: undefined });
    const key = cursorKeys.repository(repository.id);
    if (text !== this.#stored.get(key)) await cursors.set(target.endpoint, new Map([[key, text]]));
  }

  /** Whether a repository without a cursor was created since the last run. An older one could not be read before. */
  #isCreatedLater({ id, createdAt }: ListedRepository): boolean {
    if (!this.#endpoint) return false;
    const { ranAt, unfinished } = this.#endpoint;
    // The clocks of the Hub and of this machine differ, and a list can be older than its request.
    return !(createdAt !== undefined && Date.parse(createdAt) <= (unfinished[id] ?? ranAt) - overlapMs);
  }

  #acceptedOf(
    repository: ListedRepository,
    compared: Parameters<AcceptedDeliveries["changesOf"]>[1]["compared"],
  ): Promise<AcceptedChanges> {
    const { id } = repository;
    return this.#accepted.changesOf(id, {
      compared,
      readCovered: () => this.#readCovered(id),
      listCommits: (range) => this.#reader.commitRange(repository, range),
    });
  }

  async #readCovered(repositoryId: string): Promise<readonly CoveredChange[]> {
    const { cursors, target } = this.#parts;
    return readCoveredChanges(await cursors.get(target.endpoint, cursorKeys.covered(repositoryId)));
  }

  async #readPresent(
    repository: ListedRepository,
    known: RepositoryCursor | undefined,
    accepted: AcceptedChanges,
  ): Promise<PresentState> {
    const { domains } = this.#parts.target;
    const isUnchanged =
      known?.refs !== undefined &&
      known.lastModified !== undefined &&
      known.lastModified === repository.lastModified &&
      accepted.refs.size === 0 &&
      !this.#isWatchedByName(repository);
    const refs = domains.includes("repo") && !isUnchanged ? await this.#reader.refs(repository) : undefined;
    const discussions = domains.includes("discussion") ? await this.#reader.discussions(repository) : undefined;
    return { repository, refs, discussions };
  }

  /** Whether all refs of a repository are read in each run. Lists only show when the main branch changed. */
  #isWatchedByName({ type, name }: ListedRepository): boolean {
    return this.#parts.target.watch.some((watched) => watched.type === type && isSameText(watched.name, name));
  }

  /**
   * Returns the state from which the first run of a watched item derives deliveries, or a later one that starts earlier than the last.
   * What the Hub shows without a time, such as the name, starts with the stored state.
   */
  async #firstCursor(
    present: PresentState,
    { since, stored }: { since: CatchUpTarget["since"]; stored: RepositoryCursor | undefined },
  ): Promise<RepositoryCursor> {
    const { repository } = present;
    if (since === "now") return nextCursor({ cursor: undefined, present, compared: [], derived: 0 });
    const start = stored ?? nextCursor({ cursor: undefined, present: { repository }, compared: [], derived: 0 });
    const refs: Record<string, string> = {};
    for (const [ref, commit] of present.refs ?? []) {
      if (since === "all") break;
      const before = await this.#reader.commitBefore(repository, { revision: commit, time: since });
      if (before !== undefined) refs[ref] = before;
    }
    const discussions: RepositoryCursor["discussions"] = {};
    for (const { num, createdAt, status, title, numComments } of present.discussions ?? []) {
      if (since === "all" || Date.parse(createdAt) > since.getTime()) continue;
      discussions[num] = stored?.discussions?.[num] ?? { status, title, comments: numComments };
    }
    return { ...start, refs: present.refs && refs, discussions: present.discussions && discussions };
  }

  /** Creates the deliveries of missed changes, numbered after `first`. */
  async #derive(
    missed: readonly MissedChange[],
    { present, first }: { present: PresentState; first: number },
  ): Promise<DerivedPayload[]> {
    if (missed.length === 0) return [];
    const { repository, refs } = present;
    const { hubUrl } = this.#parts.hub;
    const ownerId = await this.#reader.ownerId(ownerOf(repository.name));
    const subject = { repository, headSha: refs?.get("refs/heads/main"), ownerId, hubUrl };
    const derive = async (change: MissedChange, index: number) => {
      const body = JSON.stringify(payloadOf(change, subject));
      const id = `${derivedIdPrefix}${first + index + 1}-${await shortHash(body)}`;
      return { id, body, payload: parsePayload(JSON.parse(body)) };
    };
    return Promise.all(missed.map(derive));
  }

  /** Accepts derived deliveries in their order. */
  async #accept(deliveries: readonly DerivedPayload[]): Promise<void> {
    const { accept, target, report, dryRun } = this.#parts;
    for (const { id, body, payload } of deliveries) {
      const { event, repo, updatedRefs } = payload;
      if ((await accept(target, { id, body, dryRun })) !== "accepted") continue;
      report.derived.push({ id, ...event, repository: `${repo.type}:${repo.name}`, updatedRefs });
    }
  }

  /** Call this method before the changes are accepted, so that a late delivery does not run too if this process crashes in between. */
  async #remember(
    deliveries: readonly DerivedPayload[],
    repositoryId: string,
    accepted: AcceptedChanges,
  ): Promise<void> {
    const { cursors, target, now, dryRun } = this.#parts;
    if (dryRun || (deliveries.length === 0 && !accepted.undoes)) return;
    const covered = accepted.covered ?? (await this.#readCovered(repositoryId));
    const at = now();
    const added = deliveries.flatMap(({ payload }): CoveredChange[] => {
      if (payload.updatedRefs) return payload.updatedRefs.map((ref) => ({ at, ref }));
      const changed = keyOf(payload);
      return changed === undefined ? [] : [{ at, key: changed }];
    });
    const text = JSON.stringify(remember(covered, added, at));
    await cursors.set(target.endpoint, new Map([[cursorKeys.covered(repositoryId), text]]));
  }

  /** Stores that all repositories were compared. */
  async finish(): Promise<void> {
    const { cursors, target, dryRun } = this.#parts;
    if (dryRun) return;
    for (const key of this.#stored.keys()) {
      const [, id] = /^repository (.*)$/.exec(key) ?? [];
      if (id !== undefined && !this.#seen.has(id)) this.#leave(id);
    }
    const cursor: EndpointCursor = {
      ranAt: this.#startedAt,
      watched: [...formatWatched(target.watch)],
      unfinished: Object.fromEntries(this.#unfinished),
    };
    await cursors.set(target.endpoint, new Map([[cursorKeys.endpoint, JSON.stringify(cursor)]]));
  }
}

function nextCursor({
  cursor,
  present: { repository, refs, discussions },
  compared,
  derived,
}: {
  cursor: RepositoryCursor | undefined;
  present: PresentState;
  compared: string[];
  derived: number;
}): RepositoryCursor {
  const { type, name, isPrivate, lastModified } = repository;
  return {
    ...{ type, name, isPrivate, compared, derived },
    ...(lastModified !== undefined && { lastModified }),
    refs: refs ? Object.fromEntries(refs) : cursor?.refs,
    // A list can change while its pages are read, so a discussion can be missing.
    discussions: discussions
      ? { ...cursor?.discussions, ...Object.fromEntries(discussions.map(toKnown)) }
      : cursor?.discussions,
  };
}

function toKnown({ num, status, title, numComments }: DiscussionSummary) {
  return [num, { status, title, comments: numComments }] as const;
}

/** Whether an error concerns one repository. If the Hub is down or refuses the token, the next repository fails too. */
function isAboutRepository(error: unknown): boolean {
  if (!HubError.isInstance(error)) return false;
  return (
    error.status === 403 ||
    error.status === 404 ||
    error.code === "HUB_RESPONSE_INVALID" ||
    error.code === "HUB_REFUSED"
  );
}

function isSameText(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

async function shortHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
