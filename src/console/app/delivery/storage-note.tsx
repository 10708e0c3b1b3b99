import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import { describeStorage } from "./describe-storage.ts";

/** What is stored of a delivery, and how long. */
export function StorageNote({ details }: { details: DeliveryDetails }) {
  return (
    <footer class="storage-note quiet">
      {describeStorage(details).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </footer>
  );
}
