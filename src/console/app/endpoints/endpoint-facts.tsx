import type { EndpointInfo } from "../../protocol/endpoints.ts";
import { Text } from "../components/text.tsx";
import { Moment } from "../components/time.tsx";
import { listHash } from "../deliveries/links.ts";
import { formatCount, formatPlural } from "../format/number.ts";
import { formatDuration } from "../format/time.ts";
import { describeFilter } from "./describe-filter.ts";

/** The numbers of an endpoint, and its filter. */
export function EndpointFacts({ endpoint }: { endpoint: EndpointInfo }) {
  const { name, handlerTime, queue, today, last } = endpoint;
  return (
    <dl class="endpoint-facts">
      <div>
        <dt>Filter</dt>
        <dd>
          <Text value={describeFilter(endpoint)} />
        </dd>
      </div>
      <div>
        <dt>Handler time</dt>
        <dd title={handlerTime && `Of the latest ${formatPlural(handlerTime.runs, "run", "runs")}`}>
          {handlerTime
            ? `p50 ${formatDuration(handlerTime.p50)} · p95 ${formatDuration(handlerTime.p95)}`
            : "No runs yet"}
        </dd>
      </div>
      {queue && (
        <div>
          <dt>Queue</dt>
          <dd>
            {formatCount(queue.queued)} queued · {formatCount(queue.running)} running
            {queue.dead > 0 && (
              <>
                {" · "}
                <a class="bad" href={listHash({ endpoint: name, status: "dead" })}>
                  {formatCount(queue.dead)} dead
                </a>
              </>
            )}
          </dd>
        </div>
      )}
      <Today deliveries={today.deliveries} limit={today.limit} />
      <div>
        <dt>Last delivery</dt>
        <dd>
          {last ? (
            <>
              <Text value={last.status} /> · <Moment at={last.at} />
            </>
          ) : (
            "None yet"
          )}
        </dd>
      </div>
    </dl>
  );
}

/** The share of the limit from which the count is shown as a warning. */
const warningShare = 0.8;

function Today({ deliveries, limit }: EndpointInfo["today"]) {
  const color = deliveries >= limit ? "bad" : deliveries >= limit * warningShare ? "retry" : "quiet";
  return (
    <div>
      <dt>Last 24 h</dt>
      <dd>
        {formatCount(deliveries)} of {formatCount(limit)}{" "}
        <meter
          class="meter"
          data-color={color}
          min={0}
          max={limit}
          value={Math.min(deliveries, limit)}
          aria-label="Deliveries in the last 24 hours, against the limit of the Hub"
        />
        {color !== "quiet" && (
          <span class="limit-note" data-color={color}>
            {deliveries >= limit ? "The Hub's daily limit is reached." : "Close to the Hub's daily limit."}
          </span>
        )}
      </dd>
    </div>
  );
}
