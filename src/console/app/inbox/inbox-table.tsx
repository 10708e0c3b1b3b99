import { type CountedStatus, countedStatuses, type InboxEndpoint } from "../../protocol/inbox.ts";
import { Icon } from "../components/icon.tsx";
import { Text } from "../components/text.tsx";
import { listHash } from "../deliveries/links.ts";
import { statusLooks } from "../deliveries/status.ts";
import { formatCompact, formatPlural } from "../format/number.ts";
import { describeRetention } from "./describe-inbox.ts";

/** The number of deliveries by endpoint and status. Each number links to its deliveries. */
export function InboxTable({ endpoints }: { endpoints: readonly InboxEndpoint[] }) {
  return (
    <div class="table-frame">
      <table class="table inbox-table">
        <caption class="visually-hidden">{formatPlural(endpoints.length, "endpoint", "endpoints")}</caption>
        <thead>
          <tr>
            <th scope="col">Endpoint</th>
            {countedStatuses.map((status) => (
              <th key={status} scope="col" class="number" title={statusLooks[status].description}>
                {statusLooks[status].label}
              </th>
            ))}
            <th scope="col" class="number">
              Kept for
            </th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow key={endpoint.name} endpoint={endpoint} />
          ))}
        </tbody>
        {endpoints.length > 1 && <Totals endpoints={endpoints} />}
      </table>
    </div>
  );
}

function EndpointRow({ endpoint }: { endpoint: InboxEndpoint }) {
  const { name, counts, isPaused, isServed } = endpoint;
  const isWaiting = !isServed && counts.queued + counts.running > 0;
  const retention = describeRetention(endpoint);
  return (
    <tr>
      <th scope="row">
        <span class="inbox-name">
          <Text value={name} />
          {isPaused && (
            <span class="status" data-color="retry">
              <Icon name="pause" /> Paused
            </span>
          )}
          {!isServed && (
            <span
              class="status"
              data-color={isWaiting ? "retry" : "quiet"}
              title={isWaiting ? "Its deliveries wait until a server runs the endpoint in the background." : undefined}
            >
              <Icon name="help" /> Not on this server
            </span>
          )}
        </span>
      </th>
      {countedStatuses.map((status) => (
        <Count key={status} status={status} count={counts[status]} endpoint={name} />
      ))}
      <td class="number quiet" title={retention?.title}>
        {retention?.text ?? "–"}
      </td>
    </tr>
  );
}

function Totals({ endpoints }: { endpoints: readonly InboxEndpoint[] }) {
  return (
    <tfoot>
      <tr>
        <th scope="row">All endpoints</th>
        {countedStatuses.map((status) => (
          <Count key={status} status={status} count={endpoints.reduce((sum, { counts }) => sum + counts[status], 0)} />
        ))}
        <td />
      </tr>
    </tfoot>
  );
}

/** A number that links to the deliveries of an endpoint, or of all endpoints. */
function Count({ status, count, endpoint }: { status: CountedStatus; count: number; endpoint?: string }) {
  return (
    <td class="number">
      {count === 0 ? (
        <span class="quiet">0</span>
      ) : (
        <a
          class={status === "dead" ? "bad" : undefined}
          href={listHash({ ...(endpoint !== undefined && { endpoint }), status })}
        >
          {formatCompact(count)}
        </a>
      )}
    </td>
  );
}
