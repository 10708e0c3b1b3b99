import { Component } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DeliveryKey, DeliverySummary } from "../../protocol/deliveries.ts";
import { formatCount, formatMoment, formatPlural } from "../format.ts";
import { useShortcut } from "../state/keyboard.ts";
import { navigate } from "../state/route.ts";
import { Button } from "../ui.tsx";
import { type Column, maxCardWidth, selectColumns } from "./columns.tsx";
import type { ListFilter } from "./filter.ts";
import { deliveryHash, keyText, listHash } from "./links.ts";
import type { ListStore } from "./list-store.ts";
import { maxRows } from "./merge.ts";
import { focusRow } from "./row-focus.ts";
import { readRowHeight, selectWindow } from "./row-window.ts";
import { useHold } from "./use-hold.ts";
import { useSize } from "./use-size.ts";

/** The rows of the list, which scroll in themselves. */
export function DeliveryTable({
  store,
  filter,
  open,
}: {
  store: ListStore;
  filter: ListFilter;
  open: DeliveryKey | undefined;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(scroller);
  const isCards = width < maxCardWidth;
  // Rows compare their columns by identity, so the list must be the same until a column appears or disappears.
  const names = selectColumns(width)
    .map(({ id }) => id)
    .join();
  const columns = useMemo(() => selectColumns(width), [names]);
  const holdHandlers = useHold(store, scroller);
  const { rows, waiting } = store.list.value;
  const rowHeight = useMemo(() => readRowHeight(isCards), [isCards]);
  const [scrollTop, setScrollTop] = useState(0);
  const { first, end } = selectWindow({ scrollTop, height, rowHeight, count: rows.length });
  const handleScroll = () => {
    holdHandlers.onScroll();
    const next = scroller.current?.scrollTop ?? 0;
    const window = selectWindow({ scrollTop: next, height, rowHeight, count: rows.length });
    if (window.first !== first || window.end !== end) setScrollTop(next);
  };
  const openKey = open && keyText(open);
  useSelection({ store, filter, openKey });

  return (
    <div class="list-scroller" ref={scroller} {...holdHandlers} onScroll={handleScroll}>
      {waiting.length > 0 && (
        <div class="waiting">
          <Button
            kind="primary"
            icon="arrowUp"
            onClick={() => {
              scroller.current?.scrollTo({ top: 0 });
              const [newest] = store.list.value.waiting;
              store.insert();
              // The button is gone, so the focus continues at the first row.
              if (newest) requestAnimationFrame(() => focusRow(store, keyText(newest)));
            }}
          >
            {waiting.length >= maxRows ? `${maxRows} or more new` : `${waiting.length} new`}
          </Button>
        </div>
      )}
      <table
        class={isCards ? "deliveries deliveries-cards" : "deliveries"}
        aria-rowcount={rows.length + 1}
        style={{ "--columns": columns.map(({ width: track }) => track).join(" ") }}
      >
        <caption class="visually-hidden">{formatPlural(rows.length, "delivery", "deliveries")}, newest first</caption>
        <thead>
          <tr>
            {columns.map(({ id, label, isNumber }) => (
              <th key={id} scope="col" class={isNumber ? "number" : undefined}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody style={{ paddingTop: `${first * rowHeight}px`, paddingBottom: `${(rows.length - end) * rowHeight}px` }}>
          {rows.slice(first, end).map((delivery, index) => {
            const key = keyText(delivery);
            return (
              <DeliveryRow
                key={key}
                delivery={delivery}
                rowIndex={first + index + 2}
                columns={columns}
                filter={filter}
                isOpen={key === openKey}
              />
            );
          })}
        </tbody>
      </table>
      <ListFooter store={store} filter={filter} scroller={scroller} />
    </div>
  );
}

/** `j` and `k` select a row, which gets the focus. If a delivery is open, the selected one is opened instead. */
function useSelection({
  store,
  filter,
  openKey,
}: {
  store: ListStore;
  filter: ListFilter;
  openKey: string | undefined;
}): void {
  const selected = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (openKey !== undefined) selected.current = openKey;
  }, [openKey]);

  const select = (step: 1 | -1) => {
    const { rows } = store.list.value;
    const from = rows.findIndex((row) => keyText(row) === selected.current);
    const next = rows[from === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, from + step))];
    if (!next) return false;
    selected.current = keyText(next);
    focusRow(store, selected.current);
    if (openKey !== undefined) navigate(deliveryHash(next, filter), { replace: true });
    return true;
  };
  useShortcut("j", () => select(1));
  useShortcut("k", () => select(-1));
  useShortcut("Enter", () => {
    const row = store.list.value.rows.find((candidate) => keyText(candidate) === selected.current);
    if (!row) return false;
    navigate(deliveryHash(row, filter));
    return true;
  });
}

