import { batch, signal } from "@preact/signals";
import type { ConsoleStatus, DeliveryList, DeliverySummary } from "../../protocol/deliveries.ts";
import type { StreamMessage } from "../../protocol/session.ts";
import { type ApiFailure, getJson, type Query, subscribe, toApiFailure } from "../api.ts";
import { formatPlural } from "../format.ts";
import { ReloadTimer } from "../resource.ts";
import { announce } from "../state.ts";
import { keyText, type ListFilter, toApiFilter, toPredicate } from "./filter.ts";

/** More rows than this would slow the page down. Older deliveries are on a page of their own. */
export const maxRows = 500;

/** The number of deliveries that one request loads, and the maximum number of rows. */
const defaultLimits = { pageSize: 100, maxRows };
const totalsIntervalMs = 5_000;
const retryMs = 5_000;
/** A request that hangs must not block those after it. */
const requestTimeoutMs = 60_000;
const empty: ListRows = { rows: [], waiting: [], isTrimmed: false };

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
  readonly totals = signal<Readonly<Partial<Record<ConsoleStatus, number>>>>({});
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

  /** Loads the first page again. */
  load(): Promise<void> {
    this.#isReplacing = true;
    return this.#refresh();
  }

  /** Loads the next page. */
  async loadMore(): Promise<void> {
    if (this.isLoadingMore.value) return;
    this.isLoadingMore.value = true;
    try {
      await this.#request(async () => {
        const cursor = this.next.value;
        if (cursor === undefined) return;
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

  async #fetch(cursor: string | undefined): Promise<DeliveryList> {
    return await this.#get({ ...toApiFilter(this.#filter, Date.now()), cursor, limit: this.#limits.pageSize });
  }

  async #get(query: Query): Promise<DeliveryList> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(requestTimeoutMs)]);
    return await getJson<DeliveryList>("deliveries", { query, signal });
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
    this.#totalsTimer ??= setTimeout(() => void this.#loadTotals(), totalsIntervalMs);
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
    this.#merge(incoming, isComplete ? toPredicate(this.#filter, Date.now()) : () => false);
  }

  #merge(incoming: readonly DeliverySummary[], accepts: (delivery: DeliverySummary) => boolean): void {
    const before = this.list.value;
    const isComplete = this.next.value === undefined;
    const options = { accepts, isHeld: this.#isHeld, isComplete, max: this.#limits.maxRows };
    const merged = mergeDeliveries(before, incoming, options);
    this.list.value = merged;
    this.#announceNew(merged.rows.length + merged.waiting.length - before.rows.length - before.waiting.length);
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

  async #loadTotals(): Promise<void> {
    // A change while the totals load causes another request.
    this.#totalsTimer = undefined;
    try {
      await this.#request(async () => {
        const { totals } = await this.#get({ limit: 1 });
        this.totals.value = totals;
      });
    } catch {
      // The next message of the stream causes the next try.
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
}

/**
 * Adds what the stream reported. Known deliveries change in place, even if they do not match the filter any longer:
 * a row that disappears while the user reads it is worse than one that stays until the list is loaded again.
 */
export function mergeDeliveries(
  current: ListRows,
  incoming: readonly DeliverySummary[],
  {
    accepts,
    isHeld,
    isComplete,
    max = maxRows,
  }: {
    accepts: (delivery: DeliverySummary) => boolean;
    /** Whether new rows wait. */
    isHeld: boolean;
    /** Whether all older deliveries are in the list. Otherwise one that is older than the last row belongs to a later page. */
    isComplete: boolean;
    /** The maximum number of rows, and of rows that wait. */
    max?: number;
  },
): ListRows {
  const rows = [...current.rows];
  const waiting = [...current.waiting];
  const rowIndex = new Map(rows.map((row, index) => [keyText(row), index]));
  const waitingIndex = new Map(waiting.map((row, index) => [keyText(row), index]));
  const oldest = isComplete && !current.isTrimmed ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.receivedAt ?? 0);
  for (const delivery of incoming) {
    const key = keyText(delivery);
    const [row, held] = [rowIndex.get(key), waitingIndex.get(key)];
    if (row !== undefined) rows[row] = delivery;
    else if (held !== undefined) waiting[held] = delivery;
    else if (accepts(delivery) && delivery.receivedAt >= oldest) {
      waitingIndex.set(key, waiting.length);
      waiting.push(delivery);
    }
  }
  const isTrimmed = current.isTrimmed || waiting.length > max;
  const merged = { rows, waiting: newestFirst(waiting).slice(0, max), isTrimmed };
  return isHeld ? merged : insertWaiting(merged, max);
}

/** Inserts the rows that wait. */
export function insertWaiting({ rows, waiting, isTrimmed }: ListRows, max: number = maxRows): ListRows {
  if (waiting.length === 0) return { rows, waiting, isTrimmed };
  const all = newestFirst([...waiting, ...rows]);
  return { rows: all.slice(0, max), waiting: [], isTrimmed: isTrimmed || all.length > max };
}

/** Adds a page of deliveries, without those that are in the list already. The stream can have reported older ones before. */
export function appendPage(current: ListRows, page: readonly DeliverySummary[], max: number = maxRows): ListRows {
  const known = new Set([...current.rows, ...current.waiting].map(keyText));
  const rows = newestFirst([...current.rows, ...page.filter((delivery) => !known.has(keyText(delivery)))]);
  return { ...current, rows: rows.slice(0, max), isTrimmed: current.isTrimmed || rows.length > max };
}

function newestFirst(deliveries: readonly DeliverySummary[]): DeliverySummary[] {
  return deliveries.toSorted((a, b) => b.receivedAt - a.receivedAt);
}
