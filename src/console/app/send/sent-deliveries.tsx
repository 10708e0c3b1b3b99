import type { EventInfo } from "../../protocol/hub.ts";
import type { SendResult, SentDelivery } from "../../protocol/send.ts";
import { Text } from "../components/text.tsx";
import { EventDeliveries } from "../hub/events/event-deliveries.tsx";
import { useResource } from "../state/resource.ts";
import { formatRoute } from "../state/route.ts";

/** The deliveries that an event caused, live, with links. */
export function SentDeliveries({ result }: { result: SendResult }) {
  const { eventId, deliveries } = result;
  return (
    <section class="pane-section" aria-labelledby="sent-title">
      <h2 id="sent-title">Sent</h2>
      {eventId === undefined ? (
        <PlainDeliveries deliveries={deliveries} />
      ) : (
        <SentEvent eventId={eventId} deliveries={deliveries} />
      )}
    </section>
  );
}

function SentEvent({ eventId, deliveries }: { eventId: string; deliveries: readonly SentDelivery[] }) {
  const { data } = useResource<EventInfo>("events/one", { query: { id: eventId }, features: ["events"] });
  if (!data) return <PlainDeliveries deliveries={deliveries} />;
  return (
    <>
      <EventDeliveries
        event={data}
        linkOf={({ deliveryId }) => linkToEndpoint(deliveries.find(({ id }) => id === deliveryId))}
      />
      <p>
        <a href={formatRoute("events/one", { id: eventId })}>Show the event</a>
      </p>
    </>
  );
}

/** Links to the delivery of the endpoint, which shows more than that of its webhook. */
function linkToEndpoint(delivery: SentDelivery | undefined): string | undefined {
  if (delivery?.endpoint === undefined) return undefined;
  return formatRoute("deliveries/one", { endpoint: delivery.endpoint, id: delivery.id });
}

function PlainDeliveries({ deliveries }: { deliveries: readonly SentDelivery[] }) {
  if (deliveries.length === 0) return <p class="quiet">Nothing received this event.</p>;
  return (
    <ul class="attempts">
      {deliveries.map((delivery) => {
        const { id, recipient, status, problem } = delivery;
        const hash = linkToEndpoint(delivery);
        return (
          <li key={id} class="attempt-line">
            <span class="attempt-event">
              {hash === undefined ? (
                <Text value={recipient} />
              ) : (
                <a href={hash}>
                  <Text value={recipient} />
                </a>
              )}
            </span>
            {status !== undefined && <span>{status === 202 ? "Accepted, runs in the background" : status}</span>}
            {problem !== undefined && (
              <span class="bad attempt-error">
                <Text value={problem} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
