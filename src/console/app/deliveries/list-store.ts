import { batch, signal } from "@preact/signals";
import type { ConsoleStatus, DeliveryList, DeliverySummary } from "../../protocol/deliveries.ts";
import type { StreamMessage } from "../../protocol/session.ts";
import { type ApiFailure, getJson, type Query, serverNow, subscribe, toApiFailure } from "../api.ts";
import { formatPlural } from "../format.ts";
import { ReloadTimer } from "../resource.ts";
import { announce } from "../state.ts";
import { keyText, type ListFilter, toApiFilter, toPredicate, toStatusPredicate } from "./filter.ts";

/** More rows than this would slow the page down. Older deliveries are on a page of their own. */
export const maxRows = 500;

/** The number of deliveries that one request loads, and the maximum number of rows. */
const defaultLimits = { pageSize: 100, maxRows };
/** How long after a change the totals are loaded. */
const totalsDelayMs = 300;
const totalsIntervalMs = 1_000;
/** The interval for an inbox that reads every delivery to count them, which can take long. */
const slowTotalsIntervalMs = 5_000;
const slowTotalsMs = 500;
const retryMs = 5_000;
const empty: ListRows = { rows: [], waiting: [], isTrimmed: false };

/** The number of deliveries per status, without filters. */
type StatusTotals = DeliveryList["totals"];

/** The rows of the list for one filter, kept up to date by the stream. */
export class ListStore {
  readonly #filter: ListFilter;
  readonly #limits: typeof defaultLimits;
  readonly #stop = new AbortController();
  readonly list = signal<ListRows>(empty);
  readonly isLoaded = signal(false);
  readonly isLoadingMore = signal(false);
  readonly failure = signal<ApiFailure | undefined>(undefined);
  /** The cursor of the next page. */
  readonly next = signal<string | undefined>(undefined);
  /** How far a search examined the deliveries. */
  readonly searchedUntil = signal<number | undefined>(undefined);
  readonly totals = signal<StatusTotals>({});
  #isHeld = false;
  /** Whether there are deliveries between the rows and those that wait. Inserting then loads the list again. */
  #hasGap = false;
  /** Whether the rows were held during a refresh. Those that the answer does not contain can have changed. */
  #isPatched = false;
  /** How often messages were missed. New rows are only added after a refresh that started later, or they would hide a gap below. */
  #missed = 0;
  #refreshed = 0;
  readonly #refreshTimer = new ReloadTimer(() => void this.#refresh());
  #queuedRefresh: Promise<void> | undefined;
  /** Whether the next refresh replaces the rows, also if they are held. */
  #isReplacing = false;
  /** Requests run one after another, because each answer builds on the rows of the last. */
  #lastRequest: Promise<void> = Promise.resolve();
  /** What the stream reported since the current request started. The answer can be older. */
  #reported: Map<string, DeliverySummary> | undefined;
  #unannounced = 0;
  #totalsTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the totals can be loaded again, as `performance.now()` measures the time. */
  #totalsDueAt = 0;

  constructor(filter: ListFilter, limits: typeof defaultLimits = defaultLimits) {
    this.#filter = filter;
    this.#limits = limits;
  }

  /** Loads the first page and follows the stream until the returned function is called. */
  start(): () => void {
    const unsubscribe = subscribe({
      messages: (messages) => this.#receive(messages),
      opened: () => {
        this.#missed += 1;
        void this.#refresh();
      },
    });
    void this.load();
    return () => {
      unsubscribe();
      clearTimeout(this.#totalsTimer);
      this.#refreshTimer.stop();
      this.#stop.abort();
    };
  }

  load(): Promise<void> {
    this.#isReplacing = true;
    return this.#refresh();
  }

  async loadMore(): Promise<void> {
    if (this.isLoadingMore.value) return;
    this.isLoadingMore.value = true;
    try {
      await this.#request(async () => {
        const cursor = this.next.value;
        // Between the rows and the next page, some were dropped.
        if (cursor === undefined || this.list.value.isTrimmed) return;
        const page = await this.#fetch(cursor);
        batch(() => {
          this.list.value = appendPage(this.list.value, page.deliveries, this.#limits.maxRows);
          this.#setPage(page);
        });
      });
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      this.isLoadingMore.value = false;
    }
  }

