import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useShortcut } from "../state/keyboard.ts";

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
