import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DeliveryKey, DeliverySummary } from "../../protocol/deliveries.ts";
import { formatMoment, formatPlural } from "../format.ts";
import { navigate, useShortcut } from "../state.ts";
import { Button } from "../ui.tsx";
import { type Column, maxCardWidth, selectColumns } from "./columns.tsx";
import { deliveryHash, keyText, type ListFilter, listHash } from "./filter.ts";
import { type ListStore, maxRows } from "./list-store.ts";

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
  /** The index of the selected row, also after it has left the list. */
  const place = useRef(0);
  const { rows } = store.list.value;
  useEffect(() => {
    if (openKey !== undefined) selected.current = openKey;
    const index = rows.findIndex((row) => keyText(row) === selected.current);
    if (index !== -1) place.current = index;
  }, [openKey, rows]);

  const select = (step: 1 | -1) => {
    const { rows } = store.list.value;
    const index = rows.findIndex((row) => keyText(row) === selected.current);
    // The row at the place of one that has left the list is the next one.
    const from = index === -1 ? place.current - (step === 1 ? 1 : 0) : index;
    place.current = Math.min(rows.length - 1, Math.max(0, from + step));
    const next = rows[place.current];
    if (!next) return false;
    selected.current = keyText(next);
    focusRow(store, selected.current);
    if (openKey !== undefined) navigate(deliveryHash(next, filter), { replace: true });
  };
  useShortcut("j", () => select(1));
  useShortcut("k", () => select(-1));
  useShortcut("Enter", () => {
    const row = store.list.value.rows.find((candidate) => keyText(candidate) === selected.current);
    if (!row) return false;
    navigate(deliveryHash(row, filter));
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
    const names = ["delivery", "rowIndex", "columns", "filter", "isOpen"] as const;
    return names.some((name) => next[name] !== this.props[name]);
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
  const isFull = isTrimmed || (rows.length >= maxRows && store.next.value !== undefined);
  const hasMore = !isFull && store.next.value !== undefined;
  return (
    <div class="list-footer">
      {hasMore && <LoadMore store={store} scroller={scroller} />}
      {isFull && last && (
        <p>
          This page shows {formatPlural(rows.length, "delivery", "deliveries")}.{" "}
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

/** The window moves in steps, so that most scroll events change nothing. */
const stepRows = 10;
/** The rows above and below the view, so that the keyboard and fast scrolling find them. */
const extraRows = 20;

/**
 * Selects the rows to render, from `first` until before `end`. Only those near the view are in the document, because each costs time in
 * every frame.
 */
export function selectWindow({
  scrollTop,
  height,
  rowHeight,
  count,
}: {
  scrollTop: number;
  height: number;
  rowHeight: number;
  count: number;
}) {
  const step = Math.floor(scrollTop / rowHeight / stepRows) * stepRows;
  const first = Math.min(Math.max(0, step - extraRows), count);
  return { first, end: Math.min(count, step + stepRows + Math.ceil(height / rowHeight) + extraRows) };
}

/** The heights of rows and cards, in `rem`. `deliveries.css` has the same. */
const rowRem = 2;
const cardRem = 3.25;

function readRowHeight(isCards: boolean): number {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return rem * (isCards ? cardRem : rowRem);
}

/** Scrolls to a delivery's row and focuses its link. Does nothing if the list does not contain it. */
export function focusRow(store: ListStore, key: string): void {
  const rows = store.list.value.rows;
  const index = rows.findIndex((row) => keyText(row) === key);
  const scroller = document.querySelector<HTMLElement>(".list-scroller");
  const body = scroller?.querySelector("tbody");
  if (index === -1 || !scroller || !body) return;
  const rowHeight = body.offsetHeight / rows.length;
  const top = index * rowHeight;
  const headerHeight = scroller.querySelector("thead")?.offsetHeight ?? 0;
  const viewHeight = scroller.clientHeight - headerHeight - rowHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (top > scroller.scrollTop + viewHeight) scroller.scrollTop = top - viewHeight;
  // After scrolling, the row may be rendered in the next frame only.
  const focus = () => findRowLink(key)?.focus({ preventScroll: true });
  if (findRowLink(key)) focus();
  else requestAnimationFrame(() => requestAnimationFrame(focus));
}

function findRowLink(key: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.delivery[data-key="${CSS.escape(key)}"] .row-link`);
}

/**
 * Holds new rows back while the pointer is over the list, the keyboard focus is in it, or it is scrolled down, so that
 * nothing moves under the pointer. Returns the handlers for the element that scrolls.
 */
function useHold(store: ListStore, scroller: { readonly current: HTMLElement | null }) {
  const reasons = useRef({ pointer: false, focus: false });
  const update = (changes: Partial<typeof reasons.current> = {}) => {
    const { pointer, focus } = Object.assign(reasons.current, changes);
    store.hold(pointer || focus || (scroller.current?.scrollTop ?? 0) > 0);
  };
  // A new filter starts at the top.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    update();
  }, [store]);
  // The browser reports no lost focus if the focused row leaves the list.
  useEffect(() => {
    if (document.activeElement === document.body) update({ focus: false });
  }, [store.list.value.rows]);
  return {
    onScroll: () => update(),
    // After a touch, nothing points at the list any longer.
    onPointerEnter: ({ pointerType }: PointerEvent) => update({ pointer: pointerType !== "touch" }),
    onPointerLeave: () => update({ pointer: false }),
    onFocusIn: ({ target }: FocusEvent) =>
      update({ focus: target instanceof Element && target.matches(":focus-visible") }),
    onFocusOut: ({ relatedTarget }: FocusEvent) =>
      update({ focus: relatedTarget instanceof Node && scroller.current?.contains(relatedTarget) === true }),
  };
}

/** Returns the size of an element in pixels, and follows it. */
function useSize(element: { readonly current: HTMLElement | null }): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return;
    const read = () => setSize({ width: target.clientWidth, height: target.clientHeight });
    read();
    const observer = new ResizeObserver(read);
    observer.observe(target);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
