/*
 * Replaces `delivery-history.ts` in bundles for edge workers and browsers (see the "browser" field of package.json), which have no
 * console. It would add 2 kB to a compressed bundle.
 */
import type { DeliveryHistory as FullHistory } from "./delivery-history.ts";

/** Records nothing. */
export class DeliveryHistory
  implements Pick<FullHistory, "changed" | "createRecorder" | "headersToStore" | "start" | "end">
{
  changed(): void {}
  createRecorder(): undefined {}
  headersToStore(): undefined {}
  start(): undefined {}
  end(): void {}
}
