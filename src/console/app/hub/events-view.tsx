import type { EventDelivery, EventInfo, EventList } from "../../protocol/hub.ts";
import { StatusLabel, statusLooks } from "../deliveries/status.tsx";
import { Facts, Section } from "../delivery/pane.tsx";
import { formatPlural } from "../format.ts";
import { useResource } from "../resource.ts";
import { formatRoute } from "../state.ts";
import { Command, EmptyState, Moment, Text, UrlText } from "../ui.tsx";
import { type DataColumn, ItemPane, ListView } from "./list-view.tsx";

/** The number of events in the list. The local Hub keeps 500. */
const pageSize = 100;
/** More deliveries than this are counted. */
const maxShownDeliveries = 3;

const columns: readonly DataColumn<EventInfo>[] = [
  { label: "Event", isShort: true, cell: ({ scope, action }) => <Text value={`${scope} ${action}`} /> },
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
          <HubStatus status={status} />{" "}
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

export function EventsView() {
  return (
    <ListView
      noun={["event", "events"]}
      resource={useResource<EventList>("events", { query: { limit: pageSize }, features: ["events"] })}
      itemsOf={({ events }) => events}
      keys={["id"]}
      columns={columns}
      textOf={filterText}
      isNewestFirst
      actions={
        <a class="button button-primary" href="#/send">
          Send an event
        </a>
      }
      emptyState={({ triggerCommand }) => (
        <EmptyState title="No events yet">
          <p>
            Each change of a repository is an event. <a href="#/send">Send one from the console</a>, or with this
            command:
          </p>
          <Command text={triggerCommand} />
        </EmptyState>
      )}
      note={({ next }) => next !== undefined && <p class="quiet hub-note">The latest {pageSize} events.</p>}
      pane={({ id = "" }) => <EventPane key={id} id={id} />}
    />
  );
}

function filterText({ scope, action, repository: { type, name }, user, deliveries }: EventInfo): string {
  const receivers = deliveries.map(({ status, name }) => `${status ? hubStatusText(status) : ""} ${name}`);
  return [scope, action, `${type}:${name}`, user, ...receivers].join(" ");
}

function EventPane({ id }: { id: string }) {
  const resource = useResource<EventInfo>("events/one", { query: { id }, features: ["events"] });
  return (
    <ItemPane title="Event" path="events" resource={resource}>
      {(event) => {
        const { scope, action, repository, user, at, isPayloadOnly, skipped, unlisted } = event;
        const name = `${repository.type}:${repository.name}`;
        return (
          <>
            <div>
              <p class="delivery-title">
                <strong>
                  <Text value={`${scope} ${action}`} />
                </strong>
              </p>
              <Facts
                facts={{
                  Repository: (
                    <a href={formatRoute("repositories/one", repository)}>
                      <Text value={name} />
                    </a>
                  ),
                  By: <Text value={user} />,
                  Time: <Moment at={at} />,
                  Change: isPayloadOnly && "none: only the payload was sent",
                }}
              />
            </div>
            <div class="delivery-actions">
              <a class="button" href={formatRoute("send", { scope, action, repository: name })}>
                Send again
              </a>
            </div>
            <Section title="Deliveries">
              <EventDeliveries event={event} />
            </Section>
            {skipped.length > 0 && (
              <Section title="Skipped webhooks">
                <ul class="attempts">
                  {skipped.map((webhook) => (
                    <li key={webhook.webhookId} class="attempt-line">
                      <a class="attempt-event" href={formatRoute("webhooks/one", { id: webhook.webhookId })}>
                        <UrlText value={webhook.name} />
                      </a>
                      <span class="quiet">{webhook.reason}</span>
                    </li>
                  ))}
                </ul>
              </Section>
            )}
            {unlisted > 0 && <p class="quiet">{unlisted} more webhooks are not listed.</p>}
          </>
        );
      }}
    </ItemPane>
  );
}

/** The deliveries of an event. By default, they link to their latest attempts. */
export function EventDeliveries({
  event: { deliveries },
  linkOf = () => undefined,
}: {
  event: EventInfo;
  linkOf?: (delivery: EventDelivery) => string | undefined;
}) {
  if (deliveries.length === 0) return <p class="quiet">No webhook received this event.</p>;
  return (
    <ul class="attempts">
      {deliveries.map((delivery) => (
        <li key={delivery.deliveryId}>
          <a class="attempt-line" href={linkOf(delivery) ?? attemptHash(delivery)}>
            <DeliveryLine delivery={delivery} />
          </a>
        </li>
      ))}
    </ul>
  );
}

function attemptHash({ webhookId, logId }: EventDelivery): string {
  return formatRoute("webhooks/one", { id: webhookId, log: logId });
}

function DeliveryLine({ delivery }: { delivery: EventDelivery }) {
  const { name, status, responseStatus, attempts, error } = delivery;
  const isAccepted = status === "succeeded" && responseStatus === 202;
  return (
    <>
      <HubStatus status={status} {...(isAccepted && { text: "Accepted, runs in the background" })} />
      <span class="attempt-event">
        <UrlText value={name} />
      </span>
      <span class="quiet attempt-time">
        {responseStatus !== undefined && `${responseStatus}, `}
        {formatPlural(attempts, "attempt", "attempts")}
      </span>
      {error !== undefined && <Text class="bad attempt-error" value={error} />}
    </>
  );
}

function HubStatus({ status, text }: Pick<EventDelivery, "status"> & { text?: string }) {
  if (!status) return <span class="quiet">not stored</span>;
  return <StatusLabel status={status} text={text ?? hubStatusText(status)} />;
}

/**
 * Returns the word for the status of a delivery on the Hub. In the list of deliveries, "Dead" means that the attempts of a handler have
 * failed. Here, the endpoint may never have received the delivery.
 */
function hubStatusText(status: NonNullable<EventDelivery["status"]>): string {
  return status === "dead" ? "Not delivered" : statusLooks[status].label;
}
