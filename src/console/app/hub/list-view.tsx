import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Pane, PaneContent } from "../delivery/pane.tsx";
import { formatPlural } from "../format.ts";
import type { Resource } from "../resource.ts";
import { formatRoute, navigate, route, useShortcut } from "../state.ts";
import { Icon, Loaded } from "../ui.tsx";
import "./hub.css";

/**
 * A list of items with a filter, and beside it the item that is open. On a narrow screen, the open item replaces the list. The
 * route contains the keys of the item: `#/jobs/one?id=7`.
 */
export function ListView<Answer extends object, Item extends Readonly<Record<Key, string>>, Key extends string>({
  noun: [one, many],
  resource,
  itemsOf,
  keys,
  columns,
  textOf,
  isNewestFirst = false,
  actions,
  emptyState,
  note,
  pane,
}: {
  /** The plural is also the path of the routes. */
  noun: readonly [one: string, many: string];
  /** If its answer has `unlisted`, the list shows this number of items that are not listed. */
  resource: Resource<Answer>;
  itemsOf: (answer: Answer) => readonly Item[];
  /** The fields that identify an item. */
  keys: readonly Key[];
  columns: readonly DataColumn<Item>[];
  /** The text that the filter searches. */
  textOf: (item: Item) => string;
  isNewestFirst?: boolean;
  actions?: ComponentChildren;
  emptyState: (answer: Answer) => ComponentChildren;
  note?: (answer: Answer) => ComponentChildren;
  pane: (query: Readonly<Record<string, string>>) => ComponentChildren;
}) {
  const { path, query } = route.value;
  const isOpen = path === `${many}/one` && keys.every((key) => query[key] !== undefined);
  const keyOf = (item: Readonly<Record<string, string>> | Item) => keys.map((key) => item[key]).join(":");
  const hashOf = (item: Item) =>
    formatRoute(`${many}/one`, { ...Object.fromEntries(keys.map((key) => [key, item[key]])), search: readFilter() });
  return (
    <div class="split" data-open={isOpen}>
      <div class="split-list">
        <header class="page-header">
          <h1>{`${many.charAt(0).toUpperCase()}${many.slice(1)}`}</h1>
          <FilterField label={`Filter ${many}`} />
          {actions}
        </header>
        <Loaded resource={resource}>
          {(answer) => {
            const items = itemsOf(answer);
            const unlisted = "unlisted" in answer ? Number(answer.unlisted) : 0;
            return (
              <>
                {items.length === 0 ? (
                  emptyState(answer)
                ) : (
                  <DataTable
                    caption={`${formatPlural(items.length, one, many)}${isNewestFirst ? ", newest first" : ""}`}
                    items={items.filter(matchesFilter(textOf))}
                    columns={columns}
                    keyOf={keyOf}
                    hashOf={hashOf}
                    openKey={isOpen ? keyOf(query) : undefined}
                  />
                )}
                {unlisted > 0 && (
                  <p class="quiet hub-note">
                    {formatPlural(unlisted, `more ${one} is`, `more ${many} are`)} not listed.
                  </p>
                )}
                {note?.(answer)}
              </>
            );
          }}
        </Loaded>
      </div>
      {isOpen && pane(query)}
    </div>
  );
}

interface ItemPaneProps<Answer> {
  title: string;
  path: string;
  resource: Resource<Answer>;
  children: (answer: Answer) => ComponentChildren;
}

/** The item that is open, when it is loaded. Closing it returns to the list at `path`. */
export function ItemPane<Answer>({ title, path, resource, children }: ItemPaneProps<Answer>) {
  const close = () => {
    navigate(formatRoute(path, { search: readFilter() }));
    document.getElementById("main")?.focus();
  };
  return (
    <Pane title={title} onClose={close}>
      <PaneContent resource={resource}>{children}</PaneContent>
    </Pane>
  );
}

/** The text of the filter, which is kept in the URL. */
export function readFilter(): string {
  return route.value.query.search ?? "";
}

function matchesFilter<Item>(textOf: (item: Item) => string): (item: Item) => boolean {
  const words = readFilter().toLowerCase().split(/\s+/);
  return (item) => {
    const text = textOf(item).toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

function FilterField({ label }: { label: string }) {
  const field = useRef<HTMLInputElement>(null);
  useShortcut("/", () => {
    field.current?.focus();
    field.current?.select();
  });
  return (
    <div class="search-field hub-filter">
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
      />
    </div>
  );
}

export interface DataColumn<Item> {
  label: string;
  cell: (item: Item) => ComponentChildren;
  /** The width of the list from which the column is shown, in pixels. Default `0`. */
  from?: 0 | 480 | 700 | 900;
  isNumber?: boolean;
  /** Whether the values are short, so that they stay on one line. */
  isShort?: boolean;
}

interface DataTableProps<Item> {
  caption: string;
  items: readonly Item[];
  columns: readonly DataColumn<Item>[];
  keyOf: (item: Item) => string;
  hashOf: (item: Item) => string;
  openKey: string | undefined;
}

/** A table whose rows are links. The link is in the first column. `j` and `k` select a row. */
function DataTable<Item>({ caption, items, columns, keyOf, hashOf, openKey }: DataTableProps<Item>) {
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
