import type { DeliverySummary } from "./deliveries.ts";
import type { DevInfo, LogLine } from "./dev.ts";
import type { ConsoleFeature } from "./session.ts";

/** A message of `GET /api/stream`, the Server-Sent Events of the console. */
export type StreamMessage =
  /** Deliveries that are new or have changed. */
  | { type: "deliveries"; deliveries: readonly DeliverySummary[] }
  /** The data of these features has changed; load it again if it is shown. */
  | { type: "changed"; features: readonly ConsoleFeature[] }
  | { type: "logs"; lines: readonly LogLine[] }
  | { type: "dev"; dev: DevInfo };
