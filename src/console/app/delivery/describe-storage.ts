import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { formatDuration } from "../format.ts";

/** Describes which parts of a delivery are stored, and how long. */
export function describeStorage({
  storage,
  retentionMs,
  recordsDetails,
}: Pick<DeliveryDetails, "storage" | "retentionMs" | "recordsDetails">): string[] {
  return [
    storage === "memory"
      ? "Kept in memory until the server restarts or newer deliveries replace it: at most 500 runs or 16 MiB."
      : retentionMs === undefined
        ? "Kept in the inbox."
        : `Kept in the inbox for ${formatDuration(retentionMs, { unit: "s" })} after it finishes.`,
    recordsDetails
      ? "Each attempt keeps up to 16 KiB of its log, result, and stack. Set recordDetails to false to keep none."
      : "Log, result, and stack are not kept, because recordDetails is false.",
  ];
}
