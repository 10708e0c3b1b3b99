import type { Logger } from "../logger.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SecretCheck } from "./secret.ts";

/** What a {@link StartupReport} is made from. */
export interface StartupReportOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  /** The calls that made a decorator which decorates nothing. */
  unapplied: ReadonlySet<{ readonly call: string }>;
  secret: SecretCheck;
  log: () => Logger;
}

/** Says, once, what there is to know before the first delivery: which settings look wrong, and whether it is open. */
export class StartupReport {
  readonly #options: StartupReportOptions;
  #told = false;

  constructor(options: StartupReportOptions) {
    this.#options = options;
  }

  /**
   * Says it, unless that was done before. `bindings` are those that a worker runtime hands over with each request;
   * without `announce`, only what looks like a mistake is told.
   */
  tell(bindings?: unknown, { announce } = { announce: true }): void {
    if (this.#told) return;
    this.#told = true;
    const { endpoints, unapplied, secret, log } = this.#options;
    for (const endpoint of endpoints.values()) this.#tellDoubts(endpoint);
    for (const { call } of unapplied) {
      log().warn(
        `${call} was given no handler and decorates nothing: it registers no endpoint. Give the handler as its last argument.`,
      );
    }
    for (const warning of secret.warnings(bindings)) log().warn(warning);
    if (!announce) return;
    if (secret.isSet(bindings)) {
      log().info("A webhook secret is set: only deliveries that carry it are accepted.");
      return;
    }
    log().warn(
      "No webhook secret is set: the endpoints are open to everyone. To close them, set WEBHOOK_SECRET (in a Space: Settings, Variables and secrets) or pass { secret }, and give the same secret to the webhook on the Hub.",
    );
  }

  /** Says of an endpoint that comes later what would have been said of it at the start. */
  added(endpoint: Endpoint): void {
    if (this.#told) this.#tellDoubts(endpoint);
  }

  #tellDoubts({ name, doubts }: Endpoint): void {
    for (const doubt of doubts) this.#options.log().warn({ endpoint: name }, doubt);
  }
}
