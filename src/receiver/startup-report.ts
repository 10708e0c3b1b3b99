import type { Logger } from "../core/logger.ts";
import { minRedactedLength } from "../core/redaction.ts";
import type { Endpoint } from "./endpoint.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import type { SecretCheck } from "./secret.ts";

/** What a {@link StartupReport} is made from. */
export interface StartupReportOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  secret: SecretCheck;
  redaction: Pick<KnownSecrets, "shortNames">;
  log: () => Logger;
}

/** Says, once, what there is to know before the first delivery: which settings look wrong, and whether it is open. */
export class StartupReport {
  readonly #options: StartupReportOptions;
  /** The calls without a handler whose result has not been applied as a decorator. */
  readonly #unapplied = new Set<{ readonly call: string }>();
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
    const { endpoints, secret, redaction, log } = this.#options;
    for (const endpoint of endpoints.values()) this.#logWarnings(endpoint);
    for (const { call } of this.#unapplied) this.#warnUnapplied(call);
    for (const warning of secret.warnings(bindings)) log().warn(warning);
    if (redaction.shortNames.length > 0) {
      log().warn(
        { code: "SECRET_TOO_SHORT" },
        `Too short to be redacted in logs (fewer than ${minRedactedLength} characters): ${redaction.shortNames.join(", ")}. Use a longer secret, such as the output of "openssl rand -hex 32".`,
      );
    }
    const problem = secret.problem(bindings);
    if (problem) {
      log().error({ code: problem.code }, problem.message);
      return;
    }
    if (!announce) return;
    if (secret.isOff) {
      log().info("The endpoints are open to everyone, as { secret: false } sets it.");
      return;
    }
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
    if (this.#told) this.#logWarnings(endpoint);
  }

  /**
   * Notes a call of `webhook` without a handler: a mistake, unless its result is applied as a decorator. Returns the
   * function to call then.
   */
  expectMethod(call: string): () => void {
    const expected = { call };
    this.#unapplied.add(expected);
    // A decorator is applied while its class is defined, which is over when the microtask runs.
    if (this.#told) queueMicrotask(() => this.#unapplied.has(expected) && this.#warnUnapplied(call));
    return () => void this.#unapplied.delete(expected);
  }

  #warnUnapplied(call: string): void {
    this.#options
      .log()
      .warn(
        `${call} has no handler and registers no endpoint. Pass the handler as the last argument, or write the call as a decorator above a method.`,
      );
  }

  #logWarnings({ name, warnings }: Endpoint): void {
    for (const warning of warnings) this.#options.log().warn({ endpoint: name }, warning);
  }
}
