import type { Outcome } from "../../payload/delivery.ts";
import type { EndpointRegistration } from "../endpoint/activity.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LaunchedServer, LaunchOptions } from "./launch-options.ts";

/**
 * The property through which the tools of this package (`dev`, `sync`, `register`, jobs) describe and control a server. The
 * symbol is registered (`Symbol.for`), because a tool and the user's project may use different copies of this package.
 */
export const serverControl: unique symbol = Symbol.for("hub-webhooks.serverControl");

/** The description of a registered endpoint. */
export interface EndpointDetails
  extends Pick<Endpoint, "name" | "watch" | "domains" | "repos" | "scopes" | "warnings"> {
  /** Whether the server stores deliveries and runs the handler later. */
  readonly background: boolean;
}

/** The endpoints and the secret of a server. */
export interface ServerDescription {
  /** The endpoints in the order of their registration. */
  readonly endpoints: readonly EndpointDetails[];
  /**
   * The first of the secrets that deliveries can use, or `undefined` if no secret is required. Reading this property
   * throws `OPTION_INVALID` if `WEBHOOK_SECRET` is empty.
   */
  readonly secret?: string | undefined;
}

/** A delivery that does not arrive over HTTP: it requires no secret, and no client waits for a response. */
export interface JobDelivery {
  /** The name of the endpoint. */
  endpoint: string;
  /** The payload as a JSON text. */
  body: string;
  /** The `Webhook-Id`. A missing ID, or an ID with unprintable characters, is replaced with a new ID. */
  id: string | undefined;
  /** Aborts the handler's signal. */
  signal: AbortSignal;
}

/** Describes and controls a server for the tools of this package. */
export interface ServerControl {
  /** Whether `secret: false` opens the server to everyone. */
  readonly isSecretDisabled: boolean;
  /** Describes the server. The secret is only read when it is accessed, because a job does not require a secret. */
  describe(): ServerDescription;
  /** Adds `secret` to the valid secrets (`add`), or makes it the only valid secret (`replace`). */
  useSecret(secret: string, mode: "add" | "replace"): void;
  /**
   * Sets the URL of the inbox, which overrides `INBOX_URL` and a URL in the options. An `Inbox` object in the options is kept,
   * with a warning. Call this method before the launch.
   */
  useInbox(url: string): void;
  /**
   * Sets the token with which a tool reads and controls the server through the API of its console. Call this method before the
   * launch. The server then logs no sign-in link.
   */
  useConsoleToken(token: string): void;
  /**
   * What the console shows and no inbox stores: inline deliveries, and the activity. A dev session hands it over to the next process
   * after a reload. Call `restore` before the launch.
   */
  readonly console: { takeSnapshot(): Promise<unknown>; restore(snapshot: unknown): Promise<void> };
  /** Limits the wait before each retry, in milliseconds, unless the handler requests a longer wait. */
  limitRetryWaits(maxMs: number): void;
  /** Sets whether webhooks on the Hub deliver to the endpoints, by endpoint. The landing page shows it. */
  setRegistrations(registrations: ReadonlyMap<string, EndpointRegistration>): void;
  /** Launches the server like `launch()`, but a failed launch always rejects, so that the tool can report the error. */
  launch(options: LaunchOptions): Promise<LaunchedServer>;
  /**
   * Runs an endpoint's handler once, also in the case of a background endpoint, and logs the outcome.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is invalid.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}

/** A `WebhooksServer` of any copy of this package. */
export interface ControllableServer {
  /** The names of the endpoints, in the order of their registration. */
  readonly endpointNames: readonly string[];
  readonly [serverControl]: ServerControl;
}

/** Whether a value is a `WebhooksServer` of any copy of this package. */
export function isControllableServer(value: unknown): value is ControllableServer {
  return (
    typeof value === "object" && value !== null && serverControl in value && typeof value[serverControl] === "object"
  );
}
