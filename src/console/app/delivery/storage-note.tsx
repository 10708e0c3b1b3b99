import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { describeStorage } from "./describe-storage.ts";

/** The parts of a delivery that are stored, and how long. */
export function StorageNote({ details }: { details: DeliveryDetails }) {
  return (
    <footer class="storage-note quiet">
      {describeStorage(details).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </footer>
  );
}
