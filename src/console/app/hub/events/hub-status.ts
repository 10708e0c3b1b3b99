import type { EventDelivery } from "../../../protocol/hub.ts";
import { statusLooks } from "../../deliveries/status.ts";

/**
 * Returns the word for the status of a delivery on the Hub. In the list of deliveries, "Dead" means that the attempts of a handler have
 * failed. Here, the endpoint may never have received the delivery.
 */
export function hubStatusText(status: NonNullable<EventDelivery["status"]>): string {
  return status === "dead" ? "Not delivered" : statusLooks[status].label;
}
