import type { Context } from "hono";
import { readEnvironment } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { answerError } from "./answer.ts";
import { readSpace } from "./runtime.ts";
import { SecretCheck } from "./secret.ts";

/** What an {@link OwnerCheck} is made from. */
export interface OwnerCheckOptions {
  /** The token that proves it; `undefined` leaves it to `DASHBOARD_TOKEN`, and an empty one is none. */
  token: string | undefined;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Where wrong tokens are logged. */
  refusals: Logger;
  /** Whether a public address is known to lead here, beside that of a Space and `PUBLIC_URL`. Default: none is. */
  isPublic?: () => boolean;
}

/** What the owner is about to be shown. */
export interface OwnersPage {
  /** Whether it is a page, which browsers alone ask for. Default `false`: any program may. */
  isForBrowsers?: boolean;
}

/**
 * Tells whether a request comes from the owner of the server, who alone may read payloads. With a token it is whoever
 * gives it as the password of HTTP Basic; without one, whoever sits at this machine.
 *
 * @example
 * ```ts
 * const owner = new OwnerCheck({ token: undefined, now: Date.now, refusals: logger });
 * app.get("/metrics", (context) => owner.refuse(context) ?? context.text(metrics()));
 * ```
 */
export class OwnerCheck {
  readonly #options: OwnerCheckOptions;
  #token: string | undefined;
  #check: SecretCheck | undefined;

  constructor(options: OwnerCheckOptions) {
    this.#options = options;
  }

  /** Whether a token is asked for. `bindings` are those that a worker runtime hands over with each request. */
  hasToken(bindings?: unknown): boolean {
    return this.#configuredToken(bindings) !== undefined;
  }

  /** Whether it is open to nobody: everybody comes from outside, and there is no token to tell the owner by. */
  isClosed(bindings?: unknown): boolean {
    return !this.hasToken(bindings) && this.#isPublic();
  }

  /**
   * The answer to whoever is not the owner (401, 403, or 429 once too many wrong tokens came); `undefined`: it is the
   * owner, or somebody in possession of the token.
   */
  refuse(context: Context, page: OwnersPage = {}): Response | undefined {
    const token = this.#configuredToken(context.env);
    if (token === undefined) {
      const isOwner = !this.#isPublic() && isAtThisMachine(context, page);
      return isOwner ? undefined : answerError(tokenNotSet());
    }
    const password = passwordOf(context.req.raw);
    if (password === undefined) return challenge("DASHBOARD_TOKEN_MISSING");
    try {
      this.#checkOf(token).check({ header: () => toHeader(password), url: "", bindings: undefined });
      return undefined;
    } catch (error) {
      const isLimited = WebhookError.isInstance(error) && error.code === "TOO_MANY_FAILURES";
      const refusal = isLimited ? answerError(tooManyFailures(error)) : challenge("DASHBOARD_TOKEN_INVALID");
      const fields = {
        path: context.req.path,
        code: isLimited ? error.code : "DASHBOARD_TOKEN_INVALID",
        status: refusal.status,
      };
      this.#options.refusals.warn(fields, "sign-in refused: That is not the token of the owner.");
      return refusal;
    }
  }

  /** Then those who come by that address cannot be told from those who sit here: a proxy need not leave a mark. */
  #isPublic(): boolean {
    return (
      readSpace() !== undefined || readEnvironment("PUBLIC_URL") !== undefined || (this.#options.isPublic?.() ?? false)
    );
  }

  #configuredToken(bindings: unknown): string | undefined {
    const bound = property(bindings, "DASHBOARD_TOKEN");
    const token = this.#options.token ?? (typeof bound === "string" ? bound : readEnvironment("DASHBOARD_TOKEN"));
    return token === "" ? undefined : token;
  }

  /** The token is compared, and guessing it limited, as it is done with the secret of a delivery. */
  #checkOf(token: string): SecretCheck {
    if (this.#check === undefined || this.#token !== token) {
      this.#token = token;
      this.#check = new SecretCheck({ secret: toHeader(token), secretInQuery: false, now: this.#options.now });
    }
    return this.#check;
  }
}

/** A header carries no more than ASCII, but a password may hold anything. */
function toHeader(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The password of HTTP Basic, in UTF-8 as the challenge asks for; `undefined` where none is sent. */
function passwordOf(request: Request): string | undefined {
  const credentials = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (credentials === undefined) return undefined;
  try {
    const text = utf8.decode(Uint8Array.from(atob(credentials), (character) => character.charCodeAt(0)));
    return text.slice(text.indexOf(":") + 1);
  } catch {
    // No base64, or no UTF-8: a password, but never the right one.
    return "";
  }
}

/**
 * Whether the request was sent on this machine, by somebody who meant this server. The address alone does not say it:
 * a name that a stranger owns may lead a browser here (DNS rebinding), and behind a proxy or a tunnel everybody comes
 * from here.
 */
function isAtThisMachine(context: Context, { isForBrowsers = false }: OwnersPage): boolean {
  const incoming = property(context.env, "incoming");
  const address = property(property(incoming, "socket"), "remoteAddress");
  if (typeof address !== "string" || !/^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i.test(address)) return false;
  // nginx adds no header unless told to. Up to 1.29.6 it speaks HTTP/1.0 to what stands behind it, which no browser does.
  if (property(incoming, "httpVersion") === "1.0") return false;
  const { headers } = context.req.raw;
  // Since then, and where it is set so, it speaks HTTP/1.1 without this header, which every browser sends.
  if (isForBrowsers && !/\bkeep-alive\b/i.test(headers.get("connection") ?? "")) return false;
  if (!/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.get("host") ?? "")) return false;
  return ![...headers.keys()].some((name) => /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/i.test(name));
}

/** Bindings are whatever a runtime hands over: Node's server a socket, a worker its settings. */
function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function challenge(code: "DASHBOARD_TOKEN_MISSING" | "DASHBOARD_TOKEN_INVALID"): Response {
  const message =
    code === "DASHBOARD_TOKEN_MISSING"
      ? "Sign in with the value of DASHBOARD_TOKEN as the password. The user name does not matter."
      : "Invalid password. Use the value of DASHBOARD_TOKEN. The user name does not matter.";
  const response = answerError(new WebhookError(message, { code, status: 401 }));
  response.headers.set("www-authenticate", 'Basic realm="hub-webhooks", charset="UTF-8"');
  return response;
}

function tokenNotSet(): WebhookError {
  return new WebhookError(
    "This is for the owner, who is known by a token, unless a browser asks on this machine and no public address (PUBLIC_URL) leads here: set DASHBOARD_TOKEN (in a Space: Settings, Variables and secrets), restart, and give it as the password.",
    { code: "OWNER_ONLY", status: 403 },
  );
}

function tooManyFailures({ retryAfterSeconds }: WebhookError): WebhookError {
  return new WebhookError("Too many wrong tokens: wait, and give what DASHBOARD_TOKEN holds as the password.", {
    code: "TOO_MANY_FAILURES",
    status: 429,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
