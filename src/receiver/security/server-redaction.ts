import { describeError } from "../../core/describe-error.ts";
import { readEnvironment } from "../../core/environment.ts";
import { WebhookError } from "../../core/errors.ts";
import { LogRedaction, minRedactedLength } from "../../core/log-redaction.ts";
import { secretsInUrl } from "../../core/urls.ts";
import type { Outcome } from "../../payload/delivery.ts";
import type { WebhooksServerOptions } from "../webhooks-server-options.ts";

/** Environment variables and bindings of edge workers that contain a secret. */
const secretNames = [
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_PREVIOUS",
  "CONSOLE_TOKEN",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
] as const;

/** Redacts the secrets of a server's options and environment in log lines and stored errors. */
export class ServerRedaction extends LogRedaction {
  #bindings: unknown;
  readonly #short = new Set<string>();

  constructor({
    secret,
    consoleToken,
    inbox,
    hub,
  }: Pick<WebhooksServerOptions, "secret" | "consoleToken" | "inbox" | "hub">) {
    super();
    for (const text of [secret].flat()) this.#addNamed("`secret`", text);
    this.#addNamed("`consoleToken`", consoleToken);
    this.#addPassword("the password in `inbox`", inbox);
    if (hub && "token" in hub) this.#addNamed("`hub.token`", hub.token);
    this.addEnvironment();
  }

  /** The names of the settings whose secrets are too short to be redacted. */
  get shortNames(): readonly string[] {
    return [...this.#short];
  }

  /** Adds the secrets in the current environment. */
  addEnvironment(): void {
    for (const name of secretNames) this.#addNamed(name, readEnvironment(name));
    this.#addPassword("the password in INBOX_URL", readEnvironment("INBOX_URL"));
  }

  /** Adds the secrets in the bindings that an edge worker passes with each request. */
  addBindings(bindings: unknown): void {
    if (typeof bindings !== "object" || bindings === null || bindings === this.#bindings) return;
    this.#bindings = bindings;
    for (const name of secretNames) this.#addNamed(name, Reflect.get(bindings, name));
  }

  /** Returns an outcome that an inbox can store: secrets in the messages of a failure and its cause are redacted. */
  outcome(outcome: Outcome): Outcome {
    if (outcome.status !== "failed") return outcome;
    const { code, status, retryable, retryAfterSeconds, message, cause } = outcome.error;
    const reason = cause === undefined ? undefined : describeError(cause).message;
    const redacted = { message: this.text(message), reason: reason && this.text(reason) };
    if (redacted.message === message && redacted.reason === reason) return outcome;
    const error = new WebhookError(redacted.message, {
      code,
      retryable,
      cause: redacted.reason,
      ...(status !== undefined && { status }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
    return { ...outcome, error };
  }

  #addPassword(name: string, url: unknown): void {
    if (typeof url === "string") for (const secret of secretsInUrl(url)) this.#addNamed(name, secret);
  }

  #addNamed(name: string, secret: unknown): void {
    if (typeof secret !== "string" || secret === "") return;
    if (secret.length < minRedactedLength) this.#short.add(name);
    this.add([secret]);
  }
}