  /** Decides whether new rows wait. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) return;
    if (this.#isPatched) void this.#refresh();
    else this.insert();
  }

  /** Inserts the rows that wait. */
  insert(): void {
    if (this.list.value.waiting.length === 0) return;
    if (this.#hasGap) void this.load();
    else this.list.value = insertWaiting(this.list.value, this.#limits.maxRows);
  }

  /** Loads the rows again. If the user points at the list, the rows stay where they are, and new ones wait. */
  #refresh(): Promise<void> {
    this.#queuedRefresh ??= this.#request(async () => {
      this.#queuedRefresh = undefined;
      const missed = this.#missed;
      try {
        const page = await this.#fetchNewest();
        this.#refreshed = missed;
        batch(() => this.#apply(page));
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        const failure = toApiFailure(error);
        if (!this.#isHeld || !this.isLoaded.value) this.failure.value = failure;
        if (failure.isTemporary) this.#refreshTimer.refreshAfter(retryMs);
      }
    });
    return this.#queuedRefresh;
  }

  #apply(page: DeliveryList): void {
    this.totals.value = page.totals;
    this.failure.value = undefined;
    const { rows } = this.list.value;
    if (this.#isHeld && rows.length > 0 && !this.#isReplacing) {
      const known = new Set(rows.map(keyText));
      this.#hasGap = page.next !== undefined && !page.deliveries.some((delivery) => known.has(keyText(delivery)));
      this.#isPatched = true;
      this.#merge(page.deliveries, () => true);
      this.#removeUnlisted(page);
      // Older deliveries than the rows can have been missed too.
      if (!this.#hasGap) this.next.value ??= page.next;
      return;
    }
    this.#isReplacing = false;
    this.#isPatched = false;
    this.#hasGap = false;
    this.list.value = appendPage(empty, page.deliveries, this.#limits.maxRows);
    this.#setPage(page);
    this.isLoaded.value = true;
  }

  /** Runs a request after those before it. Then applies again what the stream reported meanwhile. */
  #request(run: () => Promise<void>): Promise<void> {
    const request = this.#lastRequest.then(async () => {
      const reported = new Map<string, DeliverySummary>();
      this.#reported = reported;
      try {
        await run();
      } finally {
        this.#reported = undefined;
        this.#report([...reported.values()]);
      }
    });
    this.#lastRequest = request.catch(() => {});
    return request;
  }

  #setPage(page: DeliveryList): void {
    this.next.value = page.next;
    this.searchedUntil.value = page.searchedUntil;
  }

  /** Fetches the pages that contain the rows, as one page. */
  async #fetchNewest(): Promise<DeliveryList> {
    const last = this.#isReplacing ? undefined : this.list.value.rows.at(-1);
    let page = await this.#fetch(undefined);
    let { deliveries } = page;
    const { pageSize, maxRows: max } = this.#limits;
    // A page can be short, because the server examines a limited number of deliveries at a time.
    for (let pages = 1; last && page.next !== undefined && pages < max / pageSize; pages += 1) {
      const lastKey = keyText(last);
      if (deliveries.some((delivery) => delivery.receivedAt < last.receivedAt || keyText(delivery) === lastKey)) break;
      page = await this.#fetch(page.next);
      deliveries = [...deliveries, ...page.deliveries];
    }
    return { ...page, deliveries };
  }

  #fetch(cursor: string | undefined): Promise<DeliveryList> {
    return this.#get({ ...toApiFilter(this.#filter, serverNow()), cursor, limit: this.#limits.pageSize });
  }

  #get(query: Query): Promise<DeliveryList> {
    return getJson("deliveries", { query, signal: this.#stop.signal });
  }

  #receive(messages: readonly StreamMessage[]): void {
    const incoming = messages.flatMap((message) => (message.type === "deliveries" ? message.deliveries : []));
    if (messages.some((message) => message.type === "changed" && message.features.includes("deliveries"))) this.#miss();
    if (incoming.length === 0) return;
    for (const delivery of incoming) this.#reported?.set(keyText(delivery), delivery);
    if (this.#reported && this.#reported.size > this.#limits.maxRows) {
      this.#reported.clear();
      this.#miss();
    }
    this.#report(incoming);
    this.#loadTotalsAfter(Math.max(totalsDelayMs, this.#totalsDueAt - performance.now()));
  }

  /** Messages were missed. Those that arrive together cause one refresh. */
  #miss(): void {
    this.#missed += 1;
    this.#refreshTimer.changed();
  }

  /** Adds what the stream reported. */
  #report(incoming: readonly DeliverySummary[]): void {
    if (incoming.length === 0) return;
    const isComplete = this.isLoaded.value && this.#refreshed === this.#missed;
    const accepts = isComplete ? toPredicate(this.#filter, serverNow()) : () => false;
    batch(() => {
      this.totals.value = moveTotals(this.totals.value, this.list.value, incoming);
      this.#merge(incoming, accepts);
    });
  }

  #merge(incoming: readonly DeliverySummary[], accepts: MergeOptions["accepts"]): void {
    const before = this.list.value;
    const isComplete = this.next.value === undefined;
    const keeps = toStatusPredicate(this.#filter);
    const options = { accepts, keeps, isHeld: this.#isHeld, isComplete, max: this.#limits.maxRows };
    const { removed, ...merged } = mergeDeliveries(before, incoming, options);
    this.#setRows(merged);
    const isNew = merged.rows.length + merged.waiting.length + removed - before.rows.length - before.waiting.length;
    this.#announceNew(isNew);
  }

  /** Removes the rows that an answer must contain and does not, because they no longer match the status. */
  #removeUnlisted({ deliveries, next }: DeliveryList): void {
    if (this.#filter.status === undefined) return;
    const end =
      next === undefined ? Number.NEGATIVE_INFINITY : (deliveries.at(-1)?.receivedAt ?? Number.POSITIVE_INFINITY);
    const listed = new Set(deliveries.map(keyText));
    const isListed = (row: DeliverySummary) => row.receivedAt <= end || listed.has(keyText(row));
    const { rows, waiting, ...rest } = this.list.value;
    this.#setRows({ ...rest, rows: rows.filter(isListed), waiting: waiting.filter(isListed) });
  }

  #setRows(list: ListRows): void {
    const isEmptied = list.rows.length === 0 && this.list.value.rows.length > 0;
    this.list.value = list;
    // There can be matching rows that are not loaded.
    if (isEmptied && (list.isTrimmed || this.next.value !== undefined)) this.#refreshTimer.changed();
  }

  #announceNew(count: number): void {
    if (count <= 0) return;
    this.#unannounced += count;
    announce(() => {
      const text = `${formatPlural(this.#unannounced, "new delivery", "new deliveries")}.`;
      this.#unannounced = 0;
      return text;
    });
  }

  #loadTotalsAfter(ms: number): void {
    this.#totalsTimer ??= setTimeout(() => void this.#loadTotals(), ms);
  }

  async #loadTotals(): Promise<void> {
    // A change while the totals load causes another request.
    this.#totalsTimer = undefined;
    try {
      await this.#request(async () => {
        const startedAt = performance.now();
        const { totals } = await this.#get({ limit: 1 });
        const isSlow = performance.now() - startedAt >= slowTotalsMs;
        this.#totalsDueAt = startedAt + (isSlow ? slowTotalsIntervalMs : totalsIntervalMs);
        this.totals.value = totals;
      });
    } catch (error) {
      if (!this.#stop.signal.aborted && toApiFailure(error).isTemporary) this.#loadTotalsAfter(retryMs);
    }
  }
}

