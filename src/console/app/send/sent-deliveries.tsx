import type { ConsoleStatus } from "../../protocol/deliveries.ts";
import type { EventInfo } from "../../protocol/hub.ts";
import type { SendResult, SentDelivery } from "../../protocol/send.ts";
import { Text } from "../components/text.tsx";
import { StatusLabel } from "../deliveries/status-label.tsx";
import { formatDuration } from "../format/time.ts";
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
    <ul class="attempts sent">
      {deliveries.map((delivery) => (
        <li key={delivery.id} class="attempt-line">
          <PlainDelivery delivery={delivery} />
        </li>
      ))}
    </ul>
  );
}

function PlainDelivery({ delivery }: { delivery: SentDelivery }) {
  const { recipient, durationMs, problem, ignored } = delivery;
  const hash = linkToEndpoint(delivery);
  const outcome = describeOutcome(delivery);
  return (
    <>
      {outcome && <StatusLabel {...outcome} />}
      <span class="attempt-event">
        {hash === undefined ? (
          <Text value={recipient} />
        ) : (
          <a href={hash}>
            <Text value={recipient} />
          </a>
        )}
      </span>
      {durationMs !== undefined && <span class="quiet attempt-time">{formatDuration(durationMs)}</span>}
      {ignored !== undefined && (
        <span class="quiet attempt-error">
          <Text value={ignored} />
        </span>
      )}
      {problem !== undefined && (
        <span class="bad attempt-error">
          <Text value={problem} />
        </span>
      )}
    </>
  );
}

/** Returns `undefined` if there is no response yet. */
function describeOutcome({
  status,
  problem,
  ignored,
}: SentDelivery): { status: ConsoleStatus; text: string } | undefined {
  if (status === undefined) return problem === undefined ? undefined : { status: "failed", text: "No response" };
  if (problem !== undefined) return { status: "failed", text: `${status} Failed` };
  if (ignored !== undefined) return { status: "ignored", text: `${status} Ignored` };
  return { status: "succeeded", text: status === 202 ? "202 Accepted, runs in the background" : `${status} Succeeded` };
}
