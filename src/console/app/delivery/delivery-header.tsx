import type { ComponentChildren } from "preact";
import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Text } from "../components/text.tsx";
import { Moment } from "../components/time.tsx";
import { deliveryHash, readListRoute } from "../deliveries/links.ts";
import { RepositoryLink } from "../deliveries/repository-link.tsx";
import { statusLooks } from "../deliveries/status.ts";
import { StatusLabel } from "../deliveries/status-label.tsx";
import { route } from "../state/route.ts";

/** The event, the repository, and the status of a delivery. */
export function DeliverySummaryHeader({ details }: { details: DeliveryDetails }) {
  const { status, event, repository, id, endpoint, receivedAt, ignoredReason, replayOf } = details;
  return (
    <div class="delivery-summary">
      <p class="delivery-title">
        <StatusLabel status={status} />
        <strong>{event ? <Text value={`${event.scope} ${event.action}`} /> : "No Hub payload"}</strong>
      </p>
      <p class="quiet">
        {ignoredReason !== undefined ? <Text value={`Ignored: ${ignoredReason}`} /> : statusLooks[status].description}
      </p>
      <dl class="facts">
        {repository && (
          <Fact label="Repository">
            <Text value={`${repository.type} ${repository.name}`} />
            <RepositoryLink repository={repository} />
          </Fact>
        )}
        <Fact label="Endpoint">
          <Text value={endpoint} />
        </Fact>
        <Fact label="Received">
          <Moment at={receivedAt} />
        </Fact>
        <Fact label="ID">
          <code>
            <Text value={id} />
          </code>
          <CopyButton text={id} label="Copy ID" />
        </Fact>
        {replayOf !== undefined && (
          <Fact label="Copy of">
            <a href={deliveryHash({ endpoint, id: replayOf }, readListRoute(route.value).filter)}>
              <Text value={replayOf} />
            </a>
          </Fact>
        )}
      </dl>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
