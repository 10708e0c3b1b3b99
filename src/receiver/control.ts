import type { RunOptions } from "../catch-up/catch-up.ts";
import type { CatchUpReport } from "../catch-up/endpoint-run.ts";
import type { FilterValues } from "../payload/filter.ts";
import type { Outcome } from "../payload/parse.ts";
import type { EndpointRegistration } from "./counts.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LaunchedServer, LaunchOptions } from "./options.ts";

/**
 * Intercepts the launches of all servers in this process, which then do not listen. Tools that load a user's server file
 * (`dev`, `sync`, jobs) register an interceptor, because they need the server object and decide where the server listens.
 */
interface LaunchInterceptor {
  /** Runs instead of `server.launch()`. Its result is the result of `launch()`. */
  onLaunch(server: object): LaunchedServer;
  /** Runs when `webhookEndpoint` creates its shared server, which is then not launched at the end of the script. */
  onSharedServer(server: object): void;
}

/** A registered symbol, like `serverControl`. */
const interceptorKey = Symbol.for("hub-webhooks.launchInterceptor");

export function launchInterceptor(): LaunchInterceptor | undefined {
  const interceptor: unknown = Reflect.get(globalThis, interceptorKey);
  return isLaunchInterceptor(interceptor) ? interceptor : undefined;
}

/** Passes every launch in this process to `interceptor`. Returns a function that removes the interceptor. */
export function interceptLaunches(interceptor: LaunchInterceptor): () => void {
  Reflect.set(globalThis, interceptorKey, interceptor);
  return () => Reflect.deleteProperty(globalThis, interceptorKey);
}

function isLaunchInterceptor(value: unknown): value is LaunchInterceptor {
  return typeof value === "object" && value !== null && "onLaunch" in value && "onSharedServer" in value;
}

/** Enables Bun and `deno serve` to serve `server` if it is the default export of the main module. */
export function serveDefaultExport(server: object, fetch: unknown): void {
  Object.defineProperty(server, "fetch", { value: fetch, enumerable: true, configurable: true });
}

/**
 * Prevents Bun and `deno serve` from serving `server`, which listens itself after `launch()`: Bun would open port 3000, or fail with
 * EADDRINUSE if PORT is set. Both check the default export after the module has run, so `launch()` can opt out before its first
 * `await`. Deno only serves objects with an own `fetch` property, and Bun ignores objects with a `stop` method. The prototype of
 * `server` still has `fetch`.
 */
export function stopServingDefaultExport(server: { close(): Promise<void> }): void {
  Reflect.deleteProperty(server, "fetch");
  Object.defineProperty(server, "stop", { value: () => server.close(), configurable: true });
}

/**
 * The property through which the tools of this package (`dev`, `sync`, `register`, jobs) describe and control a server. The
 * symbol is registered (`Symbol.for`), because a tool and the user's project may use different copies of this package.
 */
export const serverControl: unique symbol = Symbol.for("hub-webhooks.serverControl");

export interface EndpointDetails
  extends Pick<Endpoint, keyof FilterValues | "name" | "watch" | "domains" | "ignoreSelf" | "warnings"> {
  readonly background: boolean;
}

/** The endpoints, in the order of their registration, and the secret of a server. */
export interface ServerDescription {
  readonly endpoints: readonly EndpointDetails[];
  /** The first valid secret, or `undefined` if none is required. Reading it throws `OPTION_INVALID` if `WEBHOOK_SECRET` is empty. */
  readonly secret?: string | undefined;
}

/** A delivery that does not arrive over HTTP: it requires no secret, and no client waits for a response. */
export interface JobDelivery {
  endpoint: string;
  body: string;
  /** The `Webhook-Id`. A missing ID, or one that is not 1 to 200 printable ASCII characters, is replaced. */
  id: string | undefined;
  signal: AbortSignal;
}

/** The options of a run that no schedule starts. */
export interface CommandRunOptions extends RunOptions {
  /** Called before the comparisons, when the inbox has started to run what is due. */
  onOpened?: () => Promise<void>;
}

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
  /** Sets the token of a tool for the API of the console. Call this method before the launch, which then logs no sign-in link. */
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
  /** Compares the Hub once with what each endpoint with `watch` received, and accepts what is missing. Returns reports by endpoint. */
  catchUp(options: CommandRunOptions): Promise<ReadonlyMap<string, CatchUpReport>>;
  /** Starts a comparison of each endpoint with `catchUp` soon, because its webhook was registered or enabled. */
  compareNow(): Promise<void>;
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
  readonly endpointNames: readonly string[];
  readonly [serverControl]: ServerControl;
}

/** Whether a value is a `WebhooksServer` of any copy of this package. */
export function isControllableServer(value: unknown): value is ControllableServer {
  return (
    typeof value === "object" && value !== null && serverControl in value && typeof value[serverControl] === "object"
  );
}
