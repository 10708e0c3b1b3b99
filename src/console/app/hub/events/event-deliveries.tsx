import type { EventDelivery, EventInfo } from "../../../protocol/hub.ts";
import { StatusLabel } from "../../deliveries/status-label.tsx";
import { formatPlural } from "../../format.ts";
import { formatRoute } from "../../state/route.ts";
import { Text, UrlText } from "../../ui.tsx";
import { hubStatusText } from "./hub-status.ts";

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
      {status ? (
        <StatusLabel status={status} text={isAccepted ? "Accepted, runs in the background" : hubStatusText(status)} />
      ) : (
        <span class="quiet">not stored</span>
      )}
      <span class="attempt-event">
        <UrlText value={name} />
      </span>
      <span class="quiet attempt-time">
        {responseStatus !== undefined && `${responseStatus}, `}
        {formatPlural(attempts, "attempt", "attempts")}
      </span>
      {error !== undefined && (
        <span class="bad attempt-error">
          <Text value={error} />
        </span>
      )}
    </>
  );
}
