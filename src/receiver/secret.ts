import { readRawEnvironment } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/option-error.ts";
import type { DeliveryRequest } from "./delivery-request.ts";

/** Wrong secrets answered with 403 in one window, before 429 takes over. */
const failuresPerWindow = 100;
const windowMs = 60_000;

/** What a {@link SecretCheck} is made from. */
export interface SecretCheckOptions {
  /** One secret, or several that are all accepted; `false`: none is asked for; `undefined` leaves it to the environment. */
  secret: string | readonly string[] | false | undefined;
  /** Whether `?secret=` is looked at where the header is absent. */
  secretInQuery: boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Gets each secret that is asked for besides what is configured. */
  onSecret?: (secret: string) => void;
}

/**
 * Knows the secrets of a receiver and tells whether a request carries one. The Hub sends the secret as it is, in
 * `X-Webhook-Secret` (its documentation of webhooks); there is no signature.
 */
export class SecretCheck {
  readonly #options: SecretCheckOptions;
  /** What the option says; `undefined` leaves it to the environment. */
  readonly #given: readonly string[] | undefined;
  #secrets: readonly string[] | undefined;
  #problem: WebhookError | undefined;
  #workerSecret: string | undefined;
  #previousWorkerSecret: string | undefined;
  #failures = 0;
  #windowEndsAt = 0;

  /** @throws `OPTION_INVALID` when the option is empty, or anything but text: a mistake must not open the server. */
  constructor(options: SecretCheckOptions) {
    this.#options = options;
    this.#given = checkedOption(options.secret);
  }

  /** Whether the option opens the server on purpose. */
  get isOff(): boolean {
    return this.#options.secret === false && !this.isSet();
  }

  /**
   * Whether a delivery needs a secret, which it does too where the setting is unusable. `worker` are the bindings that a
   * worker runtime hands over with each request.
   */
  isSet(worker?: unknown): boolean {
    return this.#accepted(worker).length > 0 || this.#problem !== undefined;
  }

  /** The secret that is asked for; of several the first. @throws `OPTION_INVALID` as {@link assertUsable}. */
  get first(): string | undefined {
    this.assertUsable();
    return this.#accepted(undefined)[0];
  }

  /** Why no delivery is accepted: `WEBHOOK_SECRET` is set and empty (`OPTION_INVALID`). */
  problem(worker?: unknown): WebhookError | undefined {
    this.#accepted(worker);
    return this.#problem;
  }

  /** @throws the {@link problem}, where there is one. */
  assertUsable(): void {
    const problem = this.problem();
    if (problem) throw problem;
  }

  /** Asks for `secret` from now on: `isOnly` (the default) for no other, else it or one of those that are configured. */
  use(secret: string, { isOnly } = { isOnly: true }): void {
    this.#options.onSecret?.(secret);
    this.#secrets = isOnly ? [secret] : [secret, ...this.#accepted(undefined)];
    this.#problem = undefined;
  }

  /** Asks for what is configured again, and no longer for what {@link use} was given. */
  forget(): void {
    this.#secrets = undefined;
  }

