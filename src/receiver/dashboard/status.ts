import type { DeliveryStatus, StoredDelivery } from "../../inbox/inbox.ts";

/** Every status, in the order in which a delivery has them. */
export const statuses = ["queued", "running", "succeeded", "dead"] as const satisfies readonly DeliveryStatus[];

/** How a status is drawn: one of the dots of the shared style sheet. */
export const dots: Readonly<Record<DeliveryStatus, string>> = {
  queued: "open",
  running: "running",
  succeeded: "succeeded",
  dead: "failed",
};

/** The status in one word. */
export function statusWord({ status, attempts }: StoredDelivery): string {
  return status === "queued" && attempts.at(-1)?.outcome === "failed" ? "retrying" : status;
}