/** The rows of the list, and the new ones that wait until they can be inserted without moving what the user points at. */
export interface ListRows {
  /** Newest first. */
  rows: readonly DeliverySummary[];
  /** Newest first. */
  waiting: readonly DeliverySummary[];
  /** Whether rows were dropped, at the end or while they waited. */
  isTrimmed: boolean;
  /** When the oldest row was received, also if it has left the list. Older deliveries belong to a later page. */
  oldest?: number | undefined;
}

interface MergeOptions {
  /** Whether a new row belongs to the list. */
  accepts: (delivery: DeliverySummary) => boolean;
  /** Whether a row that has changed stays in the list. */
  keeps: (delivery: DeliverySummary) => boolean;
  /** Whether new rows wait. */
  isHeld: boolean;
  /** Whether all older deliveries are in the list. Otherwise one that is older than the oldest row belongs to a later page. */
  isComplete: boolean;
  /** The maximum number of rows, and of rows that wait. */
  max?: number;
}

/**
 * Adds what the stream reported. Rows change in place, and leave the list if they no longer match the filter.
 *
 * @returns also the number of rows that left.
 */
export function mergeDeliveries(
  current: ListRows,
  incoming: readonly DeliverySummary[],
  { accepts, keeps, isHeld, isComplete, max = maxRows }: MergeOptions,
): ListRows & { removed: number } {
  const rows: (DeliverySummary | undefined)[] = [...current.rows];
  const waiting: (DeliverySummary | undefined)[] = [...current.waiting];
  const rowIndex = new Map(current.rows.map((row, index) => [keyText(row), index]));
  const waitingIndex = new Map(current.waiting.map((row, index) => [keyText(row), index]));
  const end = oldestOf(current);
  const oldest = isComplete && !current.isTrimmed ? Number.NEGATIVE_INFINITY : (end ?? 0);
  for (const delivery of incoming) {
    const key = keyText(delivery);
    const [row, held] = [rowIndex.get(key), waitingIndex.get(key)];
    if (row !== undefined) rows[row] = keeps(delivery) ? delivery : undefined;
    else if (held !== undefined) waiting[held] = keeps(delivery) ? delivery : undefined;
    else if (accepts(delivery) && delivery.receivedAt >= oldest) {
      waitingIndex.set(key, waiting.length);
      waiting.push(delivery);
    }
  }
  const keptRows = rows.filter((row) => row !== undefined);
  const keptWaiting = waiting.filter((row) => row !== undefined);
  const removed = rows.length + waiting.length - keptRows.length - keptWaiting.length;
  const isTrimmed = current.isTrimmed || keptWaiting.length > max;
  const merged = { rows: keptRows, waiting: newestFirst(keptWaiting).slice(0, max), isTrimmed, oldest: end };
  return { ...(isHeld ? merged : insertWaiting(merged, max)), removed };
}

