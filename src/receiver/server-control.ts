import type { Outcome } from "../payload/delivery.ts";
import type { WatchedItem, WebhookDomain } from "../payload/watch.ts";

/**
 * The property by which the tools of this package (`dev`, `sync`, `register`, jobs) describe and control a server. A
 * registered symbol, so that the copies of this package in a tool and in a user's project share it.
 */
export const serverControl: unique symbol = Symbol.for("hub-webhooks.serverControl");

/** A registered endpoint, as a server reports it. */
export interface EndpointDetails {
  readonly name: string;
  /** The items that its webhook watches; empty: not declared. */
  readonly watch: readonly WatchedItem[];
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

/** The endpoints and the secret of a server. */
export interface ServerDescription {
  /** In the order of their registration. */
  readonly endpoints: readonly EndpointDetails[];
  /** The secret that deliveries must carry: the first of several. Reading it throws `OPTION_INVALID` if it is invalid. */
  readonly secret?: string | undefined;
}

/** A delivery that started a job: it needs no secret, and no client waits for an answer. */
export interface JobDelivery {
  /** Name of the endpoint. */
  endpoint: string;
  /** The payload as it was received. */
  body: string;
  /** The `Webhook-Id`. A missing or unprintable one is replaced. */
  id: string | undefined;
  /** Aborts the handler's signal. */
  signal: AbortSignal;
}

/** Describes and controls a server for the tools of this package. */
export interface ServerControl {
  /** Whether `secret: false` opens the server to everyone. */
  readonly isOpenOnPurpose: boolean;
  /** Describes the server. Reads the secret only when it is accessed: a job needs none. */
  describe(): ServerDescription;
  /** Requires this secret from now on: the only valid one with `isOnly`, else in addition to the configured ones. */
  useSecret(secret: string, options: { isOnly: boolean }): void;
  /** Overrides the URL of the inbox, in the options and in `INBOX_URL`. Call it before the launch. */
  useInbox(url: string): void;
  /** Limits the wait before each retry, in milliseconds, unless the handler requests a longer one. */
  limitRetryWaits(maxMs: number): void;
  /**
   * Runs an endpoint once and immediately, also a background endpoint, and logs the outcome.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is invalid.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}

/** A `WebhooksServer` of any copy of this package. */
export interface ControllableServer {
  /** Names of the endpoints, in the order of their registration. */
  readonly endpointNames: readonly string[];
  readonly [serverControl]: ServerControl;
}

/** Whether a value is a `WebhooksServer`, of any copy of this package. */
export function isControllableServer(value: unknown): value is ControllableServer {
  return (
    typeof value === "object" && value !== null && serverControl in value && typeof value[serverControl] === "object"
  );
}
