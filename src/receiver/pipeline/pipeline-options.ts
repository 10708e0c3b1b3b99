import type { Logger } from "../../core/logger.ts";
import type { HubClient } from "../../hub/client.ts";
import type { IncomingDelivery } from "../../inbox/inbox.ts";
import type { Outcome } from "../../payload/delivery.ts";
import type { Activity } from "../endpoint/activity.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { ConditionCheck } from "../hub/condition-check.ts";
import type { DeliveryHistory } from "../recent/delivery-history.ts";
import type { SecretCheck } from "../security/secret-check.ts";

/** The settings of a server that its delivery pipeline uses, and the parts that the pipeline calls. */
export interface PipelineOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  secretCheck: SecretCheck;
  /** The maximum size of a body, in bytes. */
  bodyLimit: number;
  log: Logger;
  /** Logs refused requests, and limits the number of lines. */
  refusalLog: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Creates the ID of a delivery without a `Webhook-Id` header. */
  createId: () => string;
  /** Stores a delivery of a background endpoint. */
  store: (delivery: IncomingDelivery) => Promise<{ duplicate: boolean }>;
  /** Returns the Storage Bucket that stores the inbox, such as `me/inbox`, or `undefined` if there is none. */
  bucket: () => string | undefined;
  activity: Activity;
  /** Records deliveries for the console. */
  history: DeliveryHistory;
  /** Returns the server's Hub client for handlers. */
  hub: () => HubClient;
  /** Checks the conditions of endpoints before their handlers run. */
  conditionCheck: ConditionCheck;
  /** Removes secrets from an outcome that the inbox stores. */
  redactOutcome: (outcome: Outcome) => Outcome;
}
