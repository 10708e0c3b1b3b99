import type { WebhookInfo } from "../../../protocol/hub.ts";
import { formatCount } from "../../format/number.ts";

/** The deliveries of the current 24 hours, against the limit of the Hub. */
export function DailyCount({ today: { deliveries, limit } }: Pick<WebhookInfo, "today">) {
  if (limit === undefined) return <>{formatCount(deliveries)}</>;
  return (
    <span class={deliveries >= limit ? "bad" : undefined}>
      {formatCount(deliveries)} <span class="quiet">of {formatCount(limit)}</span>
    </span>
  );
}
