import { createForwardingLogger, type Logger } from "../core/log.ts";
import { Activity } from "./counts.ts";
import { EndpointRegistry } from "./endpoint-registry.ts";
import type { DeliveryHistory } from "./history.ts";
import { createReadyLogger, createServerLogger, type LoadNodeLogger, RefusalLog, ServerRedaction } from "./logs.ts";
import type { LaunchedServer, LaunchOptions, WebhooksServerOptions } from "./options.ts";
import { isPubliclyReachable, OwnerCheck } from "./owner.ts";
import { SecretCheck } from "./secret.ts";

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
    this.refusalLog = new RefusalLog(this);
    this.activity = new Activity(this.now);
    this.history = new History({
      recordDetails: options.recordDetails ?? true,
      now: this.now,
      redact: (text) => this.redaction.text(text),
    });
    this.secretCheck = new SecretCheck({
      secret: options.secret,
      isSecretGiven: "secret" in options,
      secretInQuery: options.secretInQuery ?? false,
      now: this.now,
    });
    this.ownerCheck = new OwnerCheck({
      token: options.consoleToken,
      now: this.now,
      refusalLog: this.refusalLog,
      isPublic: () => isPubliclyReachable(this.launchOptions),
    });
  }

  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /**
   * Reads the secrets in the environment again, and replaces the console logger with the logger of a running server.
   *
   * @throws `OPTION_INVALID` when `LOG_LEVEL` is invalid.
   */
  async openLogger(load: LoadNodeLogger): Promise<void> {
    this.redaction.addEnvironment();
    if (!this.options.logger) this.#logger = await createReadyLogger(this.redaction, load);
  }
}
