import { createHash } from "node:crypto";
import { HubError, WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { HubClient } from "../hub/client.ts";
import type { Cursors, Inbox } from "../inbox/inbox.ts";
import { derivedIdPrefix, parsePayload } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import { formatWatched } from "../payload/watch.ts";
import { type AcceptedChanges, type AcceptedDeliveries, createAcceptedDeliveries } from "./accepted.ts";
import { fileState } from "./bucket-state.ts";
import type { CallBudget } from "./call-budget.ts";
import { findMissedChanges, type MissedChange, ownerOf, type PresentState, payloadOf } from "./changes.ts";
import { keyOf } from "./covered.ts";
import {
  type CatchUpTarget,
  type Coverage,
  type CoverageStore,
  type CoveredChange,
  changeCoverage,
  coveredMs,
  cursorKeys,
  type EndpointCursor,
  type RefChange,
  readCoverage,
  readEndpointCursor,
  readRepositoryCursor,
  readUnaccepted,
  remember,
} from "./cursor.ts";
import { createRepositoryCursors } from "./repository-cursors.ts";
import { type ListedRepository, StateReader } from "./repository-state.ts";

export interface CatchUpOptions {
  hub: HubClient;
  /** Accepts a derived delivery like one of the Hub. `ignored`: the filter of the endpoint does not match. */
  accept: (
    target: CatchUpTarget,
    delivery: { id: string; body: string; dryRun: boolean },
  ) => Promise<"accepted" | "duplicate" | "ignored">;
  budget: CallBudget;
  log: Logger;
  now: () => number;
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The part of an inbox that catch-up uses. What it derives is accepted by the server. */
export type ReadInbox = Pick<Inbox, "list" | "get" | "cursors" | "bucket">;

/** What a run has done. */
export interface CatchUpReport {
  /** Whether another process was catching up, so that this run did nothing. */
  isElsewhere: boolean;
  repositories: number;
  /** The number of repositories to compare. */
  total: number;
  /** The number of repositories that could not be read. The next run reads them again. */
  failed: number;
  /** The last failure of the Hub that can concern one repository alone. The next run should follow soon. */
  failure?: unknown;
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
  /** Only for `repo.content` of a bucket. */
  updatedFiles?: WebhookPayload["updatedFiles"];
}

/** The number of repositories after which the progress of a run is logged. */
const reportEvery = 100;
/** How long before the last read the deliveries are read again: a delivery can be stored some time after it arrived. */
const overlapMs = 2 * 60_000;

interface RunParts extends CatchUpOptions {
  target: CatchUpTarget;
  inbox: ReadInbox;
  cursors: Cursors;
  holder: string;
  /** Whether this process may still derive deliveries. */
  hasClaim: () => boolean;
  signal: AbortSignal;
  dryRun: boolean;
  report: CatchUpReport;
  ranges: Map<string, readonly string[]>;
  since: CatchUpTarget["since"] | undefined;
}

interface RunStart {
  startedAt: number;
  stored: ReadonlyMap<string, string>;
  endpoint: EndpointCursor | undefined;
  accepted: AcceptedDeliveries;
}

/** A repository to compare. `isFirst`: whether the watched item that contains it has no cursors yet. */
interface FoundRepository {
  repository: ListedRepository;
  isFirst: boolean;
}

interface ComparedRepository {
  repositoryId: string;
  accepted: AcceptedChanges;
  isReplaced: boolean;
  /** The changed cursor. */
  texts: readonly (readonly [string, string])[];
}

interface DerivedPayload {
  id: string;
  body: string;
  payload: WebhookPayload;
}

export class EndpointRun {
  readonly #parts: RunParts;
  readonly #start: RunStart;
  readonly #reader: StateReader;
  readonly #repositoryCursors: ReturnType<typeof createRepositoryCursors>;
  /** When the accepted deliveries were last read. */
  #readAt: number;
  readonly #unfinished = new Map<string, number>();
  readonly #seen = new Set<string>();
  /** The ID of the repository that this process has announced to derive deliveries of. */
  #announced: string | undefined;
  /** The number of the last repository for which the Hub has failed. */
  #failedAt: number | undefined;

  static async open(parts: RunParts): Promise<EndpointRun> {
    const { cursors, target, inbox, now } = parts;
    const startedAt = now();
    const stored = await cursors.list(target.endpoint);
    await acceptStored(parts, readUnaccepted(stored.get(cursorKeys.unaccepted)) ?? []);
    const endpoint = readEndpointCursor(stored.get(cursorKeys.endpoint));
    const accepted = createAcceptedDeliveries(target.endpoint, inbox);
    if (!endpoint && !parts.dryRun && parts.hasClaim()) {
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

  private constructor(parts: RunParts, start: RunStart) {
    const { report, target, now } = parts;
    this.#parts = parts;
    this.#start = start;
    this.#readAt = start.startedAt;
    const onCall = () => {
      report.calls += 1;
    };
    this.#reader = new StateReader({ ...parts, onCall });
    this.#repositoryCursors = createRepositoryCursors(this.#reader, target, now);
  }

  async list(): Promise<readonly FoundRepository[]> {
    const { target, report, inbox } = this.#parts;
    const found: FoundRepository[] = [];
    for (const watched of target.watch) {
      const [text = ""] = formatWatched([watched]);
      const isFirst = !this.#start.endpoint?.watched.includes(text);
      for await (const repository of this.#reader.repositories(watched)) {
        // To store what was seen of the bucket of the inbox would change it again.
        if (repository.type === "bucket" && repository.name === inbox.bucket) continue;
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
    const { report, log, target } = this.#parts;
    const { repository } = found;
    report.repositories += 1;
    if (report.repositories % reportEvery === 0) {
      const { repositories, total, calls } = report;
      log.info({ endpoint: target.endpoint, repositories, total, calls }, "Catch-up is comparing many repositories.");
    }
    try {
      // Other repositories must wait until what is stored was accepted, so that they cannot replace it.
      await acceptStored(this.#parts, await this.#compare(found).catch((error) => this.#skip(repository, error)));
    } finally {
      await this.#withdraw();
    }
  }

  /** Leaves a repository that could not be compared. @throws the error if it does not concern this repository alone. */
  #skip(repository: ListedRepository, error: unknown): [] {
    const { report, log, target, signal } = this.#parts;
    if (signal.aborted) throw error;
    if (!isAboutRepository(error)) {
      // A repository for which the Hub always fails must not prevent the others from being compared.
      if (!isFailure(error) || this.#failedAt === report.repositories - 1) throw error;
      this.#failedAt = report.repositories;
      report.failure = error;
    }
    report.failed += 1;
    log.warn(
      { err: error, endpoint: target.endpoint, repository: `${repository.type}:${repository.name}` },
      "Catch-up could not read a repository. The next run reads it again.",
    );
    return this.#leave(repository.id);
  }

  /** Leaves a repository to the next run, which then needs the deliveries since the last complete one. */
  #leave(id: string): [] {
    const { endpoint, startedAt } = this.#start;
    const since = endpoint?.unfinished[id] ?? endpoint?.ranAt ?? startedAt;
    if (since > startedAt - coveredMs) this.#unfinished.set(id, since);
    return [];
  }

  /** Derives and stores what the endpoint missed of a repository. Returns the deliveries to accept. */
  async #compare({ repository: listed, isFirst }: FoundRepository): Promise<readonly DerivedPayload[]> {
    let repository = listed;
    const { target, now, since, cursors } = this.#parts;
    const { endpoint, startedAt } = this.#start;
    const key = cursorKeys.repository(repository.id);
    const storedText = this.#start.stored.get(key);
    const stored = readRepositoryCursor(storedText);
    const isEarlier = since === "all" || (since instanceof Date && since.getTime() < (endpoint?.ranAt ?? 0));
    const isReplaced = stored?.bucket !== undefined && stored.bucket.createdAt !== repository.createdAt;
    const known = isEarlier || isReplaced ? undefined : stored;
    const isNew = isReplaced || (!stored && !isFirst && this.#isCreatedLater(repository));
    const start = since ?? target.since;
    const readAccepted = () =>
      this.#start.accepted.changesOf(listed.id, {
        compared: known?.compared ?? (start === "now" && !isNew ? "all" : []),
        readCoverage: async () => {
          const coverage = readCoverage(await cursors.get(target.endpoint, cursorKeys.coverage(listed.id)));
          return isReplaced ? { ...coverage, changes: [] } : coverage;
        },
        // The clock of the Hub can be ahead, so without an earlier bucket, nothing is left out.
        after: stored?.bucket && listed.createdAt !== undefined ? Date.parse(listed.createdAt) : undefined,
        listCommits: (range) => this.#reader.commitRange(listed, range),
      });
    let accepted = await readAccepted();
    let present = await this.#repositoryCursors.readPresent(repository, { known, accepted });
    const cursor =
      known ?? (isNew ? undefined : await this.#repositoryCursors.firstCursor(present, { since: start, stored }));
    const hasRepoEvents = target.domains.includes("repo");
    const find = () =>
      findMissedChanges({
        ...{ cursor, present, accepted, hasRepoEvents },
        readDiscussion: (num) => this.#reader.discussion(repository, num),
        ownerId: (name) => this.#reader.ownerId(name),
      });
    let missed = await find();
    let isListCurrent = true;
    if (missed.length > 0) {
      await this.#announce(repository.id);
      // Deliveries that arrived after the last read. Those that arrive from now on wait until the comparison has ended.
      const lastReadAt = this.#readAt;
      this.#readAt = now();
      await this.#start.accepted.read(new Date(Math.min(lastReadAt, this.#readAt) - overlapMs));
      accepted = await readAccepted();
      // Otherwise, a delivery can contain a later state.
      const latest = await this.#reader.repository(repository);
      if (!latest || !isSame(latest, repository)) return this.#leave(repository.id);
      repository = latest;
      present = await this.#repositoryCursors.readPresent(repository, { known, accepted });
      missed = await find();
      // After two repositories were renamed, the name can be that of the other one.
      const after = await this.#reader.repository(repository);
      if (!after || !isSame(after, repository)) return this.#leave(repository.id);
      isListCurrent = after.lastModified === latest.lastModified;
    } else if (
      (present.refs || present.files) &&
      (accepted.refs.size + accepted.files.size > 0 || (stored && stored.lastModified !== listed.lastModified))
    ) {
      // The list can be older than the refs. If a force push restores its commit, the next list must not look as if nothing has changed. A
      // first run does not check this, because it would take twice as many calls.
      isListCurrent = (await this.#reader.repository(repository))?.lastModified === listed.lastModified;
    }
    const first = Math.max(stored?.derived ?? 0, accepted.derived);
    const bucketId = accepted.repositoryId ?? cursor?.bucket?.id;
    const id = repository.type === "bucket" ? (bucketId ?? "") : repository.id;
    const deliveries = await this.#derive(missed, { present, first, id });
    const ids = [...accepted.ids, ...deliveries.map(({ id }) => id)];
    const derived = first + deliveries.length;
    const next = await this.#repositoryCursors.nextCursor({ cursor, present, compared: ids, derived, bucketId });
    const text = JSON.stringify(isListCurrent ? next : { ...next, lastModified: undefined });
    const texts = text === storedText ? [] : [[key, text] as const];
    const isStored = await this.#remember(deliveries, { accepted, isReplaced, repositoryId: repository.id, texts });
    if (!isStored) return this.#leave(repository.id);
    // The next run finds out how it has ended, or whether its change was derived.
    if (accepted.openSince !== undefined && accepted.openSince > startedAt - coveredMs) {
      this.#unfinished.set(repository.id, Math.min(startedAt, accepted.openSince + overlapMs));
    }
    return deliveries;
  }

  /** Whether a repository without a cursor was created since the last run. An older one could not be read before. */
  #isCreatedLater({ id, createdAt }: ListedRepository): boolean {
    const { endpoint } = this.#start;
    if (!endpoint) return false;
    const { ranAt, unfinished } = endpoint;
    // The clocks of the Hub and of this machine differ, and a list can be older than its request.
    return !(createdAt !== undefined && Date.parse(createdAt) <= (unfinished[id] ?? ranAt) - overlapMs);
  }

  /** Lets the decisions of other processes about deliveries of a repository wait: see `CatchUp`. */
  async #announce(repositoryId: string): Promise<void> {
    const { holder, dryRun } = this.#parts;
    if (dryRun) return;
    await changeCoverage(this.#storeOf(repositoryId), (coverage) => ({ ...coverage, comparing: holder }));
    this.#announced = repositoryId;
  }

  async #withdraw(): Promise<void> {
    const { holder } = this.#parts;
    const announced = this.#announced;
    this.#announced = undefined;
    if (announced === undefined) return;
    const withdraw = ({ comparing, ...coverage }: Coverage) => (comparing === holder ? coverage : undefined);
    await changeCoverage(this.#storeOf(announced), withdraw);
  }

  #storeOf(repositoryId: string): CoverageStore {
    const { cursors, target, wait, signal } = this.#parts;
    return { cursors, endpoint: target.endpoint, repositoryId, wait, signal };
  }

  /** Creates the deliveries of missed changes, numbered after `first`. */
  async #derive(
    missed: readonly MissedChange[],
    { present, first, id }: { present: PresentState; first: number; id: string },
  ): Promise<DerivedPayload[]> {
    if (missed.length === 0) return [];
    const { refs } = present;
    const repository = { ...present.repository, id };
    const { hubUrl } = this.#parts.hub;
    const ownerId = await this.#reader.ownerId(ownerOf(repository.name));
    const subject = { repository, headSha: refs?.get("refs/heads/main"), ownerId, hubUrl };
    return missed.map((change, index) => {
      const body = JSON.stringify(payloadOf(change, subject));
      const hash = createHash("sha256").update(body).digest("hex").slice(0, 24);
      return { id: `${derivedIdPrefix}${first + index + 1}-${hash}`, body, payload: parsePayload(JSON.parse(body)) };
    });
  }

  /**
   * Stores what is derived, and the state after it, before the deliveries are accepted: a late delivery must not run too if this process
   * ends in between. Returns `false` if this process was suspended for so long that another one has taken over.
   */
  async #remember(
    deliveries: readonly DerivedPayload[],
    { accepted, isReplaced, repositoryId, texts }: ComparedRepository,
  ): Promise<boolean> {
    const { holder, dryRun, cursors, target, hasClaim } = this.#parts;
    if (dryRun) return true;
    if (!hasClaim()) return false;
    if (this.#announced === undefined && !accepted.undoes) {
      if (texts.length > 0) await cursors.set(target.endpoint, new Map(texts));
      return true;
    }
    // What was received later was not considered, and can undo what is derived.
    const at = this.#readAt;
    const added = deliveries.flatMap(({ payload }): CoveredChange[] => {
      if (payload.updatedRefs) return payload.updatedRefs.map((ref) => ({ at, ref }));
      if (payload.updatedFiles)
        return [{ at, files: payload.updatedFiles.map((file) => [file.path, fileState(file)]) }];
      const changed = keyOf(payload);
      return changed === undefined ? [] : [{ at, key: changed }];
    });
    const derived = [cursorKeys.unaccepted, JSON.stringify(deliveries.map(({ id, body }) => ({ id, body })))] as const;
    const change = (stored: Coverage) => {
      if (this.#announced !== undefined && stored.comparing !== holder) return undefined;
      const changes = accepted.coverage?.changes ?? (isReplaced ? [] : stored.changes);
      return { ...stored, changes: remember(changes, added, at) };
    };
    return changeCoverage(this.#storeOf(repositoryId), change, deliveries.length > 0 ? [...texts, derived] : texts);
  }

  async finish(): Promise<void> {
    const { cursors, target, dryRun } = this.#parts;
    if (dryRun) return;
    for (const key of this.#start.stored.keys()) {
      const [, id] = /^repository (.*)$/.exec(key) ?? [];
      if (id !== undefined && !this.#seen.has(id)) this.#leave(id);
    }
    const cursor: EndpointCursor = {
      ranAt: this.#start.startedAt,
      watched: [...formatWatched(target.watch)],
      unfinished: Object.fromEntries(this.#unfinished),
    };
    await cursors.set(target.endpoint, new Map([[cursorKeys.endpoint, JSON.stringify(cursor)]]));
  }
}

/** Accepts stored deliveries in their order, and then stores that they were accepted. */
async function acceptStored(
  { accept, target, report, dryRun, inbox, log, cursors, hasClaim }: RunParts,
  deliveries: readonly { id: string; body: string }[],
): Promise<void> {
  const { endpoint } = target;
  for (const { id, body } of deliveries) {
    // A process has accepted it, and ended before it stored that.
    if (dryRun && (await inbox.get({ endpoint, id }))) continue;
    try {
      if ((await accept(target, { id, body, dryRun })) !== "accepted") continue;
    } catch (error) {
      if (!WebhookError.isInstance(error) || error.code !== "PAYLOAD_INVALID") throw error;
      log.warn({ err: error, endpoint, deliveryId: id }, "The endpoint refuses a derived delivery.");
      continue;
    }
    const { event, repo, updatedRefs, updatedFiles } = parsePayload(JSON.parse(body));
    report.derived.push({ id, ...event, repository: `${repo.type}:${repo.name}`, updatedRefs, updatedFiles });
  }
  // Otherwise, another process has accepted them too, and can have stored further ones.
  if (deliveries.length > 0 && !dryRun && hasClaim())
    await cursors.set(endpoint, new Map([[cursorKeys.unaccepted, "[]"]]));
}

function isSame(one: ListedRepository, other: ListedRepository): boolean {
  return one.id === other.id && (one.type !== "bucket" || one.createdAt === other.createdAt);
}

/** Whether the Hub has failed. If it is down, the next repository fails too. */
function isFailure(error: unknown): boolean {
  return HubError.isInstance(error) && ["HUB_FAILED", "HUB_TIMED_OUT", "HUB_UNREACHABLE"].includes(error.code);
}

/** Whether an error concerns one repository. If the Hub refuses the token, the next repository fails too. */
function isAboutRepository(error: unknown): boolean {
  if (!HubError.isInstance(error)) return false;
  const { status, code } = error;
  return status === 403 || status === 404 || code === "HUB_RESPONSE_INVALID" || code === "HUB_REFUSED";
}
