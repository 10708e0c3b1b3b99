import type { WebhookError } from "../core/errors.ts";
import type { WebhookPayload } from "./schema.ts";

/*
 * The types of a delivery, in the order in which a server creates them:
 *
 * 1. `DeliveryRequest` is an HTTP request. `JobDelivery` replaces it in jobs and in tests.
 * 2. `UnparsedDelivery` adds the ID, the endpoint, and the time to the body.
 * 3. `ParsedDelivery` contains the `Delivery` that the handler receives, and the result of the filter.
 * 4. If the endpoint runs in the background, the inbox stores an `IncomingDelivery`. For each attempt, it passes a
 *    `ClaimedDelivery`, which is parsed again. Lists contain a `StoredDelivery`.
 */

/** A webhook delivery to one endpoint, independent of its transport: HTTP, a job, or a test. */
export interface Delivery<Payload = WebhookPayload> {
  /**
   * The `Webhook-Id` header, which stays the same when the Hub retries or replays the delivery. Generated if the request has
   * no such header.
   */
  readonly id: string;
  /** The name of the endpoint. */
  readonly endpoint: string;
  /** The body exactly as the server received it. */
  readonly body: string;
  /** The parsed and validated body. */
  readonly payload: Payload;
  /** The time when the server first received the delivery. */
  readonly receivedAt: Date;
  /** The number of this attempt, starting at 1. */
  readonly attempt: number;
}

/** A delivery whose body is not parsed yet. */
export type UnparsedDelivery = Omit<Delivery, "payload">;

/** The result of running a handler on a delivery. */
export type Outcome =
  /** The handler returned `result`. */
  | { readonly status: "succeeded"; readonly result: unknown }
  /** The filter did not match, or a condition of the endpoint: `paths` or `ignoreSelf`. */
  | { readonly status: "ignored"; readonly reason: string }
  /** The handler failed. `retryAt` is set if the handler requested a retry at a certain time. */
  | { readonly status: "failed"; readonly error: WebhookError; readonly retryAt?: Date };
