import type { EventInfo, EventList } from "../../../protocol/hub.ts";
import { Command } from "../../components/command.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Text } from "../../components/text.tsx";
import { Moment } from "../../components/time.tsx";
import { StatusLabel } from "../../deliveries/status-label.tsx";
import { formatPlural } from "../../format/number.ts";
import { useResource } from "../../state/resource.ts";
import { formatRoute, route } from "../../state/route.ts";
import { type DataColumn, DataTable } from "../data-table.tsx";
import { applyFilter, ListPage, readFilter } from "../list-page.tsx";
import { Split } from "../split.tsx";
import { EventPane } from "./event-pane.tsx";
import { hubStatusText } from "./hub-status.ts";

/** The number of events in the list. The local Hub keeps 500. */
const pageSize = 100;
/** More deliveries than this are counted. */
const maxShownDeliveries = 3;

const columns: readonly DataColumn<EventInfo>[] = [
  {
    label: "Event",
    isShort: true,
    cell: ({ scope, action }) => <Text value={`${scope} ${action}`} />,
  },
  {
    label: "Repository",
    cell: ({ repository: { type, name } }) => (
      <>
        <span class="quiet">{type}</span> <Text value={name} />
      </>
    ),
  },
  { label: "Deliveries", cell: (event) => <Deliveries event={event} /> },
  { label: "By", from: 900, isShort: true, cell: ({ user }) => <Text value={user} /> },
  { label: "Time", from: 480, isShort: true, cell: ({ at }) => <Moment at={at} /> },
];

function Deliveries({ event: { deliveries, skipped } }: { event: EventInfo }) {
  if (deliveries.length === 0) {
    return (
      <span class="quiet">
        {skipped.length === 0 ? "no webhook" : formatPlural(skipped.length, "webhook skipped", "webhooks skipped")}
      </span>
    );
  }
  return (
    <ul class="plain-list">
      {deliveries.slice(0, maxShownDeliveries).map(({ deliveryId, webhookId, logId, status, name }) => (
        <li key={deliveryId}>
          {status ? (
            <StatusLabel status={status} text={hubStatusText(status)} />
          ) : (
            <span class="quiet">not stored</span>
          )}{" "}
          <a class="quiet" href={formatRoute("webhooks/one", { id: webhookId, log: logId })}>
            <Text value={shortName(name)} />
          </a>
        </li>
      ))}
      {deliveries.length > maxShownDeliveries && <li class="quiet">{deliveries.length - maxShownDeliveries} more</li>}
    </ul>
  );
}

/** Returns the path of a URL. The URLs of receivers on one machine often differ only in their paths. */
function shortName(name: string): string {
  return URL.parse(name)?.pathname ?? name;
}

/** The events that happened on the local Hub, with the deliveries that they caused. */
export function EventsView() {
  const resource = useResource<EventList>("events", { query: { limit: pageSize }, features: ["events"] });
  const { path, query } = route.value;
  const openId = path === "events/one" ? query.id : undefined;
  const search = readFilter();
  return (
    <Split
      isOpen={openId !== undefined}
      list={
        <ListPage
          title="Events"
          filterLabel="Filter events"
          resource={resource}
          actions={
            <a class="button button-primary" href="#/send">
              Send an event
            </a>
          }
        >
          {({ events, next, triggerCommand }) =>
            events.length === 0 ? (
              <EmptyState title="No events yet">
                <p>
                  Each change of a repository is an event. <a href="#/send">Send one from the console</a>, or with this
                  command:
                </p>
                <Command text={triggerCommand} />
              </EmptyState>
            ) : (
              <>
                <DataTable
                  caption={`${formatPlural(events.length, "event", "events")}, newest first`}
                  items={applyFilter(events, filterText)}
                  columns={columns}
                  keyOf={({ id }) => id}
                  hashOf={({ id }) => formatRoute("events/one", { id, search })}
                  openKey={openId}
                />
                {next !== undefined && <p class="quiet hub-note">The latest {pageSize} events.</p>}
              </>
            )
          }
        </ListPage>
      }
      pane={openId !== undefined && <EventPane key={openId} id={openId} search={search} />}
    />
  );
}

function filterText({ scope, action, repository: { type, name }, user, deliveries }: EventInfo): string {
  const receivers = deliveries.map(
    (delivery) => `${delivery.status ? hubStatusText(delivery.status) : ""} ${delivery.name}`,
  );
  return [scope, action, `${type}:${name}`, user, ...receivers].join(" ");
}
