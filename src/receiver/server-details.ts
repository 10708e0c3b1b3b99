import type { Outcome } from "../payload/delivery.ts";
import type { KnownWatched, WebhookDomain } from "../payload/watch.ts";

/** The method by which tools read a server. A registered symbol, so that two copies of this package share it. */
export const serverDetails: unique symbol = Symbol.for("hub-webhooks.serverDetails");

/** What a webhook for an endpoint needs. */
export interface EndpointDetails {
  readonly name: string;
  /** What its webhook watches; empty: not declared. */
  readonly watch: readonly KnownWatched[];
  /** The domains that its webhook subscribes to. */
  readonly domains: readonly WebhookDomain[];
  /** Its filter for repositories, as written. */
  readonly repos: readonly string[];
  /** Its filter for scopes; empty: all of them. */
  readonly scopes: readonly string[];
  readonly background: boolean;
  /** Options that look like a mistake. */
  readonly warnings: readonly string[];
}

/** A delivery that started a job: it needs no secret, and no client waits for an answer. */
export interface JobDelivery {
  /** Name of the endpoint. */
  endpoint: string;
  /** The payload as it arrived. */
  body: string;
  /** The `Webhook-Id`. A missing or unprintable one is replaced. */
  id: string | undefined;
  /** Aborts the handler's signal. */
  signal: AbortSignal;
}

/** What tools read and change on a server. */
export interface ServerDetails {
  /** In the order of their registration. */
  readonly endpoints: readonly EndpointDetails[];
  /** The secret that deliveries must carry: the first of several. */
  readonly secret: string | undefined;
  /** Whether `secret: false` opens the server to everyone. */
  readonly isOpenOnPurpose: boolean;
  /** Requires this secret from now on: the only valid one with `isOnly`, else in addition to the configured ones. */
  useSecret(secret: string, options: { isOnly: boolean }): void;
  /** Overrides the URL of the inbox, in the options and in `INBOX_URL`. Call it before the launch. */
  useInbox(url: string): void;
  /** Limits the wait before each retry, in milliseconds, unless the handler requests a longer one. */
  limitRetryWaits(maxMs: number): void;
  /**
   * Runs an endpoint once and at once, also a background endpoint, and logs the outcome.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is no level.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}

/** A `WebhooksServer`, also of another copy of this package. */
export interface DetailedServer {
  [serverDetails](): ServerDetails;
}

/** Whether a value is a `WebhooksServer`, of any copy of this package. */
export function isDetailedServer(value: unknown): value is DetailedServer {
  return (
    typeof value === "object" && value !== null && serverDetails in value && typeof value[serverDetails] === "function"
  );
}
