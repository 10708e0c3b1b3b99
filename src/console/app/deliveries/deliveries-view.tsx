import { useEffect, useMemo } from "preact/hooks";
import type { EndpointList } from "../../protocol/endpoints.ts";
import { FailureState } from "../components/failure-state.tsx";
import { Loading } from "../components/loading.tsx";
import { DeliveryPane } from "../delivery/delivery-pane.tsx";
import { useResource } from "../state/resource.ts";
import { navigate, route } from "../state/route.ts";
import { DeliveryTable } from "./delivery-table.tsx";
import { EmptyList } from "./empty-list.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { keyText, listHash, readListRoute } from "./links.ts";
import { ListStore } from "./list-store.ts";
import { ReplayDeadButton } from "./replay-dead.tsx";
import { focusRow } from "./row-focus.ts";
import "./list.css";

/** The list of deliveries, and beside it the delivery that is open. */
export function DeliveriesView() {
  const { filter: parsed, open } = readListRoute(route.value);
  // The filter keeps its identity while another delivery is opened, so that the rows stay as they are.
  const filter = useMemo(() => parsed, [JSON.stringify(parsed)]);
  const store = useMemo(() => new ListStore(filter), [filter]);
  useEffect(() => store.start(), [store]);
  const { data, failure } = useResource<EndpointList>("endpoints", { features: ["endpoints"] });
  const endpoints = data?.endpoints ?? (failure ? [] : undefined);

  const close = () => {
    // `j` and `k` can have opened another delivery that is not rendered yet.
    const closed = readListRoute(route.value).open;
    navigate(listHash(filter));
    if (closed) requestAnimationFrame(() => focusRow(store, keyText(closed)));
  };
  return (
    <div class="deliveries-view" data-open={open !== undefined}>
      <section class="list" aria-label="Deliveries">
        <div class="list-header">
          <h1>Deliveries</h1>
          <ReplayDeadButton filter={filter} dead={store.totals.value.dead ?? 0} />
        </div>
        <FilterBar filter={filter} totals={store.totals.value} endpoints={endpoints?.map(({ name }) => name) ?? []} />
        <ListContent store={store} filter={filter} open={open} endpoints={endpoints} />
      </section>
      {open && <DeliveryPane key={keyText(open)} delivery={open} onClose={close} />}
    </div>
  );
}

function ListContent({
  store,
  filter,
  open,
  endpoints,
}: {
  store: ListStore;
  filter: ReturnType<typeof readListRoute>["filter"];
  open: ReturnType<typeof readListRoute>["open"];
  /** `undefined` while they load. */
  endpoints: EndpointList["endpoints"] | undefined;
}) {
  const failure = store.failure.value;
  if (failure) return <FailureState failure={failure} onRetry={() => store.load()} />;
  if (!store.isLoaded.value) return <Loading />;
  const { rows, waiting } = store.list.value;
  if (rows.length + waiting.length === 0) {
    // The command to copy depends on the endpoints.
    if (!endpoints) return <Loading />;
    return (
      <div class="list-scroller">
        <EmptyList isFiltered={Object.keys(filter).length > 0} endpoints={endpoints} />
      </div>
    );
  }
  return <DeliveryTable store={store} filter={filter} open={open} />;
}
