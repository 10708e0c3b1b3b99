import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { FailureState } from "../components/failure-state.tsx";
import { Icon } from "../components/icon.tsx";
import { Loading } from "../components/loading.tsx";
import { formatPlural } from "../format/number.ts";
import { useShortcut } from "../state/keyboard.ts";
import type { Resource } from "../state/resource.ts";
import { formatRoute, navigate, route } from "../state/route.ts";

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
