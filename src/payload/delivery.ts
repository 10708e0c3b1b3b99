import type { WebhookError } from "../core/errors.ts";
import type { WebhookPayload } from "./schema.ts";

/** One message of the Hub to one endpoint, free of how it came: over HTTP, as a job or out of a test. */
export interface Delivery<Payload = WebhookPayload> {
  /** The `Webhook-Id`, which the Hub keeps on retries and replays; made here when none came. */
  readonly id: string;
  /** Name of the endpoint it is for. */
  readonly endpoint: string;
  /** The body exactly as it arrived. */
  readonly body: string;
  /** The body, parsed and checked. */
  readonly payload: Payload;
  /** When it came in. */
  readonly receivedAt: Date;
  /** Counts from 1. */
  readonly attempt: number;
}

/** How the run of a handler on a delivery ended. */
export type Outcome =
  /** What the handler returned. */
  | { readonly status: "succeeded"; readonly result: unknown }
  /** Why the filter did not want it. */
  | { readonly status: "ignored"; readonly reason: string }
  /** What went wrong, and when it is tried again where the handler asked for a time. */
  | { readonly status: "failed"; readonly error: WebhookError; readonly retryAt?: Date };
