import { useEffect, useRef } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { formatCount, formatPlural } from "../format/number.ts";
import type { ListFilter } from "./filter.ts";
import { listHash } from "./links.ts";
import type { ListStore } from "./list-store.ts";
import { maxRows } from "./merge.ts";
import { SearchProgressNote } from "./search-progress-note.tsx";

/** The end of the list: loads the next page, and shows how many deliveries were searched. */
export function ListFooter({
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
