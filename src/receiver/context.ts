import { readSpace } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import { createForwardingLogger, type Logger } from "../core/log.ts";
import type { EndpointDetails } from "./control.ts";
import { Activity, type EndpointRegistration } from "./counts.ts";
import type { Endpoint } from "./endpoint.ts";
import type { DeliveryHistory } from "./history.ts";
import {
  createReadyLogger,
  createRefusalLog,
  createServerLogger,
  type LoadNodeLogger,
  type RefusalLog,
  ServerRedaction,
} from "./logs.ts";
import type { LaunchedServer, LaunchOptions, WebhooksServerOptions } from "./options.ts";
import { createOwnerCheck, isPubliclyReachable, type OwnerCheck } from "./owner.ts";
import { SecretCheck } from "./request.ts";

/**
 * What all parts of a server share: its settings, its logs, and what is counted and kept in memory. A part that also calls other parts
 * receives those separately, so that each constructor shows what the part depends on.
 */
export class ServerContext {
  readonly options: WebhooksServerOptions;
  readonly now: () => number;
  readonly redaction: ServerRedaction;
  /** Forwards to the console, and after the start to pino. */
  readonly log: Logger = createForwardingLogger(() => this.#logger);
  /** Logs refused connections and requests, and limits the number of lines. */
  readonly refusalLog: RefusalLog;
  readonly endpoints: EndpointRegistry = new EndpointRegistry();
  readonly activity: Activity;
  /** The comparisons with the Hub since the start, by endpoint. `comparedAt`: the end of the last one, in milliseconds since the epoch. */
  readonly catchUps: Map<string, { derived: number; remaining: number; comparedAt?: number }> = new Map();
  readonly history: DeliveryHistory;
  readonly secretCheck: SecretCheck;
  readonly ownerCheck: OwnerCheck;
  launchOptions: LaunchOptions = {};
  /** The addresses of the server; `undefined` while it does not listen. */
  launched: LaunchedServer | undefined;
  /** Aborted when the server closes. Replaced when it starts again. */
  closing: AbortController = new AbortController();
  /** The token of a tool that shows this server in its own console. Overrides the owner's token. */
  toolToken: string | undefined;
  #logger: Logger;

  /** @throws `OPTION_INVALID` if a secret or token in the options cannot be used. */
  constructor(options: WebhooksServerOptions, History: typeof DeliveryHistory) {
    this.options = options;
    this.now = options.now ?? Date.now;
    this.redaction = new ServerRedaction(options);
    this.#logger = createServerLogger(options.logger, this.redaction);
    this.refusalLog = createRefusalLog(this.log, this.now);
    this.activity = new Activity(this.now);
    this.history = new History({
      recordDetails: options.recordDetails ?? true,
      now: this.now,
      redact: (text) => this.redaction.text(text),
    });
    this.secretCheck = new SecretCheck(options, this.now);
    this.ownerCheck = createOwnerCheck({
      token: options.consoleToken,
      now: this.now,
      refusalLog: this.refusalLog,
      isPublic: () => isPubliclyReachable(this.launchOptions),
    });
  }

  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /** Reads the secrets in the environment again, and opens the logger of a running server. @throws `OPTION_INVALID` for `LOG_LEVEL`. */
  async openLogger(load: LoadNodeLogger): Promise<void> {
    this.redaction.addEnvironment();
    if (!this.options.logger) this.#logger = await createReadyLogger(this.redaction, load);
  }
}

/** The endpoints of a server, in the order of their registration. */
export class EndpointRegistry {
  readonly #byName = new Map<string, Endpoint>();

  get byName(): ReadonlyMap<string, Endpoint> {
    return this.#byName;
  }

  get all(): readonly Endpoint[] {
    return [...this.#byName.values()];
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get backgroundEndpoints(): readonly Endpoint[] {
    return this.all.filter(({ queue }) => queue !== undefined);
  }

  describe(): readonly EndpointDetails[] {
    return this.all.map((endpoint) => {
      const { name, watch, domains, warnings, repos, scopes, actions, refs, paths, ignoreSelf, queue } = endpoint;
      const background = queue !== undefined;
      return { name, watch, domains, repos, scopes, actions, refs, paths, ignoreSelf, warnings, background };
    });
  }

  assertNew(name: string): void {
    if (!this.#byName.has(name)) return;
    throw new WebhookError(
      `An endpoint named "${name}" is already registered. Rename one of the endpoints. A class whose methods are endpoints can be instantiated only once.`,
      { code: "ENDPOINT_EXISTS" },
    );
  }

  add(endpoint: Endpoint): void {
    this.#byName.set(endpoint.name, endpoint);
  }

  setRegistrations(registrations: ReadonlyMap<string, EndpointRegistration>): void {
    for (const { name, activity } of this.all) activity.registration = registrations.get(name) ?? activity.registration;
  }

  /** Returns the endpoint with this name, or without a name the only one. @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`. */
  find(name: string | undefined): Endpoint {
    const { names } = this;
    if (name === undefined && names.length !== 1) {
      throw new WebhookError(
        `The server does not have exactly one endpoint. Choose an endpoint, as in receive(payload, { endpoint: "${names[0] ?? "retrain"}" }).`,
        { code: "ENDPOINT_REQUIRED" },
      );
    }
    const endpoint = this.#byName.get(name ?? names[0] ?? "");
    if (endpoint) return endpoint;
    throw endpointUnknown(name, names);
  }
}

export function endpointUnknown(name: string | undefined, names: readonly string[]): WebhookError {
  return new WebhookError(
    names.length === 0 || name === undefined
      ? "The server has no endpoints. Register a handler with server.webhook()."
      : `Unknown endpoint ${JSON.stringify(name)}. Valid endpoints: ${names.join(", ")}.`,
    { code: "ENDPOINT_UNKNOWN", status: 404 },
  );
}

/** Returns the public URL of a server, without a trailing slash. Empty if it is unknown. */
export function publicUrlOf({ launched }: Pick<ServerContext, "launched">): string {
  return launched?.publicUrl ?? readSpace()?.url ?? "";
}
