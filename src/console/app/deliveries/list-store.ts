import { batch, signal } from "@preact/signals";
import type { ConsoleStatus, DeliveryList, DeliverySummary, SearchLimits } from "../../protocol/deliveries.ts";
import type { StreamMessage } from "../../protocol/stream.ts";
import { getJson } from "../api/client.ts";
import { type ApiFailure, toApiFailure } from "../api/failure.ts";
import { subscribe } from "../api/stream.ts";
import { formatPlural } from "../format/number.ts";
import { announce } from "../state/announcer.ts";
import { type ListFilter, toApiFilter, toPredicate } from "./filter.ts";
import { keyText } from "./links.ts";
import { appendPage, insertWaiting, type ListRows, maxRows, mergeDeliveries } from "./merge.ts";

const pageSize = 100;
const totalsIntervalMs = 5_000;
const empty: ListRows = { rows: [], waiting: [], isTrimmed: false };

/** The rows of the list for one filter, kept up to date by the stream. */
export class ListStore {
  readonly #filter: ListFilter;
  readonly #stop = new AbortController();
  readonly list = signal<ListRows>(empty);
  readonly isLoaded = signal(false);
  readonly isLoadingMore = signal(false);
  readonly failure = signal<ApiFailure | undefined>(undefined);
  /** The cursor of the next page. */
  readonly next = signal<string | undefined>(undefined);
  readonly search = signal<SearchLimits>({});
  readonly totals = signal<Readonly<Partial<Record<ConsoleStatus, number>>>>({});
  #isHeld = false;
  /** Whether there are deliveries between the rows and those that wait. Inserting then loads the list again. */
  #hasGap = false;
  #unannounced = 0;
  #totalsTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(filter: ListFilter) {
    this.#filter = filter;
  }

  /** Loads the first page and follows the stream until the returned function is called. */
  start(): () => void {
    const unsubscribe = subscribe({
      messages: (messages) => this.#receive(messages),
      reconnected: () => void this.#refresh(),
    });
    void this.load();
    return () => {
      unsubscribe();
      clearTimeout(this.#totalsTimer);
      this.#stop.abort();
    };
  }

  /** Loads the first page again. */
  async load(): Promise<void> {
    try {
      const page = await this.#fetch(undefined);
      batch(() => {
        this.#hasGap = false;
        this.list.value = { ...empty, rows: page.deliveries };
        this.#setPage(page);
        this.totals.value = page.totals;
        this.isLoaded.value = true;
        this.failure.value = undefined;
      });
    } catch (error) {
      if (!this.#stop.signal.aborted) this.failure.value = toApiFailure(error);
    }
  }

  /**
   * Updates the list after messages may have been missed. If the user has loaded more pages or points at the list, the rows
   * stay where they are.
   */
  async #refresh(): Promise<void> {
    const { rows } = this.list.value;
    if (!this.#isHeld && rows.length <= pageSize) {
      await this.load();
      return;
    }
    try {
      const page = await this.#fetch(undefined);
      const known = new Set(rows.map(keyText));
      this.#hasGap ||= page.next !== undefined && !page.deliveries.some((delivery) => known.has(keyText(delivery)));
      this.#merge(page.deliveries, () => true);
      this.totals.value = page.totals;
    } catch {
      // The rows stay. The next reconnect tries again.
    }
  }

  /** Loads the next page. */
  async loadMore(): Promise<void> {
    const cursor = this.next.value;
    if (cursor === undefined || this.isLoadingMore.value || this.list.value.rows.length >= maxRows) return;
    this.isLoadingMore.value = true;
    try {
      const page = await this.#fetch(cursor);
      batch(() => {
        this.list.value = appendPage(this.list.value, page.deliveries);
        this.#setPage(page);
      });
    } finally {
      this.isLoadingMore.value = false;
    }
  }

  /** Decides whether new rows wait. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.insert();
  }

  /** Inserts the rows that wait. */
  insert(): void {
    if (this.list.value.waiting.length === 0) return;
    if (this.#hasGap) void this.load();
    else this.list.value = insertWaiting(this.list.value);
  }

  #setPage(page: DeliveryList): void {
    this.next.value = page.next;
    const { searchedNewest, unindexed } = page;
    this.search.value = {
      ...(searchedNewest !== undefined && { searchedNewest }),
      ...(unindexed !== undefined && { unindexed }),
    };
  }

  async #fetch(cursor: string | undefined): Promise<DeliveryList> {
    const query = { ...toApiFilter(this.#filter, Date.now()), cursor, limit: pageSize };
    return await getJson<DeliveryList>("deliveries", { query, signal: this.#stop.signal });
  }

  #receive(messages: readonly StreamMessage[]): void {
    const incoming = messages.flatMap((message) => (message.type === "deliveries" ? message.deliveries : []));
    const isChanged = messages.some((message) => message.type === "changed" && message.features.includes("deliveries"));
    if (isChanged) void this.#refresh();
    if (incoming.length === 0 || !this.isLoaded.value) return;
    this.#merge(incoming, toPredicate(this.#filter, Date.now()));
    this.#totalsTimer ??= setTimeout(() => void this.#loadTotals(), totalsIntervalMs);
  }

  #merge(incoming: readonly DeliverySummary[], accepts: (delivery: DeliverySummary) => boolean): void {
    const before = this.list.value;
    const isComplete = this.next.value === undefined;
    const merged = mergeDeliveries(before, incoming, { accepts, isHeld: this.#isHeld || this.#hasGap, isComplete });
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
    try {
      const query = { limit: 1 };
      const { totals } = await getJson<DeliveryList>("deliveries", { query, signal: this.#stop.signal });
      this.totals.value = totals;
    } catch {
      // The next message of the stream causes the next try.
    }
    this.#totalsTimer = undefined;
  }
}
