import { minRedactedLength } from "../core/log-redaction.ts";
import type { Logger } from "../core/logger.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SecretCheck } from "./secret-check.ts";
import type { ServerRedaction } from "./server-redaction.ts";

interface StartupReportOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  secretCheck: SecretCheck;
  redaction: Pick<ServerRedaction, "shortNames">;
  log: () => Logger;
}

/** Logs, once, the settings that look like a mistake, and whether the endpoints need a secret. */
export class StartupReport {
  readonly #options: StartupReportOptions;
  /** The calls without a handler whose result has not been applied as a decorator. */
  readonly #unapplied = new Set<{ readonly call: string }>();
  #logged = false;

  constructor(options: StartupReportOptions) {
    this.#options = options;
  }

  /**
   * Logs the report, the first time it is called. `bindings` are those that a worker runtime passes with each request.
   * Without `announce`, only mistakes are logged.
   */
  log(bindings?: unknown, { announce } = { announce: true }): void {
    if (this.#logged) return;
    this.#logged = true;
    const { endpoints, secretCheck, redaction, log } = this.#options;
    for (const endpoint of endpoints.values()) this.#logWarnings(endpoint);
    for (const { call } of this.#unapplied) this.#warnUnapplied(call);
    for (const warning of secretCheck.warnings(bindings)) log().warn(warning);
    if (redaction.shortNames.length > 0) {
      log().warn(
        { code: "SECRET_TOO_SHORT" },
        `Too short to be redacted in logs (fewer than ${minRedactedLength} characters): ${redaction.shortNames.join(", ")}. Use a longer secret, such as the output of "openssl rand -hex 32".`,
      );
    }
    const problem = secretCheck.problem(bindings);
    if (problem) {
      log().error({ code: problem.code }, problem.message);
      return;
    }
    if (!announce) return;
    if (secretCheck.isOff) {
      log().info("The endpoints are open to everyone, because { secret: false } is set.");
      return;
    }
    if (secretCheck.isSet(bindings)) {
      log().info("A webhook secret is set. Deliveries without it are refused.");
      return;
    }
    log().warn(
      "No webhook secret is set: the endpoints are open to everyone. Set WEBHOOK_SECRET (in a Space: Settings, Variables and secrets) or pass { secret }, and set the same secret on the webhook.",
    );
  }

  /** Logs the warnings of an endpoint that is added after the report. */
  added(endpoint: Endpoint): void {
    if (this.#logged) this.#logWarnings(endpoint);
  }

  /**
   * Expects the result of a `webhook` call without a handler to be applied as a decorator: otherwise it is a mistake.
   * Returns the function to call then.
   */
  expectMethod(call: string): () => void {
    const expected = { call };
    this.#unapplied.add(expected);
    // Decorators are applied before the microtask runs: while their class is defined.
    if (this.#logged) queueMicrotask(() => this.#unapplied.has(expected) && this.#warnUnapplied(call));
    return () => void this.#unapplied.delete(expected);
  }

  #warnUnapplied(call: string): void {
    this.#options
      .log()
      .warn(
        `${call} has no handler, so it registers no endpoint. Pass the handler as the last argument, or write the call as a decorator above a method.`,
      );
  }

  #logWarnings({ name, warnings }: Endpoint): void {
    for (const warning of warnings) this.#options.log().warn({ endpoint: name }, warning);
  }
}
