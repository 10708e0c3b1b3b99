import { minRedactedLength } from "../../core/log-redaction.ts";
import type { Logger } from "../../core/logger.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { SecretCheck } from "../security/secret-check.ts";
import type { ServerRedaction } from "../security/server-redaction.ts";

interface StartupReportOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  secretCheck: SecretCheck;
  redaction: Pick<ServerRedaction, "shortNames">;
  log: Logger;
}

/** Logs the settings that are probably mistakes, and whether the endpoints require a secret. Logs them only once. */
export class StartupReport {
  readonly #options: StartupReportOptions;
  /** The calls without a handler whose results have not been applied as decorators. */
  readonly #unapplied = new Set<{ readonly call: string }>();
  #logged = false;

  constructor(options: StartupReportOptions) {
    this.#options = options;
  }

  /**
   * Logs the report at the first call. An edge worker passes its `bindings` with each request. Without `announce`, only
   * mistakes are logged.
   */
  log(bindings?: unknown, { announce } = { announce: true }): void {
    if (this.#logged) return;
    this.#logged = true;
    const { endpoints, secretCheck, redaction, log } = this.#options;
    for (const endpoint of endpoints.values()) this.#logWarnings(endpoint);
    for (const { call } of this.#unapplied) this.#warnUnapplied(call);
    for (const warning of secretCheck.warnings(bindings)) log.warn(warning);
    if (redaction.shortNames.length > 0) {
      log.warn(
        { code: "SECRET_TOO_SHORT" },
        `Secrets with fewer than ${minRedactedLength} characters are not redacted in logs: ${redaction.shortNames.join(", ")}. Use longer secrets, such as the output of "openssl rand -hex 32".`,
      );
    }
    const problem = secretCheck.problem(bindings);
    if (problem) {
      log.error({ code: problem.code }, problem.message);
      return;
    }
    if (!announce) return;
    if (secretCheck.isSecretDisabled) {
      log.info("The endpoints are open to everyone, because { secret: false } is set.");
      return;
    }
    if (secretCheck.isSet(bindings)) {
      log.info("A webhook secret is set. Deliveries without the secret are refused.");
      return;
    }
    log.warn(
      "No webhook secret is set, so the endpoints are open to everyone. Set WEBHOOK_SECRET (in a Space: Settings, Variables and secrets) or pass { secret }, and set the same secret on the webhook.",
    );
  }

  /** Logs the warnings of an endpoint that is added after the report. */
  added(endpoint: Endpoint): void {
    if (this.#logged) this.#logWarnings(endpoint);
  }

  /**
   * Records a `webhook` call without a handler, whose result should be applied as a decorator. Logs a warning unless the
   * caller calls the returned function when the decorator is applied.
   */
  trackDecoratorCall(call: string): () => void {
    const expected = { call };
    this.#unapplied.add(expected);
    // Decorators are applied while their class is defined, before this microtask runs.
    if (this.#logged) queueMicrotask(() => this.#unapplied.has(expected) && this.#warnUnapplied(call));
    return () => void this.#unapplied.delete(expected);
  }

  #warnUnapplied(call: string): void {
    this.#options.log.warn(
      `${call} has no handler, so it registers no endpoint. Pass the handler as the last argument, or use the call as a decorator of a method.`,
    );
  }

  #logWarnings({ name, warnings }: Endpoint): void {
    for (const warning of warnings) this.#options.log.warn({ endpoint: name }, warning);
  }
}