  /**
   * Says, for each configured secret that can never arrive, why: HTTP trims spaces at the edges of a header and cannot
   * carry anything but printable ASCII, though the Hub's API takes 0x7F too.
   */
  warnings(worker?: unknown): string[] {
    return this.#accepted(worker).flatMap((secret, index) => {
      const which = index === 0 ? "The secret" : `Secret number ${index + 1}`;
      if (secret.trim() !== secret) {
        return `${which} begins or ends with white space, which HTTP cuts off: no delivery can carry it. Take the white space out, here and on the Hub.`;
      }
      if (!/^[ -~]*$/.test(secret)) {
        return `${which} holds a character that is not printable ASCII, which no HTTP header can carry. Choose another, here and on the Hub.`;
      }
      return [];
    });
  }

  /**
   * Lets a request with a valid secret pass, whatever came before; anybody does where no secret is set.
   *
   * @throws `SECRET_MISSING` (401), `SECRET_INVALID` (403), `TOO_MANY_FAILURES` (429); `OPTION_INVALID` (503) where
   * `WEBHOOK_SECRET` is set and empty.
   */
  check(request: Pick<DeliveryRequest, "header" | "url" | "bindings">): void {
    const accepted = this.#accepted(request.bindings);
    if (this.#problem) throw notConfigured(this.#problem);
    if (accepted.length === 0) return;
    const presented =
      request.header("x-webhook-secret") ??
      (this.#options.secretInQuery ? new URL(request.url).searchParams.get("secret") : null);
    if (presented === null) {
      throw new WebhookError("x-webhook-secret header not set.", { code: "SECRET_MISSING", status: 401 });
    }
    // No early exit: the time must not tell which of the secrets it was.
    let valid = false;
    for (const secret of accepted) valid = equalInConstantTime(presented, secret) || valid;
    if (!valid) throw this.#failure();
  }

  #failure(): WebhookError {
    const now = this.#options.now();
    // Also when the clock was set back: a window must not last for an hour.
    if (now >= this.#windowEndsAt || now < this.#windowEndsAt - windowMs) {
      this.#failures = 0;
      this.#windowEndsAt = now + windowMs;
    }
    this.#failures += 1;
    if (this.#failures <= failuresPerWindow) {
      return new WebhookError("Invalid webhook secret.", { code: "SECRET_INVALID", status: 403 });
    }
    return new WebhookError("Too many requests with an invalid webhook secret: wait, and send the right one.", {
      code: "TOO_MANY_FAILURES",
      status: 429,
      retryAfterSeconds: Math.max(1, Math.ceil((this.#windowEndsAt - now) / 1000)),
    });
  }

  #accepted(worker: unknown): readonly string[] {
    const current = binding(worker, "WEBHOOK_SECRET");
    const previous = binding(worker, "WEBHOOK_SECRET_PREVIOUS");
    if (this.#secrets === undefined || current !== this.#workerSecret || previous !== this.#previousWorkerSecret) {
      this.#workerSecret = current;
      this.#previousWorkerSecret = previous;
      this.#configure(worker);
    }
    return this.#secrets ?? [];
  }

  /** The option, else `WEBHOOK_SECRET` and, during a rotation, `WEBHOOK_SECRET_PREVIOUS`. */
  #configure(worker: unknown): void {
    this.#problem = undefined;
    this.#secrets = this.#given;
    if (this.#given) return;
    const [current, previous] = ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"].map(
      (name) => binding(worker, name) ?? readRawEnvironment(name),
    );
    // Most likely a secret that was lost on its way into the environment.
    if (current === "") this.#problem = variableEmpty();
    this.#secrets = [current, previous].filter((secret) => secret !== undefined).filter((secret) => secret !== "");
  }
}

/** @throws `OPTION_INVALID` */
function checkedOption(option: SecretCheckOptions["secret"]): readonly string[] | undefined {
  if (option === undefined) return undefined;
  if (option === false) return [];
  const secrets: readonly unknown[] = Array.isArray(option) ? option : [option];
  const wrong = secrets.findIndex((secret) => typeof secret !== "string" || secret === "");
  if (wrong === -1 && secrets.length > 0) return secrets.filter((secret) => typeof secret === "string");
  // Not the value: it may be part of a secret.
  const what = !Array.isArray(option)
    ? `is ${kindOf(option)}`
    : secrets.length === 0
      ? "is an empty list"
      : `has ${kindOf(secrets[wrong])} at position ${wrong}`;
  throw optionError(
    `Option "secret" ${what}. Give a text of one character or more, or a list of such. Leave the option out to read WEBHOOK_SECRET, or set it to false to accept deliveries without a secret.`,
  );
}

function kindOf(value: unknown): string {
  if (value === "") return "an empty text";
  return value === null || value === undefined ? String(value) : `of type ${typeof value}`;
}

function variableEmpty(): WebhookError {
  return optionError(
    "WEBHOOK_SECRET is set and empty. Set it to the secret of your webhooks, or unset it and pass { secret: false } to accept deliveries without a secret.",
  );
}

/** The sender only gets to know that the receiver is at fault. */
function notConfigured(cause: WebhookError): WebhookError {
  return new WebhookError("The receiver's webhook secret is not usable. Its log has the reason.", {
    code: cause.code,
    status: 503,
    retryable: true,
    retryAfterSeconds: 60,
    cause,
  });
}

function binding(worker: unknown, name: string): string | undefined {
  const value = typeof worker === "object" && worker !== null ? Reflect.get(worker, name) : undefined;
  return typeof value === "string" ? value : undefined;
}

/**
 * Compares without telling by its time how much of the secret was right: what it costs depends on the secret alone.
 * Written here because `node:crypto` is not everywhere, and a hash in between costs more than the validation of a
 * whole payload.
 */
function equalInConstantTime(presented: string, secret: string): boolean {
  if (presented.length === 0) return false;
  let difference = presented.length ^ secret.length;
  for (let index = 0; index < secret.length; index += 1) {
    difference |= presented.charCodeAt(index % presented.length) ^ secret.charCodeAt(index);
  }
  return difference === 0;
}