interface RowProps {
  delivery: DeliverySummary;
  /** The number of the row in the whole table, in which the header is row 1. */
  rowIndex: number;
  columns: readonly Column[];
  filter: ListFilter;
  isOpen: boolean;
}

/** A row of the list. It renders again only if something in it has changed. */
class DeliveryRow extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { delivery, rowIndex, columns, filter, isOpen } = this.props;
    return (
      next.delivery !== delivery ||
      next.rowIndex !== rowIndex ||
      next.columns !== columns ||
      next.filter !== filter ||
      next.isOpen !== isOpen
    );
  }

  render({ delivery, rowIndex, columns, filter, isOpen }: RowProps) {
    const hash = deliveryHash(delivery, filter);
    return (
      <tr
        class="delivery"
        data-key={keyText(delivery)}
        data-status={delivery.status}
        aria-rowindex={rowIndex}
        aria-current={isOpen || undefined}
      >
        {columns.map(({ id, isNumber, cell }) => (
          <td key={id} class={isNumber ? `cell-${id} number` : `cell-${id}`}>
            {cell(delivery, hash)}
          </td>
        ))}
      </tr>
    );
  }
}

/** The end of the list: loads the next page, and shows how many deliveries were searched. */
function ListFooter({
  store,
  filter,
  scroller,
}: {
  store: ListStore;
  filter: ListFilter;
  scroller: { readonly current: HTMLElement | null };
}) {
  const { rows, isTrimmed } = store.list.value;
  const last = rows.at(-1);
  const isFull = rows.length >= maxRows && (isTrimmed || store.next.value !== undefined);
  const hasMore = !isFull && store.next.value !== undefined;
  return (
    <div class="list-footer">
      {hasMore && <LoadMore store={store} scroller={scroller} />}
      {isFull && last && (
        <p>
          This page shows {formatCount(maxRows)} deliveries.{" "}
          <a href={listHash({ ...filter, until: last.receivedAt + 1 })}>Show older deliveries</a>
        </p>
      )}
      {!hasMore && !isFull && rows.length > 0 && <p>{formatPlural(rows.length, "delivery", "deliveries")}.</p>}
      <SearchProgressNote searchedUntil={store.searchedUntil.value} />
    </div>
  );
}

/** Loads the next page when it comes into view. The button is for the keyboard, and for failures. */
function LoadMore({ store, scroller }: { store: ListStore; scroller: { readonly current: HTMLElement | null } }) {
  const end = useRef<HTMLDivElement>(null);
  const count = store.list.value.rows.length;
  useEffect(() => {
    const target = end.current;
    if (!target) return;
    const observer = new IntersectionObserver(
      (entries) => {
        // A failure is shown when the user presses the button.
        if (entries.some(({ isIntersecting }) => isIntersecting)) store.loadMore().catch(() => {});
      },
      { root: scroller.current, rootMargin: "400px" },
    );
    observer.observe(target);
    return () => observer.disconnect();
  }, [store, count]);
  return (
    <div ref={end}>
      <Button onClick={() => store.loadMore()}>
        {store.searchedUntil.value === undefined ? "Load more" : "Search further"}
      </Button>
    </div>
  );
}

/** Describes how far a search examined the deliveries. Shows nothing if it examined all. */
export function SearchProgressNote({ searchedUntil }: { searchedUntil: number | undefined }) {
  if (searchedUntil === undefined) return null;
  return <p>Searched back to {formatMoment(new Date(searchedUntil), new Date())}.</p>;
}
