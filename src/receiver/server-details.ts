import type { Outcome } from "../payload/delivery.ts";
import type { KnownWatched, WebhookDomain } from "../payload/watch.ts";

/**
 * The name of the method by which tools ask a server what there is to know. Registered for the whole process, so that
 * two copies of this package understand each other.
 */
export const serverDetails: unique symbol = Symbol.for("hub-webhooks.serverDetails");

/** An endpoint, as far as a webhook for it has to know. */
export interface EndpointDetails {
  readonly name: string;
  /** What its webhook watches; empty: nobody has said. */
  readonly watch: readonly KnownWatched[];
  /** What its webhook is told of. */
  readonly domains: readonly WebhookDomain[];
  /** Its filter for repositories, as it was written. */
  readonly repos: readonly string[];
  /** Its filter for scopes; empty: all of them. */
  readonly scopes: readonly string[];
  readonly background: boolean;
  /** What looks like a slip in its options. */
  readonly warnings: readonly string[];
}

/** A delivery that came with a job: nobody has to be checked, and nobody waits for an answer. */
export interface JobDelivery {
  /** Name of the endpoint. */
  endpoint: string;
  /** The payload as it came. */
  body: string;
  /** The `Webhook-Id`; where there is none, or one that no log could show, one is made. */
  id: string | undefined;
  /** Aborts the handler's signal. */
  signal: AbortSignal;
}

/** What tools need of a server. */
export interface ServerDetails {
  /** In the order in which they were registered. */
  readonly endpoints: readonly EndpointDetails[];
  /** The secret that a delivery has to carry; of several the first. */
  readonly secret: string | undefined;
  /** Whether its options open it to everyone on purpose. */
  readonly isOpenOnPurpose: boolean;
  /** Asks for this secret from now on: `isOnly` for no other, else it or one of those that are configured. */
  useSecret(secret: string, options: { isOnly: boolean }): void;
  /**
   * Keeps the deliveries of background endpoints in the inbox of this URL, in place of `INBOX_URL` and of a URL in the
   * options. Call it before the server is launched.
   */
  useInbox(url: string): void;
  /** Lets no retry of a background endpoint wait for longer than this, in milliseconds, unless its handler asks to. */
  limitRetryWaits(maxMs: number): void;
  /**
   * Runs an endpoint, also one that works in the background, once and at once, and writes its log line.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is no level.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}

/** A server that tells its details: a `WebhooksServer`, also one of another copy of this package. */
export interface DetailedServer {
  [serverDetails](): ServerDetails;
}

/** Whether this is a server that tells its details. */
export function isDetailedServer(value: unknown): value is DetailedServer {
  return (
    typeof value === "object" && value !== null && serverDetails in value && typeof value[serverDetails] === "function"
  );
}
