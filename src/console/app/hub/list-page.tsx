import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { formatPlural } from "../format.ts";
import type { Resource } from "../resource.ts";
import { formatRoute, navigate, route, useShortcut } from "../state.ts";
import { FailureState, Icon, Loading } from "../ui.tsx";
import "./hub.css";

/** The heading of a list with its filter and its actions, and its content when it is loaded. */
export function ListPage<Answer>({
  title,
  filterLabel,
  actions,
  resource: { data, failure, reload },
  children,
}: {
  title: string;
  /** The accessible name of the filter field. Without it, the list has no filter. */
  filterLabel?: string;
  actions?: ComponentChildren;
  resource: Resource<Answer>;
  children: (data: Answer) => ComponentChildren;
}) {
  return (
    <>
      <header class="page-header">
        <h1>{title}</h1>
        {filterLabel !== undefined && <FilterField label={filterLabel} />}
        {actions}
      </header>
      {data !== undefined ? (
        children(data)
      ) : failure ? (
        <FailureState failure={failure} onRetry={reload} />
      ) : (
        <Loading />
      )}
    </>
  );
}

/** The text of the filter, which is kept in the URL. */
export function readFilter(): string {
  return route.value.query.search ?? "";
}

/** Returns the items that contain all words of the filter. */
export function applyFilter<Item>(items: readonly Item[], textOf: (item: Item) => string): readonly Item[] {
  const words = readFilter().toLowerCase().split(/\s+/);
  return items.filter((item) => {
    const text = textOf(item).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function FilterField({ label }: { label: string }) {
  const field = useRef<HTMLInputElement>(null);
  useShortcut("/", () => {
    field.current?.focus();
    field.current?.select();
    return true;
  });
  return (
    <div class="hub-filter">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder="Filter"
        maxLength={200}
        autoComplete="off"
        spellcheck={false}
        value={readFilter()}
        onInput={({ currentTarget: { value } }) => {
          const { path, query } = route.value;
          navigate(formatRoute(path, { ...query, search: value }), { replace: true });
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") field.current?.blur();
        }}
      />
    </div>
  );
}

/** Shows how many items are not listed, if any. */
export function Unlisted({ count, noun }: { count: number; noun: readonly [one: string, many: string] }) {
  if (count === 0) return null;
  return <p class="quiet hub-note">{formatPlural(count, `more ${noun[0]} is`, `more ${noun[1]} are`)} not listed.</p>;
}

/** A list, and beside it the item that is open. On a narrow screen, the open item replaces the list. */
export function Split({ list, pane, isOpen }: { list: ComponentChildren; pane: ComponentChildren; isOpen: boolean }) {
  return (
    <div class="split" data-open={isOpen}>
      <div class="split-list">{list}</div>
      {pane}
    </div>
  );
}

/** Closes the open item: returns to its list. */
export function closePane(listHash: string): void {
  navigate(listHash);
  document.getElementById("main")?.focus();
}

/** A column of a table. */
export interface DataColumn<Item> {
  label: string;
  cell: (item: Item) => ComponentChildren;
  /** The width of the list from which the column is shown, in pixels. Default `0`. */
  from?: 0 | 480 | 700 | 900;
  isNumber?: boolean;
  /** Whether the values are short, so that they stay on one line. */
  isShort?: boolean;
}

/** A table whose rows are links. The link is in the first column. `j` and `k` select a row. */
export function DataTable<Item>({
  caption,
  items,
  columns,
  keyOf,
  hashOf,
  openKey,
}: {
  caption: string;
  items: readonly Item[];
  columns: readonly DataColumn<Item>[];
  keyOf: (item: Item) => string;
  hashOf: (item: Item) => string;
  openKey: string | undefined;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (step: 1 | -1) => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>(".row-link") ?? [])];
    const focused = document.activeElement;
    const current = focused instanceof HTMLElement ? links.indexOf(focused) : -1;
    const open = items.findIndex((item) => keyOf(item) === openKey);
    const from = current === -1 ? open : current;
    const next = links[from === -1 ? 0 : Math.min(links.length - 1, Math.max(0, from + step))];
    next?.focus();
    return next !== undefined;
  };
  useShortcut("j", () => move(1));
  useShortcut("k", () => move(-1));
  const classOf = ({ from = 0, isNumber, isShort }: DataColumn<Item>) =>
    `from-${from}${isNumber ? " number" : ""}${isShort ? " short" : ""}`;
  return (
    <div class="table-frame">
      <table class="table data-table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" class={classOf(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {items.map((item) => {
            const key = keyOf(item);
            return (
              <tr key={key} aria-current={key === openKey || undefined}>
                {columns.map((column, index) => (
                  <td key={column.label} class={classOf(column)}>
                    {index === 0 ? (
                      <a class="row-link" href={hashOf(item)}>
                        {column.cell(item)}
                      </a>
                    ) : (
                      column.cell(item)
                    )}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {items.length === 0 && <p class="quiet hub-note">Nothing matches the filter.</p>}
    </div>
  );
}