export function insertWaiting(current: ListRows, max: number = maxRows): ListRows {
  const { rows, waiting } = current;
  if (waiting.length === 0) return current;
  return { ...current, ...trim([...waiting, ...rows], current, max), waiting: [] };
}

/** Adds a page of deliveries, without those that are in the list already. The stream can have reported older ones before. */
export function appendPage(current: ListRows, page: readonly DeliverySummary[], max: number = maxRows): ListRows {
  const known = new Set([...current.rows, ...current.waiting].map(keyText));
  const added = page.filter((delivery) => !known.has(keyText(delivery)));
  return { ...current, ...trim([...current.rows, ...added], current, max) };
}

/** Sorts rows, and drops those that are too many. */
function trim(all: readonly DeliverySummary[], current: ListRows, max: number): Omit<ListRows, "waiting"> {
  const rows = newestFirst(all).slice(0, max);
  const isTrimmed = current.isTrimmed || all.length > max;
  const last = rows.at(-1)?.receivedAt;
  return { rows, isTrimmed, oldest: all.length > max ? last : oldestOf({ rows, oldest: current.oldest }) };
}

function oldestOf({ rows, oldest }: Pick<ListRows, "rows" | "oldest">): number | undefined {
  const last = rows.at(-1)?.receivedAt;
  return last === undefined || oldest === undefined ? (last ?? oldest) : Math.min(last, oldest);
}

/** Moves the deliveries of the list from their last status to the reported one, so that the totals change with the rows. */
function moveTotals(totals: StatusTotals, list: ListRows, incoming: readonly DeliverySummary[]): StatusTotals {
  const statuses = new Map([...list.rows, ...list.waiting].map((row) => [keyText(row), row.status]));
  const moved = { ...totals };
  for (const { status, ...key } of incoming) {
    const last = statuses.get(keyText(key));
    if (last === undefined) continue;
    statuses.set(keyText(key), status);
    const [from, to] = [countedAs(last), countedAs(status)];
    moved[from] = Math.max(0, (moved[from] ?? 0) - 1);
    moved[to] = (moved[to] ?? 0) + 1;
    if (moved[from] === 0) delete moved[from];
  }
  return moved;
}

/** The total of queued deliveries contains those that wait for a retry. */
function countedAs(status: ConsoleStatus): ConsoleStatus {
  return status === "retrying" ? "queued" : status;
}

function newestFirst(deliveries: readonly DeliverySummary[]): DeliverySummary[] {
  return deliveries.toSorted((a, b) => b.receivedAt - a.receivedAt);
}
